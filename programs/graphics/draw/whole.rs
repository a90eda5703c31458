//! What moves whole areas: copies within the window, and windows within it.

use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt, CreateWindowAux, Rectangle, WindowClass};

use super::canvas::{Canvas, EDGE, cells};
use super::{Area, Drawing};
use crate::kit::Stop;

/// The edge of the square that every copy takes along, so that it can be seen.
const MARK: u16 = 10;

/// Copies a large part of the window right and down, as scrolling does. Before each, a mark in the turn's colour is
/// made in the upper left corner.
struct Blit<'a> {
    canvas: &'a Canvas<'a>,
    size: u16,
}

/// Copies of squares of this many pixels a side.
pub fn blit<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    Ok(Box::new(Blit { canvas, size }))
}

impl Drawing for Blit<'_> {
    fn draw(&mut self, turn: u64) -> Result<u64, Stop> {
        let Canvas { x, window, .. } = self.canvas;
        let context = self.canvas.context(turn);
        let mark = Rectangle { x: 0, y: 0, width: MARK, height: MARK };
        let by = (EDGE - self.size) as i16;
        x.conn.poly_fill_rectangle(*window, context, &[mark])?;
        x.conn.copy_area(*window, *window, context, 0, 0, by, by, self.size, self.size)?;
        Ok(1)
    }

    /// The copied mark alone.
    fn place(&self, _turn: u64) -> Area {
        let by = (EDGE - self.size) as i16;
        Area { x: by, y: by, width: MARK, height: MARK }
    }
}

/// Windows, one after the other: the one before is destroyed, the next is made, shown, and moved by a cell.
struct Windows<'a> {
    canvas: &'a Canvas<'a>,
    /// Two names, taken in turn, since the server can have a name back as soon as its window is gone.
    names: [u32; 2],
    cells: Vec<(i16, i16)>,
    size: u16,
}

/// Windows of this many pixels square.
pub fn windows<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    let names = [canvas.x.id()?, canvas.x.id()?];
    Ok(Box::new(Windows { canvas, names, cells: cells(size), size }))
}

impl Windows<'_> {
    fn name(&self, turn: u64) -> u32 {
        self.names[(turn % 2) as usize]
    }

    fn cell(&self, turn: u64) -> (i16, i16) {
        self.cells[(turn % self.cells.len() as u64) as usize]
    }
}

impl Drawing for Windows<'_> {
    fn draw(&mut self, turn: u64) -> Result<u64, Stop> {
        let Canvas { x, window, format, .. } = self.canvas;
        if turn > 0 {
            x.conn.destroy_window(self.name(turn - 1))?;
        }
        let (name, from, to) = (self.name(turn), self.cell(turn), self.cell(turn + 1));
        let (class, values) =
            (WindowClass::INPUT_OUTPUT, CreateWindowAux::new().background_pixel(format.pixel(Canvas::color(turn))));
        x.conn.create_window(0, name, *window, from.0, from.1, self.size, self.size, 0, class, 0, &values)?;
        x.conn.map_window(name)?;
        x.conn.configure_window(name, &ConfigureWindowAux::new().x(i32::from(to.0)).y(i32::from(to.1)))?;
        Ok(1)
    }

    fn place(&self, turn: u64) -> Area {
        let (x, y) = self.cell(turn + 1);
        Area { x, y, width: self.size, height: self.size }
    }

    /// Where the server thinks that the window is, and how many there are.
    fn answers(&self, _pixels: &[u32]) -> Result<Vec<(&'static str, f64)>, Stop> {
        let Canvas { x, window, .. } = self.canvas;
        let place = x.conn.get_geometry(self.name(0))?.reply()?;
        let children = x.conn.query_tree(*window)?.reply()?.children.len();
        Ok(vec![
            ("x", f64::from(place.x)),
            ("y", f64::from(place.y)),
            ("width", f64::from(place.width)),
            ("height", f64::from(place.height)),
            ("children", children as f64),
        ])
    }
}
