//! A window of the X server, which EGL draws to over a connection of its own.

use rustix::net::sockopt::socket_peercred;
use rustix::process::Pid;
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{self, ConnectionExt, CreateWindowAux, EventMask, WindowClass};
use x11rb::rust_connection::RustConnection;

/// A connection, and the screen that `$DISPLAY` names.
pub struct Screen {
    connection: RustConnection,
    screen: xproto::Screen,
}

/// A way in which the screen shows pixels.
#[derive(Debug, Clone, Copy)]
pub struct Visual {
    id: u32,
    depth: u8,
    /// Whether it is as deep as the screen itself.
    pub as_root: bool,
}

impl Screen {
    /// Speaks to the X server.
    ///
    /// # Errors
    /// It does not answer, or refuses.
    pub fn connect() -> Result<Screen, String> {
        let (connection, number) =
            RustConnection::connect(None).map_err(|why| format!("the X server cannot be reached: {why}"))?;
        let screen = connection.setup().roots.get(number).cloned();
        Ok(Screen { connection, screen: screen.ok_or("the X server has no such screen")? })
    }

    /// The visual of that number, if the screen has it.
    pub fn visual(&self, id: u32) -> Option<Visual> {
        let of = |depth: &&xproto::Depth| depth.visuals.iter().any(|visual| visual.visual_id == id);
        let depth = self.screen.allowed_depths.iter().find(of)?.depth;
        Some(Visual { id, depth, as_root: depth == self.screen.root_depth })
    }

    /// Shows a window, of exactly that size because no window manager is asked, and returns its number.
    ///
    /// # Errors
    /// The X server refuses it.
    pub fn window(&self, visual: Visual, width: u32, height: u32) -> Result<u32, String> {
        self.show(visual, width, height).map_err(|why| format!("the X server shows no window: {why}"))
    }

    fn show(&self, visual: Visual, width: u32, height: u32) -> Result<u32, ReplyOrIdError> {
        let (server, root) = (&self.connection, self.screen.root);
        let (window, colours) = (server.generate_id()?, server.generate_id()?);
        server.create_colormap(xproto::ColormapAlloc::NONE, colours, root, visual.id)?.check()?;
        // A border's colour must be given where the visual is not the root's.
        let details = CreateWindowAux::new()
            .border_pixel(0)
            .override_redirect(1)
            .event_mask(EventMask::STRUCTURE_NOTIFY | EventMask::EXPOSURE)
            .colormap(colours);
        let (class, width, height) = (WindowClass::INPUT_OUTPUT, width as u16, height as u16);
        server
            .create_window(visual.depth, window, root, 0, 0, width, height, 0, class, visual.id, &details)?
            .check()?;
        server.map_window(window)?.check()?;
        while !matches!(server.wait_for_event()?, Event::MapNotify(_) | Event::Expose(_)) {}
        Ok(window)
    }

    /// The process at the other end, if it is on this machine.
    pub fn server(&self) -> Option<Pid> {
        socket_peercred(self.connection.stream()).ok().map(|peer| peer.pid)
    }
}
