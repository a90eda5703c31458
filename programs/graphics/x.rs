//! The X display: the connection, a window, and pixels read back.

mod about;

use std::os::fd::AsFd;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ColormapAlloc, ConnectionExt, CreateWindowAux, Depth, EventMask, ImageFormat,
    ImageOrder, Screen, Visibility, VisualClass, Visualtype, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::x11_utils::X11Error;

pub use about::facts;

use crate::kit::Stop;
use crate::server;

/// How long the server may take to answer at all, and to show a window.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a connection that broke off is tried again, and after which time.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// A connection to the X server that DISPLAY names.
pub struct X {
    pub conn: RustConnection,
    number: usize,
    server: Option<Pid>,
}

/// Where the red, the green and the blue of a pixel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format([u32; 3]);

/// A way in which windows show pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    visual: u32,
    /// Bits of a pixel that are shown.
    pub depth: u8,
}

/// A part of a window, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub x: i16,
    pub y: i16,
    pub width: u16,
    pub height: u16,
}

impl From<ConnectionError> for Stop {
    fn from(error: ConnectionError) -> Stop {
        Stop::Error(match error {
            ConnectionError::IoError(error) => {
                format!("the X server went away in the middle: {error}: see its log, and start it again")
            }
            error => format!("the connection to the X server failed: {error}: try a smaller size="),
        })
    }
}

impl From<ReplyError> for Stop {
    fn from(error: ReplyError) -> Stop {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => refused(&error),
        }
    }
}

impl From<ReplyOrIdError> for Stop {
    fn from(error: ReplyOrIdError) -> Stop {
        match error {
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => refused(&error),
            ReplyOrIdError::IdsExhausted => Stop::Error("the X server has no names left: start it again".to_owned()),
        }
    }
}

fn refused(error: &X11Error) -> Stop {
    let request = error.request_name.unwrap_or("a request");
    Stop::Error(format!(
        "the X server refuses {request}: {:?} error, value {:#x}: try another server, such as --xvfb",
        error.error_kind, error.bad_value
    ))
}

/// Connects to the display that DISPLAY names.
///
/// # Errors
/// There is none, or it does not answer or refuses us: a skip.
pub fn connect() -> Result<X, Stop> {
    let display = std::env::var("DISPLAY").unwrap_or_default();
    if display.is_empty() {
        return Err(Stop::Skip("there is no X display: set DISPLAY, or try --xvfb (package xvfb)".to_owned()));
    }
    let (sender, answer) = channel();
    let name = display.clone();
    // A server that hangs is waited for in a thread of its own, since the connection itself knows no limit.
    std::thread::spawn(move || {
        // Nobody may wait any more.
        let _ = sender.send(patiently(&name));
    });
    let why = match answer.recv_timeout(PATIENCE) {
        Ok(Ok((conn, number))) => {
            let server = server::peer(conn.stream().as_fd());
            return Ok(X { conn, number, server });
        }
        Ok(Err(error)) => reason(&error),
        Err(_) => format!("does not answer within {} s", PATIENCE.as_secs()),
    };
    Err(Stop::Skip(format!("the X display {display} {why}: try another DISPLAY, or --xvfb (package xvfb)")))
}

/// Connects, and again where that breaks off: a server whose last client has just gone resets itself, and drops clients
/// that come meanwhile, even after it has greeted them.
fn patiently(display: &str) -> Result<(RustConnection, usize), ConnectError> {
    let mut tries = 0;
    loop {
        match greet(display) {
            Err(ConnectError::IoError(_) | ConnectError::Incomplete { .. }) if tries < TRIES => tries += 1,
            other => return other,
        }
        std::thread::sleep(PAUSE);
    }
}

fn greet(display: &str) -> Result<(RustConnection, usize), ConnectError> {
    let (conn, number) = RustConnection::connect(Some(display))?;
    match conn.get_input_focus().map_err(ReplyError::from).and_then(|answer| answer.reply()) {
        Err(ReplyError::ConnectionError(ConnectionError::IoError(error))) => Err(ConnectError::IoError(error)),
        _ => Ok((conn, number)),
    }
}

