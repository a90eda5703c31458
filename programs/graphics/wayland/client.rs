//! The connection to a compositor, and what it says.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};
use wayland_client::backend::WaylandError;
use wayland_client::protocol::{
    wl_buffer, wl_callback, wl_compositor, wl_output, wl_registry, wl_shm, wl_shm_pool, wl_surface,
};
use wayland_client::{Connection, Dispatch, DispatchError, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::wp::presentation_time::client::{wp_presentation, wp_presentation_feedback};
use wayland_protocols::xdg::shell::client::{xdg_surface, xdg_toplevel, xdg_wm_base};

use crate::kit::{Frame, SECOND, Stop, now};
use crate::server;

/// Pictures that a window draws in turn: one is shown, one is on its way, one is drawn.
pub const BUFFERS: usize = 3;

/// A compositor that has not answered in this many seconds never will.
const PATIENCE: u64 = 5;

/// What may be the matter where nothing is shown.
pub const HIDDEN: &str = "is the window hidden, or the screen locked?";

/// A request that is answered when all before it have been carried out.
pub struct Sync;

/// When a frame was committed, in ns.
pub struct Committed(pub u64);

/// A mode of a screen: pixels, and refreshes in a thousand seconds (0: not known).
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    pub width: i32,
    pub height: i32,
    pub refresh: i32,
}

/// What the compositor has said.
#[derive(Default)]
pub struct Heard {
    /// Name, interface and version of what it offers.
    globals: Vec<(u32, String, u32)>,
    synced: bool,
    closed: bool,
    pub configured: bool,
    /// The first screen's mode.
    mode: Option<Mode>,
    /// The clock of its times.
    clock: Option<u32>,
    /// ns from refresh to refresh, as told with the last frame; 0: not known.
    refresh: u64,
    /// Whether it asks for the next frame.
    pub asks: bool,
    /// Frames that were committed and not spoken of yet.
    pub pending: u64,
    pub shown: Vec<Frame>,
    /// Frames that were thrown away.
    pub discarded: u64,
    /// Frames that it told no comparable time of.
    pub guessed: u64,
    /// Buffers that may be drawn in, and how many times it gave one back.
    pub free: [bool; BUFFERS],
    pub released: u64,
}

/// A connection to the compositor.
pub struct Client {
    connection: Connection,
    queue: EventQueue<Heard>,
    registry: wl_registry::WlRegistry,
    pub heard: Heard,
}

impl Client {
    /// Connects as the environment says, and hears what there is.
    ///
    /// # Errors
    /// There is no display, or the compositor does not answer.
    pub fn connect() -> Result<Client, Stop> {
        let connection = Connection::connect_to_env().map_err(|_| {
            let place = std::env::var("WAYLAND_DISPLAY").map(|name| format!(" at {name}")).unwrap_or_default();
            Stop::Skip(format!(
                "there is no Wayland display{place}: set WAYLAND_DISPLAY, or start a compositor (package weston)"
            ))
        })?;
        let queue = connection.new_event_queue();
        let registry = connection.display().get_registry(&queue.handle(), ());
        let mut client = Client { connection, queue, registry, heard: Heard::default() };
        client.sync()?;
        Ok(client)
    }

    /// The compositor's process, or who began to listen in its place.
    pub fn peer(&self) -> Option<Pid> {
        server::peer(self.connection.backend().poll_fd())
    }

    /// Who makes objects hear.
    pub fn handle(&self) -> QueueHandle<Heard> {
        self.queue.handle()
    }

    /// One of the things the compositor offers, in a version of at most `most`; nothing where it does not.
    pub fn find<I>(&self, most: u32) -> Option<I>
    where
        I: Proxy + 'static,
        Heard: Dispatch<I, ()>,
    {
        let (name, _, version) = self.heard.globals.iter().find(|global| global.1 == I::interface().name)?;
        Some(self.registry.bind(*name, (*version).min(most), &self.handle(), ()))
    }

