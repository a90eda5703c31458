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
    ChangeWindowAttributesAux, ColormapAlloc, ConnectionExt, CreateWindowAux, EventMask, Screen,
    Visibility, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::x11_utils::X11Error;

pub use about::facts;

use crate::kit::Stop;
use crate::server;

/// How long the server may take to answer at all, and to show a window.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// How often a connection that broke off is tried again, and after which time.
const MAX_TRIES: u32 = 10;
const TRY_INTERVAL: Duration = Duration::from_millis(50);

/// A connection to the X server that DISPLAY names.
pub struct X {
    pub conn: RustConnection,
    screen_number: usize,
    server: Option<Pid>,
}

/// A way in which windows show pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    visual: u32,
    /// Bits of a pixel that are shown.
    pub depth: u8,
}

impl From<ConnectionError> for Stop {
    fn from(error: ConnectionError) -> Stop {
        Stop::Error(match error {
            ConnectionError::IoError(error) => {
                format!(
                    "the X server went away in the middle: {error}: see its log, and start it again"
                )
            }
            error => format!("the connection to the X server failed: {error}: try a smaller size="),
        })
    }
}

impl From<ReplyError> for Stop {
    fn from(error: ReplyError) -> Stop {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => refused_by_server(&error),
        }
    }
}

impl From<ReplyOrIdError> for Stop {
    fn from(error: ReplyOrIdError) -> Stop {
        match error {
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => refused_by_server(&error),
            ReplyOrIdError::IdsExhausted => {
                Stop::Error("the X server has no names left: start it again".to_owned())
            }
        }
    }
}

fn refused_by_server(error: &X11Error) -> Stop {
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
        return Err(Stop::Skip(
            "there is no X display: set DISPLAY, or try --xvfb (package xvfb)".to_owned(),
        ));
    }

    let (sender, answer) = channel();
    let name = display.clone();
    // A server that hangs is waited for in a thread of its own, since the connection itself knows
    // no limit.
    std::thread::spawn(move || {
        // Nobody may wait any more.
        let _ = sender.send(connect_patiently(&name));
    });
    let why = match answer.recv_timeout(MAX_WAIT) {
        Ok(Ok((conn, screen_number))) => {
            let server = server::peer_process(conn.stream().as_fd());
            return Ok(X { conn, screen_number, server });
        }
        Ok(Err(error)) => failure(&error),
        Err(_) => format!("does not answer within {} s", MAX_WAIT.as_secs()),
    };
    Err(Stop::Skip(format!(
        "the X display {display} {why}: try another DISPLAY, or --xvfb (package xvfb)"
    )))
}

/// Connects, and again where that breaks off: a server whose last client has just gone resets
/// itself, and drops clients that come meanwhile, even after it has greeted them.
fn connect_patiently(display: &str) -> Result<(RustConnection, usize), ConnectError> {
    let mut tries = 0;
    loop {
        match greet(display) {
            Err(ConnectError::IoError(_) | ConnectError::Incomplete { .. })
                if tries < MAX_TRIES =>
            {
                tries += 1
            }
            other => return other,
        }
        std::thread::sleep(TRY_INTERVAL);
    }
}

/// Connects, and waits for the answer to a first request.
fn greet(display: &str) -> Result<(RustConnection, usize), ConnectError> {
    let (conn, screen_number) = RustConnection::connect(Some(display))?;
    let answer = conn.get_input_focus().map_err(ReplyError::from).and_then(|sent| sent.reply());
    match answer {
        Err(ReplyError::ConnectionError(ConnectionError::IoError(error))) => {
            Err(ConnectError::IoError(error))
        }
        _ => Ok((conn, screen_number)),
    }
}

/// What follows "the X display NAME".
fn failure(error: &ConnectError) -> String {
    match error {
        ConnectError::SetupFailed(setup) => refusal(&setup.reason),
        ConnectError::SetupAuthenticate(setup) => refusal(&setup.reason),
        ConnectError::InvalidScreen => "has no such screen".to_owned(),
        error => format!("does not answer ({error})"),
    }
}

fn refusal(reason: &[u8]) -> String {
    let reason = String::from_utf8_lossy(reason).trim().replace(char::is_control, " ");
    format!("refuses us ({reason})")
}

impl X {
    /// The server's process, if it is known.
    pub fn server(&self) -> Option<Pid> {
        self.server
    }