fn reason(error: &ConnectError) -> String {
    let said = |reason: &[u8]| String::from_utf8_lossy(reason).trim().replace(char::is_control, " ");
    match error {
        ConnectError::SetupFailed(setup) => format!("refuses us ({})", said(&setup.reason)),
        ConnectError::SetupAuthenticate(setup) => format!("refuses us ({})", said(&setup.reason)),
        ConnectError::InvalidScreen => "has no such screen".to_owned(),
        error => format!("does not answer ({error})"),
    }
}

impl X {
    /// The server's process, if it is known.
    pub fn server(&self) -> Option<Pid> {
        self.server
    }

    /// The screen that DISPLAY names; the connection made sure that there is one.
    pub fn screen(&self) -> &Screen {
        &self.conn.setup().roots[self.number]
    }

    /// Its number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// A name for a new thing of the server's.
    ///
    /// # Errors
    /// There is none left, or no server.
    pub fn id(&self) -> Result<u32, Stop> {
        Ok(self.conn.generate_id()?)
    }

    /// Waits until the server has done all that it was asked for.
    ///
    /// # Errors
    /// It refused something of that, or something covers a window of ours.
    pub fn sync(&self) -> Result<(), Stop> {
        self.conn.get_input_focus()?.reply()?;
        while let Some(event) = self.conn.poll_for_event()? {
            heed(&event)?;
        }
        Ok(())
    }

    /// How the pixels of the root's visual are made.
    ///
    /// # Errors
    /// They are none of TrueColor in 32 bits: a skip.
    pub fn format(&self) -> Result<Format, Stop> {
        let screen = self.screen();
        let mut visuals = screen.allowed_depths.iter().flat_map(|depth| &depth.visuals);
        let visual = visuals.find(|visual| visual.visual_id == screen.root_visual);
        let depth = self.conn.setup().pixmap_formats.iter().find(|format| format.depth == screen.root_depth);
        match (visual.and_then(masks), depth) {
            (Some(format), Some(depth)) if [24, 32].contains(&depth.depth) && depth.bits_per_pixel == 32 => Ok(format),
            _ => Err(Stop::Skip(format!(
                "the screen has a depth of {}, and answers are read from TrueColor of depth 24 or 32: try another screen, \
                 or --xvfb (package xvfb)",
                screen.root_depth
            ))),
        }
    }

    /// How the screen's root shows pixels.
    pub fn look(&self) -> Look {
        Look { visual: self.screen().root_visual, depth: self.screen().root_depth }
    }

    /// How the visual of that number does, if the screen has it.
    pub fn look_of(&self, visual: u32) -> Option<Look> {
        let has = |depth: &&Depth| depth.visuals.iter().any(|known| known.visual_id == visual);
        self.screen().allowed_depths.iter().find(has).map(|depth| Look { visual, depth: depth.depth })
    }

    /// Shows a window that no window manager touches, in the upper left corner, and waits until it can be drawn into.
    ///
    /// # Errors
    /// The screen is too small (a skip), or the server does not show it.
    pub fn window(&self, width: u16, height: u16, look: Look, background: u32) -> Result<u32, Stop> {
        let screen = self.screen();
        if screen.width_in_pixels < width || screen.height_in_pixels < height {
            return Err(Stop::Skip(format!(
                "the screen is {} x {} pixels, and the window {width} x {height}: try a larger one, or --xvfb (package xvfb)",
                screen.width_in_pixels, screen.height_in_pixels
            )));
        }
        let (window, colours) = (self.id()?, self.id()?);
        self.conn.create_colormap(ColormapAlloc::NONE, colours, screen.root, look.visual)?;
        // A border's colour must be given where the visual is not the root's.
        let values = CreateWindowAux::new()
            .background_pixel(background)
            .border_pixel(0)
            .override_redirect(1)
            .event_mask(EventMask::EXPOSURE | EventMask::VISIBILITY_CHANGE)
            .colormap(colours);
        let (depth, class, root) = (look.depth, WindowClass::INPUT_OUTPUT, screen.root);
        self.conn.create_window(depth, window, root, 0, 0, width, height, 0, class, look.visual, &values)?;
        self.conn.map_window(window)?;
        self.conn.flush()?;
        self.exposed()?;
        let quiet = ChangeWindowAttributesAux::new().event_mask(EventMask::VISIBILITY_CHANGE);
        self.conn.change_window_attributes(window, &quiet)?;
        self.sync()?;
        Ok(window)
    }