    /// The same for what there must be.
    ///
    /// # Errors
    /// The compositor does not have it.
    pub fn need<I>(&self, most: u32) -> Result<I, Stop>
    where
        I: Proxy + 'static,
        Heard: Dispatch<I, ()>,
    {
        let name = I::interface().name;
        self.find(most).ok_or_else(|| {
            Stop::Skip(format!(
                "the Wayland compositor has no {name}: try one that has, such as weston (package weston)"
            ))
        })
    }

    /// Returns the mode of the first screen, if there is one.
    ///
    /// # Errors
    /// The compositor does not answer.
    pub fn mode(&mut self) -> Result<Option<Mode>, Stop> {
        let output = self.find::<wl_output::WlOutput>(1);
        self.sync()?;
        Ok(output.and(self.heard.mode))
    }

    /// Waits until all that was asked for so far has been done.
    ///
    /// # Errors
    /// The compositor does not answer.
    pub fn sync(&mut self) -> Result<(), Stop> {
        self.heard.synced = false;
        self.connection.display().sync(&self.handle(), Sync);
        self.until("not answered", "is it stopped?", |heard| heard.synced)
    }

    /// Sends what was asked for.
    pub fn send(&self) {
        // An error is one of reading, too.
        let _ = self.queue.flush();
    }

    /// Waits until the compositor has said what `enough` looks for.
    ///
    /// # Errors
    /// It ended, closed the window, or has for too long `failed` to say it, which makes one `wonder`.
    pub fn until(&mut self, failed: &str, wonder: &str, enough: impl Fn(&Heard) -> bool) -> Result<(), Stop> {
        let end = now() + PATIENCE * SECOND;
        loop {
            self.queue.dispatch_pending(&mut self.heard).map_err(lost)?;
            if self.heard.closed {
                return Err(Stop::Error("the window was closed: leave it open until the run is over".to_owned()));
            }
            if enough(&self.heard) {
                return Ok(());
            }
            self.send();
            if !self.hear(end)? {
                return Err(Stop::Error(format!("the compositor has {failed} for {PATIENCE} s: {wonder}")));
            }
        }
    }

    /// Takes in what comes before `end`; returns whether anything might have.
    fn hear(&mut self, end: u64) -> Result<bool, Stop> {
        let Some(guard) = self.queue.prepare_read() else { return Ok(true) };
        let left = end.saturating_sub(now());
        let left = Timespec { tv_sec: (left / SECOND) as i64, tv_nsec: (left % SECOND) as _ };
        match poll(&mut [PollFd::from_borrowed_fd(guard.connection_fd(), PollFlags::IN)], Some(&left)) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(lost(WaylandError::Io(error.into()))),
        }
        match guard.read() {
            Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(true),
            Err(error) => Err(lost(error)),
            Ok(_) => Ok(true),
        }
    }
}

/// Says why the compositor cannot be heard any more.
fn lost(error: impl Into<DispatchError>) -> Stop {
    let why = match error.into() {
        DispatchError::Backend(WaylandError::Io(error)) => error.to_string(),
        DispatchError::Backend(WaylandError::Protocol(error)) => error.to_string(),
        error @ DispatchError::BadMessage { .. } => error.to_string(),
    };
    Stop::Error(format!("the connection to the Wayland compositor was lost: {why}: has it ended?"))
}

impl Heard {
    /// ns from refresh to refresh, as the compositor tells with frames, or of the screen's mode; nothing where it does
    /// neither.
    pub fn refresh(&self) -> Option<u64> {
        let mode = self.mode.and_then(|mode| u64::try_from(mode.refresh).ok()).filter(|refresh| *refresh > 0);
        Some(self.refresh).filter(|ns| *ns > 0).or(mode.map(|refresh| SECOND * 1000 / refresh))
    }

    /// A frame was on the screen at `shown`.
    fn show(&mut self, planned: u64, shown: u64) {
        // A compositor that reports the beginning of the refresh may mean one that had just begun.
        let shown = shown.max(planned);
        self.shown.push(Frame { planned, woke: shown, done: shown });
        self.pending -= self.pending.min(1);
    }

