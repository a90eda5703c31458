//! The window that is drawn into, and the colours.

use x11rb::protocol::xproto::{ConnectionExt, CreateGCAux};

use super::ALL;
use crate::kit::Stop;
use crate::x::{Area, Format, X};

/// Width and height of the window.
pub const EDGE: u16 = 600;

/// What is there before anything is drawn.
pub const GROUND: u32 = 0x20_3040;

/// How many colours there are, in turn: enough that the last turn's is hardly there by chance.
pub const COLORS: usize = 61;

/// A window, shown and clear, with a graphics context for every colour: to change colours takes no request.
pub struct Canvas<'a> {
    pub x: &'a X,
    pub window: u32,
    pub format: Format,
    contexts: [u32; COLORS],
}

impl<'a> Canvas<'a> {
    /// Shows the window.
    ///
    /// # Errors
    /// The screen is not one that answers can be read from (a skip), or the server refuses.
    pub fn new(x: &'a X) -> Result<Canvas<'a>, Stop> {
        let format = x.format()?;
        let window = x.window(EDGE, EDGE, x.look(), format.pixel(GROUND))?;
        let mut contexts = [0; COLORS];
        for (turn, context) in (0..).zip(&mut contexts) {
            *context = x.id()?;
            let values = CreateGCAux::new()
                .foreground(format.pixel(Self::color(turn)))
                .background(format.pixel(Self::color(turn + 3)))
                .graphics_exposures(0);
            x.conn.create_gc(*context, window, &values)?;
        }
        let canvas = Canvas { x, window, format, contexts };
        canvas.clear()?;
        Ok(canvas)
    }

    /// Leaves nothing but the ground.
    ///
    /// # Errors
    /// The server refuses something.
    pub fn clear(&self) -> Result<(), Stop> {
        self.x.conn.clear_area(false, self.window, 0, 0, ALL.width, ALL.height)?;
        self.x.sync()
    }

    /// The graphics context of a turn.
    pub fn context(&self, turn: u64) -> u32 {
        self.contexts[Self::index(turn)]
    }

    /// Its colour, as 0xRRGGBB; its background is that of the third turn after it.
    pub fn color(turn: u64) -> u32 {
        match Self::index(turn) as u32 {
            0 => 0xff_ffff,
            index => (index * 0x04_31c7) & 0xff_ffff,
        }
    }

    /// Which of the colours it has.
    pub fn index(turn: u64) -> usize {
        (turn % COLORS as u64) as usize
    }

    /// Reads a part of the window back, as 0xRRGGBB.
    ///
    /// # Errors
    /// The server refuses.
    pub fn pixels(&self, area: Area) -> Result<Vec<u32>, Stop> {
        self.x.pixels(self.window, self.format, area)
    }
}

/// The largest number of `places` that is not a multiple of the number of colours: taken in turn, none meets its own
/// colour again.
pub fn unlike(places: u64) -> u64 {
    if places > 1 && places.is_multiple_of(COLORS as u64) { places - 1 } else { places }
}

/// Where the window has room for squares of that size, row by row, with a fifth of it between them: what is drawn
/// beside them is seen.
pub fn cells(size: u16) -> Vec<(i16, i16)> {
    let pitch = size + size / 5;
    let side = u64::from(EDGE / pitch);
    let at = |number: u64| (number as u16 * pitch) as i16;
    (0..unlike(side * side)).map(|number| (at(number % side), at(number / side))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_fill_the_window() {
        let all = cells(100);
        assert_eq!((all.len(), all[0], all[1], all[24]), (25, (0, 0), (120, 0), (480, 480)));
        for size in 10..=250 {
            let cells = cells(size);
            assert!(cells.len() > 1 && !cells.len().is_multiple_of(COLORS), "a size of {size}: {}", cells.len());
            let within = 0..=(EDGE - size) as i16;
            assert!(cells.iter().all(|(x, y)| within.contains(x) && within.contains(y)), "a size of {size}");
        }
    }

    #[test]
    fn colours_differ() {
        let mut colors: Vec<u32> = (0..COLORS as u64).map(Canvas::color).collect();
        colors.push(GROUND);
        colors.sort_unstable();
        assert!(colors.windows(2).all(|pair| pair[0] < pair[1]), "all differ, and from the ground");
        assert_eq!((Canvas::color(0), Canvas::color(COLORS as u64)), (0xff_ffff, 0xff_ffff));
    }
}