    fn exposed(&self) -> Result<(), Stop> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.conn.poll_for_event()? {
                Some(Event::Expose(event)) if event.count == 0 => return Ok(()),
                Some(event) => heed(&event)?,
                None => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Stop::Error(format!(
                            "the X server does not show a window within {} s: is the screen locked or off? try --xvfb",
                            PATIENCE.as_secs()
                        )));
                    }
                    let left = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos().max(1)) };
                    // Whatever it says, the loop looks again.
                    let _ = poll(&mut [PollFd::new(self.conn.stream(), PollFlags::IN)], Some(&left));
                }
            }
        }
    }

    /// Reads pixels of a window back, row by row, as 0xRRGGBB.
    ///
    /// # Errors
    /// The server refuses.
    pub fn pixels(&self, window: u32, format: Format, area: Area) -> Result<Vec<u32>, Stop> {
        let Area { x, y, width, height } = area;
        let reply = self.conn.get_image(ImageFormat::Z_PIXMAP, window, x, y, width, height, u32::MAX)?.reply()?;
        let word = if self.conn.setup().image_byte_order == ImageOrder::LSB_FIRST {
            u32::from_le_bytes
        } else {
            u32::from_be_bytes
        };
        Ok(reply.data.as_chunks().0.iter().map(|bytes| format.rgb(word(*bytes))).collect())
    }

    /// Whether the server has an extension, by its name in the protocol.
    ///
    /// # Errors
    /// There is no server any more.
    pub fn has(&self, extension: &'static str) -> Result<bool, Stop> {
        Ok(self.conn.extension_information(extension)?.is_some())
    }
}

/// Errors come among the events; of other events only that a window is covered matters.
fn heed(event: &Event) -> Result<(), Stop> {
    match event {
        Event::Error(error) => Err(refused(error)),
        Event::VisibilityNotify(event) if event.state != Visibility::UNOBSCURED => Err(Stop::Error(
            "another window covers the one that is drawn in: close it, or switch the screen saver off".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn masks(visual: &Visualtype) -> Option<Format> {
    let masks = [visual.red_mask, visual.green_mask, visual.blue_mask];
    let bytes = masks.iter().all(|mask| mask.count_ones() == 8 && mask >> mask.trailing_zeros() == 0xff);
    (visual.class == VisualClass::TRUE_COLOR && bytes).then_some(Format(masks))
}

impl Format {
    /// The pixel of a colour 0xRRGGBB.
    pub fn pixel(self, rgb: u32) -> u32 {
        let [red, green, blue] = self.0.map(u32::trailing_zeros);
        (rgb >> 16 & 0xff) << red | (rgb >> 8 & 0xff) << green | (rgb & 0xff) << blue
    }

    /// The colour 0xRRGGBB of a pixel.
    pub fn rgb(self, pixel: u32) -> u32 {
        let [red, green, blue] = self.0.map(|mask| (pixel & mask) >> mask.trailing_zeros());
        red << 16 | green << 8 | blue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_and_colours() {
        let usual = Format([0xff_0000, 0xff00, 0xff]);
        assert_eq!((usual.pixel(0x12_3456), usual.rgb(0xff12_3456)), (0x12_3456, 0x12_3456));
        let turned = Format([0xff, 0xff00, 0xff_0000]);
        assert_eq!((turned.pixel(0x12_3456), turned.rgb(0x56_3412)), (0x56_3412, 0x12_3456));
        let high = Format([0xff00_0000, 0xff_0000, 0xff00]);
        assert_eq!(high.rgb(high.pixel(0x12_3456)), 0x12_3456);
    }

    #[test]
    fn only_true_colour_of_eight_bits() {
        let visual = |class, red_mask| Visualtype {
            class,
            red_mask,
            green_mask: 0xff00,
            blue_mask: 0xff,
            ..Visualtype::default()
        };
        assert!(masks(&visual(VisualClass::TRUE_COLOR, 0xff_0000)).is_some());
        assert!(masks(&visual(VisualClass::PSEUDO_COLOR, 0xff_0000)).is_none());
        assert!(masks(&visual(VisualClass::TRUE_COLOR, 0xf800)).is_none());
        assert!(masks(&visual(VisualClass::TRUE_COLOR, 0)).is_none());
    }
}