    /// What one of the compositor's times is on CLOCK_MONOTONIC; nothing where that cannot be said.
    fn monotonic(&self, time: u64) -> Option<u64> {
        let clock = self.clock?;
        if clock == ClockId::Monotonic as u32 {
            return Some(time);
        }
        // This one is not slewed: over the milliseconds since then, the two went apart by some ns.
        (clock == ClockId::MonotonicRaw as u32).then(|| {
            let raw = clock_gettime(ClockId::MonotonicRaw);
            let ago = (raw.tv_sec as u64 * SECOND + raw.tv_nsec as u64).saturating_sub(time);
            now().saturating_sub(ago)
        })
    }
}

/// What is done about an interface's events.
macro_rules! hears {
    ($interface:ty, $data:ty, |$heard:ident, $object:pat_param, $event:ident, $known:pat_param| $does:block) => {
        impl Dispatch<$interface, $data> for Heard {
            fn event(
                $heard: &mut Heard,
                $object: &$interface,
                $event: <$interface as Proxy>::Event,
                $known: &$data,
                _: &Connection,
                _: &QueueHandle<Heard>,
            ) $does
        }
    };
}

delegate_noop!(Heard: wl_compositor::WlCompositor);
delegate_noop!(Heard: wl_shm_pool::WlShmPool);
delegate_noop!(Heard: ignore wl_shm::WlShm);
delegate_noop!(Heard: ignore wl_surface::WlSurface);

hears!(wl_registry::WlRegistry, (), |heard, _, event, _| {
    if let wl_registry::Event::Global { name, interface, version } = event {
        heard.globals.push((name, interface, version));
    }
});

hears!(wl_callback::WlCallback, Sync, |heard, _, _event, _| {
    heard.synced = true;
});

hears!(wl_callback::WlCallback, Committed, |heard, _, _event, Committed(planned)| {
    heard.asks = true;
    if heard.clock.is_none() {
        // It will not tell of it otherwise.
        heard.show(*planned, now());
    }
});

hears!(wl_output::WlOutput, (), |heard, _, event, _| {
    if let wl_output::Event::Mode { flags: WEnum::Value(flags), width, height, refresh } = event
        && flags.contains(wl_output::Mode::Current)
    {
        heard.mode = Some(Mode { width, height, refresh });
    }
});

hears!(wl_buffer::WlBuffer, usize, |heard, _, event, number| {
    if let (wl_buffer::Event::Release, Some(free)) = (event, heard.free.get_mut(*number)) {
        *free = true;
        heard.released += 1;
    }
});

hears!(xdg_wm_base::XdgWmBase, (), |_heard, base, event, _| {
    if let xdg_wm_base::Event::Ping { serial } = event {
        base.pong(serial);
    }
});

hears!(xdg_surface::XdgSurface, (), |heard, surface, event, _| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        heard.configured = true;
    }
});

hears!(xdg_toplevel::XdgToplevel, (), |heard, _, event, _| {
    heard.closed |= matches!(event, xdg_toplevel::Event::Close);
});

hears!(wp_presentation::WpPresentation, (), |heard, _, event, _| {
    if let wp_presentation::Event::ClockId { clk_id } = event {
        heard.clock = Some(clk_id);
    }
});

hears!(wp_presentation_feedback::WpPresentationFeedback, Committed, |heard, _, event, Committed(planned)| {
    match event {
        wp_presentation_feedback::Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, .. } => {
            let seconds = u64::from(tv_sec_hi) << 32 | u64::from(tv_sec_lo);
            let time = heard.monotonic(seconds.saturating_mul(SECOND).saturating_add(u64::from(tv_nsec)));
            heard.guessed += u64::from(time.is_none());
            heard.refresh = u64::from(refresh);
            heard.show(*planned, time.unwrap_or_else(now));
        }
        wp_presentation_feedback::Event::Discarded => {
            heard.discarded += 1;
            heard.pending -= heard.pending.min(1);
        }
        _ => {}
    }
});