    /// The screen that DISPLAY names; the connection made sure that there is one.
    pub fn screen(&self) -> &Screen {
        &self.conn.setup().roots[self.screen_number]
    }

    pub fn screen_number(&self) -> usize {
        self.screen_number
    }

    /// The number of a new resource of the server's.
    ///
    /// # Errors
    /// There is none left, or no server.
    pub fn new_id(&self) -> Result<u32, Stop> {
        Ok(self.conn.generate_id()?)
    }

    /// Waits until the server has done all that it was asked for.
    ///
    /// # Errors
    /// It refused something of that, or something covers a window of ours.
    pub fn sync(&self) -> Result<(), Stop> {
        self.conn.get_input_focus()?.reply()?;
        while let Some(event) = self.conn.poll_for_event()? {
            check_event(&event)?;
        }
        Ok(())
    }

    /// How the screen's root shows pixels.
    pub fn root_look(&self) -> Look {
        Look { visual: self.screen().root_visual, depth: self.screen().root_depth }
    }

    /// How the visual of that number does, if the screen has it.
    pub fn look_of(&self, visual: u32) -> Option<Look> {
        for allowed in &self.screen().allowed_depths {
            if allowed.visuals.iter().any(|known| known.visual_id == visual) {
                return Some(Look { visual, depth: allowed.depth });
            }
        }
        None
    }

    /// Shows a window that no window manager touches, in the upper left corner, and waits until it
    /// can be drawn into.
    ///
    /// # Errors
    /// The screen is too small (a skip), or the server does not show it.
    pub fn show_window(
        &self,
        width: u16,
        height: u16,
        look: Look,
        background: u32,
    ) -> Result<u32, Stop> {
        let screen = self.screen();
        if screen.width_in_pixels < width || screen.height_in_pixels < height {
            return Err(Stop::Skip(format!(
                "the screen is {} x {} pixels, and the window {width} x {height}: try a larger one, or --xvfb (package xvfb)",
                screen.width_in_pixels, screen.height_in_pixels
            )));
        }

        let (window, colours) = (self.new_id()?, self.new_id()?);
        self.conn.create_colormap(ColormapAlloc::NONE, colours, screen.root, look.visual)?;

        // A border's colour must be given where the visual is not the root's.
        let values = CreateWindowAux::new()
            .background_pixel(background)
            .border_pixel(0)
            .override_redirect(1)
            .event_mask(EventMask::EXPOSURE | EventMask::VISIBILITY_CHANGE)
            .colormap(colours);
        let (depth, class, root) = (look.depth, WindowClass::INPUT_OUTPUT, screen.root);
        self.conn.create_window(
            depth,
            window,
            root,
            0,
            0,
            width,
            height,
            0,
            class,
            look.visual,
            &values,
        )?;
        self.conn.map_window(window)?;
        self.conn.flush()?;
        self.wait_until_exposed()?;

        let quiet = ChangeWindowAttributesAux::new().event_mask(EventMask::VISIBILITY_CHANGE);
        self.conn.change_window_attributes(window, &quiet)?;
        self.sync()?;
        Ok(window)
    }

    fn wait_until_exposed(&self) -> Result<(), Stop> {
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            match self.conn.poll_for_event()? {
                Some(Event::Expose(event)) if event.count == 0 => return Ok(()),
                Some(event) => check_event(&event)?,
                None => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Stop::Error(format!(
                            "the X server does not show a window within {} s: is the screen locked or off? try --xvfb",
                            MAX_WAIT.as_secs()
                        )));
                    }
                    let left =
                        Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos().max(1)) };
                    // Whatever it says, the loop looks again.
                    let _ =
                        poll(&mut [PollFd::new(self.conn.stream(), PollFlags::IN)], Some(&left));
                }
            }
        }
    }

    /// Whether the server has an extension, by its name in the protocol.
    ///
    /// # Errors
    /// There is no server any more.
    pub fn has_extension(&self, extension: &'static str) -> Result<bool, Stop> {
        Ok(self.conn.extension_information(extension)?.is_some())
    }
}

/// Errors come among the events; of other events only that a window is covered matters.
fn check_event(event: &Event) -> Result<(), Stop> {
    match event {
        Event::Error(error) => Err(refused_by_server(error)),
        Event::VisibilityNotify(event) if event.state != Visibility::UNOBSCURED => Err(Stop::Error(
            "another window covers the one that is drawn in: close it, or switch the screen saver off".to_owned(),
        )),
        _ => Ok(()),
    }
}
