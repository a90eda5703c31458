//! Our own 2D tests: one kind of drawing each, into a window of 600 x 600 pixels.
//!
//! A piece of work is a batch of requests that ends with a round trip, so that it is done when it is counted. The
//! colour changes from request to request, so that nothing can be left out, and after the window the last one must be
//! there.

mod canvas;
mod figures;
mod render;
mod text;
mod whole;

use canvas::{Canvas, EDGE, GROUND};

use crate::kit::{Kit, SECOND, Stop, now};
use crate::x::{self, Area};

/// About how long a piece takes, in ns: long against the round trip at its end, short against a slice.
const PIECE: u64 = SECOND / 140;

/// All of the window.
const ALL: Area = Area { x: 0, y: 0, width: EDGE, height: EDGE };

/// What is drawn.
trait Drawing {
    /// Draws in the colour of that turn; returns what that was worth.
    ///
    /// # Errors
    /// There is no server any more.
    fn draw(&mut self, turn: u64) -> Result<u64, Stop>;

    /// A place that has what is drawn in that turn, and of its colour nothing else.
    fn place(&self, _turn: u64) -> Area {
        ALL
    }

    /// What else must be right of the first turn, `pixels` being all of the window.
    ///
    /// # Errors
    /// The server does not tell.
    fn answers(&self, _pixels: &[u32]) -> Result<Vec<(&'static str, f64)>, Stop> {
        Ok(Vec::new())
    }
}

/// Makes a drawing of that size ready.
type Make = for<'a> fn(&'a Canvas<'a>, u16) -> Result<Box<dyn Drawing + 'a>, Stop>;

/// What can be drawn, with the sizes that fit.
const KINDS: &[(&str, Make, std::ops::RangeInclusive<u64>)] = &[
    ("rects", figures::rects, 10..=250),
    ("lines", figures::lines, 10..=250),
    ("circles", figures::circles, 10..=250),
    ("ellipses", figures::ellipses, 10..=250),
    ("shapes", figures::shapes, 10..=250),
    ("aashapes", render::aashapes, 10..=250),
    ("polygons", figures::polygons, 10..=250),
    ("text", text::text, 1..=255),
    ("blit", whole::blit, 300..=500),
    ("windows", whole::windows, 10..=250),
];

pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let what = kit.text("what").unwrap_or_default();
    let Some((_, make, sizes)) = KINDS.iter().find(|kind| kind.0 == what) else {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.0).collect();
        return Err(Stop::Error(format!("what={what} is nothing to draw: try one of {}", names.join(", "))));
    };
    let size = kit.number("size", 100, sizes.clone())? as u16;
    let x = x::connect()?;
    kit.server(x.server());
    let canvas = Canvas::new(&x)?;
    let mut drawing = make(&canvas, size)?;
    prove(kit, &canvas, &mut *drawing)?;
    let mut turn = 1;
    let mut batch = |requests: u64| {
        let mut worth = 0;
        for _ in 0..requests {
            worth += drawing.draw(turn)?;
            turn += 1;
        }
        x.sync().map(|()| worth)
    };
    let requests = fitting(&mut batch)?;
    canvas.clear()?;
    kit.measure(|| batch(requests))?;
    // The last colour, where it was drawn: what was timed has really been done.
    let last = turn - 1;
    kit.check("drawn", count(&canvas.pixels(drawing.place(last))?, Canvas::color(last)));
    Ok(())
}

/// Draws the first turn onto a clear window, and looks at every pixel.
fn prove(kit: &mut Kit, canvas: &Canvas, drawing: &mut dyn Drawing) -> Result<(), Stop> {
    drawing.draw(0)?;
    canvas.x.sync()?;
    let pixels = canvas.pixels(ALL)?;
    kit.check("figure", count(&pixels, Canvas::color(0)));
    kit.check("ground", count(&pixels, GROUND));
    for (name, answer) in drawing.answers(&pixels)? {
        kit.check(name, answer);
    }
    Ok(())
}

fn count(pixels: &[u32], color: u32) -> f64 {
    pixels.iter().filter(|pixel| **pixel == color).count() as f64
}

/// How many requests take about as long as a piece should.
fn fitting(batch: &mut impl FnMut(u64) -> Result<u64, Stop>) -> Result<u64, Stop> {
    let mut requests = 1;
    loop {
        let start = now();
        batch(requests)?;
        let took = now() - start;
        if took >= PIECE / 2 {
            return Ok(share(requests, took));
        }
        requests *= 2;
    }
}

/// How many requests fit into a piece, where `requests` took so long.
fn share(requests: u64, took: u64) -> u64 {
    (requests as f64 * PIECE as f64 / took.max(1) as f64).round().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_a_length() {
        assert_eq!(share(64, PIECE), 64);
        assert_eq!(share(64, 2 * PIECE), 32);
        assert_eq!(share(1, 100 * PIECE), 1, "never none");
        // A server that takes 10 us for a request.
        let mut asked = Vec::new();
        let mut batch = |requests: u64| {
            asked.push(requests);
            let until = now() + requests * 10_000;
            while now() < until {}
            Ok(requests)
        };
        let fits = fitting(&mut batch).unwrap_or_default();
        assert!((1..=PIECE / 10_000 + 1).contains(&fits), "{fits}");
        assert!(asked.windows(2).all(|pair| pair[1] == 2 * pair[0]));
        assert!(matches!(fitting(&mut |_| Err(Stop::Error(String::new()))), Err(Stop::Error(_))));
    }

    #[test]
    fn pixels_are_counted_by_colour() {
        assert_eq!(count(&[GROUND, 7, 8, 7], 7), 2.0);
    }
}
