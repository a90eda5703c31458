//! Lines of text in the server's own font.

use x11rb::errors::ReplyError;
use x11rb::protocol::xproto::{ChangeGCAux, ConnectionExt, FontDraw, QueryFontReply};

use super::canvas::{COLORS, Canvas, EDGE, GROUND, unlike};
use super::{Area, Drawing, count};
use crate::kit::Stop;

/// The font that every X server has had, usually as an alias of 6x13.
const FONT: &str = "fixed";

/// A line of text in each request, in turn in all rows.
struct Lines<'a> {
    canvas: &'a Canvas<'a>,
    text: Vec<u8>,
    /// How high the characters reach, how high a line is, and how wide the text.
    ascent: u16,
    height: u16,
    width: u16,
    rows: u64,
}

/// Lines of this many characters, with their background.
pub fn text<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    let x = canvas.x;
    let font = x.id()?;
    x.conn.open_font(font, FONT.as_bytes())?;
    let metrics = match x.conn.query_font(font)?.reply() {
        Ok(metrics) => metrics,
        Err(ReplyError::X11Error(_)) => {
            return Err(Stop::Skip(format!("the X server has no font '{FONT}': try package xfonts-base")));
        }
        Err(error) => return Err(error.into()),
    };
    let (ascent, height, width) = measures(&metrics, size)?;
    for turn in 0..COLORS as u64 {
        x.conn.change_gc(canvas.context(turn), &ChangeGCAux::new().font(font))?;
    }
    x.sync()?;
    let text = (0..size).map(|number| b'!' + (number % 94) as u8).collect();
    Ok(Box::new(Lines { canvas, text, ascent, height, width, rows: unlike(u64::from(EDGE / height)) }))
}

/// How high and wide a line of this many characters is.
fn measures(font: &QueryFontReply, size: u16) -> Result<(u16, u16, u16), Stop> {
    let each = font.max_bounds.character_width;
    let width = i32::from(each) * i32::from(size);
    let height = i32::from(font.font_ascent) + i32::from(font.font_descent);
    let fits = |length: i32| (1..=i32::from(EDGE)).contains(&length);
    if font.draw_direction != FontDraw::LEFT_TO_RIGHT || each != font.min_bounds.character_width || !fits(height) {
        return Err(Stop::Skip(format!(
            "the X server's font '{FONT}' is not one whose characters are all of one width: try package xfonts-base"
        )));
    }
    if !fits(width) {
        return Err(Stop::Error(format!(
            "{size} characters of {each} pixels do not fit into {EDGE}: try a smaller size="
        )));
    }
    Ok((font.font_ascent.unsigned_abs(), height as u16, width as u16))
}

impl Lines<'_> {
    /// The upper edge of a turn's row.
    fn top(&self, turn: u64) -> i16 {
        ((turn % self.rows) as u16 * self.height) as i16
    }
}

impl Drawing for Lines<'_> {
    fn draw(&mut self, turn: u64) -> Result<u64, Stop> {
        let Canvas { x, window, .. } = self.canvas;
        let base = self.top(turn) + self.ascent as i16;
        x.conn.image_text8(*window, self.canvas.context(turn), 0, base, &self.text)?;
        Ok(self.text.len() as u64)
    }

    fn place(&self, turn: u64) -> Area {
        Area { x: 0, y: self.top(turn), width: self.width, height: self.height }
    }

    /// The share of the line's box that is painted, which is all of it, and the pixels of neither of its colours.
    fn answers(&self, pixels: &[u32]) -> Result<Vec<(&'static str, f64)>, Stop> {
        let both = count(pixels, Canvas::color(0)) + count(pixels, Canvas::color(3));
        let whole = f64::from(self.width) * f64::from(self.height);
        Ok(vec![("box", both / whole), ("stray", pixels.len() as f64 - count(pixels, GROUND) - both)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn font(width: i16, narrow: i16) -> QueryFontReply {
        let mut font = QueryFontReply { font_ascent: 11, font_descent: 2, ..QueryFontReply::default() };
        font.max_bounds.character_width = width;
        font.min_bounds.character_width = narrow;
        font
    }

    #[test]
    fn lines_fit_or_are_refused() {
        assert_eq!(measures(&font(6, 6), 80).ok(), Some((11, 13, 480)));
        assert!(matches!(measures(&font(6, 6), 101), Err(Stop::Error(_))));
        assert!(matches!(measures(&font(6, 5), 80), Err(Stop::Skip(_))), "proportional");
        assert!(matches!(measures(&font(0, 0), 80), Err(Stop::Error(_))));
        let high = QueryFontReply { font_ascent: 700, ..font(6, 6) };
        assert!(matches!(measures(&high, 80), Err(Stop::Skip(_))));
    }
}
