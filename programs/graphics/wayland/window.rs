//! A window whose pictures lie in shared memory.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::protocol::{wl_buffer, wl_compositor, wl_shm, wl_surface};
use wayland_protocols::wp::presentation_time::client::wp_presentation;
use wayland_protocols::xdg::shell::client::xdg_wm_base;

use super::client::{BUFFERS, Client, Committed, HIDDEN, Heard};
use crate::kit::{Stop, now};

/// Bytes of a pixel.
const PIXEL: i32 = 4;

/// A window, and what is needed to draw in it.
pub struct Window {
    client: Client,
    surface: wl_surface::WlSurface,
    presentation: Option<wp_presentation::WpPresentation>,
    size: (i32, i32),
    /// The memory of all buffers, one after the other.
    memory: File,
    buffers: Vec<wl_buffer::WlBuffer>,
    picture: Vec<u8>,
}

impl Window {
    /// Opens a window of that many pixels; it appears with its first frame.
    ///
    /// # Errors
    /// There is no memory for it, or the compositor cannot show it.
    pub fn open(mut client: Client, size: (i32, i32)) -> Result<Window, Stop> {
        let handle = client.handle();
        let compositor: wl_compositor::WlCompositor = client.need(1)?;
        let shm: wl_shm::WlShm = client.need(1)?;
        let base: xdg_wm_base::XdgWmBase = client.need(1)?;
        let presentation = client.find(1);
        // The screen's mode and the clock come before the window does.
        client.mode()?;

        let (memory, bytes) = memory(size)?;
        // Three pictures of the largest size are 3 GiB, which the protocol cannot say.
        let whole = i32::try_from(bytes * BUFFERS).map_err(|_| no_memory(size, "the protocol ends at 2 GiB"))?;
        let pool = shm.create_pool(memory.as_fd(), whole, &handle, ());
        let (width, height) = size;
        let buffer = |number| {
            let offset = width * height * PIXEL * number as i32;
            pool.create_buffer(offset, width, height, width * PIXEL, wl_shm::Format::Xrgb8888, &handle, number)
        };
        let buffers = (0..BUFFERS).map(buffer).collect();
        client.heard.free = [true; BUFFERS];

        let surface = compositor.create_surface(&handle, ());
        let shell = base.get_xdg_surface(&surface, &handle, ());
        let toplevel = shell.get_toplevel(&handle, ());
        toplevel.set_title("unixmark".to_owned());
        toplevel.set_app_id("unixmark".to_owned());
        // Where windows are tiled, one of a fixed size is not.
        toplevel.set_min_size(width, height);
        toplevel.set_max_size(width, height);
        surface.commit();
        client.until("given the window no place", "is the screen locked?", |heard| heard.configured)?;
        Ok(Window { client, surface, presentation, size, memory, buffers, picture: vec![0; bytes] })
    }

    /// Whether the compositor tells when frames are shown.
    pub fn tells(&self) -> bool {
        self.presentation.is_some()
    }

    /// What the compositor has said.
    pub fn heard(&mut self) -> &mut Heard {
        &mut self.client.heard
    }

    /// Draws a frame, commits it, and waits until the compositor asks for the next one; returns 1.
    ///
    /// # Errors
    /// The compositor ended, or shows nothing.
    pub fn frame(&mut self) -> Result<u64, Stop> {
        self.client.until("given no buffer back", HIDDEN, |heard| heard.free.contains(&true))?;
        let number = self.client.heard.free.iter().position(|free| *free).unwrap_or(0);
        self.paint(number)?;

        let (handle, committed) = (self.client.handle(), now());
        self.surface.attach(self.buffers.get(number), 0, 0);
        self.surface.damage(0, 0, self.size.0, self.size.1);
        self.surface.frame(&handle, Committed(committed));
        if let Some(presentation) = &self.presentation {
            presentation.feedback(&self.surface, &handle, Committed(committed));
        }
        self.surface.commit();
        self.client.send();
        let heard = &mut self.client.heard;
        heard.free[number] = false;
        heard.asks = false;
        heard.pending += 1;
        self.client.until("presented no frame", HIDDEN, |heard| heard.asks)?;
        Ok(1)
    }

    /// Waits until all frames were shown or thrown away.
    ///
    /// # Errors
    /// The compositor ended, or does not tell.
    pub fn settle(&mut self) -> Result<(), Stop> {
        self.client.until("presented no frame", HIDDEN, |heard| heard.pending == 0)
    }

    /// Gives every pixel of a buffer the next grey. They are copied there, since mapped memory takes `unsafe`.
    fn paint(&mut self, number: usize) -> Result<(), Stop> {
        let grey = self.picture.first().map_or(0, |grey| grey.wrapping_add(1));
        self.picture.fill(grey);
        let offset = (self.picture.len() * number) as u64;
        self.memory.write_all_at(&self.picture, offset).map_err(|error| no_memory(self.size, &error.to_string()))
    }
}

/// Shared memory for all buffers, and the bytes of one.
fn memory(size: (i32, i32)) -> Result<(File, usize), Stop> {
    let why = |error: std::io::Error| no_memory(size, &error.to_string());
    let bytes = size.0 as usize * size.1 as usize * PIXEL as usize;
    let memory = File::from(memfd_create("unixmark", MemfdFlags::CLOEXEC).map_err(|error| why(error.into()))?);
    memory.set_len((bytes * BUFFERS) as u64).map_err(why)?;
    Ok((memory, bytes))
}

fn no_memory((width, height): (i32, i32), why: &str) -> Stop {
    Stop::Error(format!(
        "there is no shared memory for {BUFFERS} pictures of {width}x{height}: {why}: try a smaller size="
    ))
}
