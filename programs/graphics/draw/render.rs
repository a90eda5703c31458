//! Antialiased shapes, through the Render extension.

use x11rb::protocol::render::{
    self, Color, ConnectionExt, CreatePictureAux, Linefix, PictOp, PictType, Pictforminfo, Pointfix,
    QueryPictFormatsReply, Trapezoid,
};

use super::canvas::{COLORS, Canvas, GROUND, cells};
use super::{Area, Drawing};
use crate::kit::Stop;

/// One trapezoid in each request, one for every cell in turn.
struct Trapezoids<'a> {
    canvas: &'a Canvas<'a>,
    window: u32,
    colors: Vec<u32>,
    mask: u32,
    cells: Vec<(i16, i16)>,
    size: u16,
}

/// Antialiased trapezoids, which rise from the whole width of a cell to a fifth of it.
pub fn aashapes<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    let x = canvas.x;
    let missing = |what: &str| Stop::Skip(format!("the X server has no {what}: try another, or --xvfb (package xvfb)"));
    if !x.has(render::X11_EXTENSION_NAME)? {
        return Err(missing("Render extension"));
    }
    let version = x.conn.render_query_version(0, 11)?.reply()?;
    if (version.major_version, version.minor_version) < (0, 10) {
        return Err(missing("Render extension of version 0.10"));
    }
    let formats = x.conn.render_query_pict_formats()?.reply()?;
    let visual = x.screen().root_visual;
    let shown = of_visual(&formats, visual).ok_or_else(|| missing("format in which Render draws into windows"))?;
    let mask = formats.formats.iter().find(|format| is_mask(format)).ok_or_else(|| missing("masks of 8 bits"))?.id;
    let window = x.id()?;
    x.conn.render_create_picture(window, canvas.window, shown, &CreatePictureAux::new())?;
    let mut colors = Vec::new();
    for turn in 0..COLORS as u64 {
        let picture = x.id()?;
        x.conn.render_create_solid_fill(picture, solid(Canvas::color(turn)))?;
        colors.push(picture);
    }
    x.sync()?;
    Ok(Box::new(Trapezoids { canvas, window, colors, mask, cells: cells(size), size }))
}

fn of_visual(formats: &QueryPictFormatsReply, visual: u32) -> Option<u32> {
    let mut visuals = formats.screens.iter().flat_map(|screen| &screen.depths).flat_map(|depth| &depth.visuals);
    visuals.find(|known| known.visual == visual).map(|known| known.format)
}

fn is_mask(format: &Pictforminfo) -> bool {
    let direct = &format.direct;
    let colors = direct.red_mask | direct.green_mask | direct.blue_mask;
    format.type_ == PictType::DIRECT && format.depth == 8 && direct.alpha_mask == 0xff && colors == 0
}

/// A colour 0xRRGGBB in 16 bits each.
fn solid(color: u32) -> Color {
    let part = |shift: u32| (color >> shift & 0xff) as u16 * 0x101;
    Color { red: part(16), green: part(8), blue: part(0), alpha: u16::MAX }
}

/// The trapezoid of a cell, in 65536ths of a pixel.
fn trapezoid((x, y): (i16, i16), size: u16) -> Trapezoid {
    let at = |start: i16, tenths: i32| (i32::from(start) << 16) + (i32::from(size) << 16) / 10 * tenths;
    let (top, bottom) = (i32::from(y) << 16, (i32::from(y) + i32::from(size)) << 16);
    let line = |upper: i32, lower: i32| Linefix {
        p1: Pointfix { x: at(x, upper), y: top },
        p2: Pointfix { x: at(x, lower), y: bottom },
    };
    Trapezoid { top, bottom, left: line(4, 0), right: line(6, 10) }
}

impl Trapezoids<'_> {
    fn cell(&self, turn: u64) -> (i16, i16) {
        self.cells[(turn % self.cells.len() as u64) as usize]
    }
}

impl Drawing for Trapezoids<'_> {
    fn draw(&mut self, turn: u64) -> Result<u64, Stop> {
        let shape = [trapezoid(self.cell(turn), self.size)];
        let color = self.colors[Canvas::index(turn)];
        self.canvas.x.conn.render_trapezoids(PictOp::OVER, color, self.window, self.mask, 0, 0, &shape)?;
        Ok(1)
    }

    fn place(&self, turn: u64) -> Area {
        let (x, y) = self.cell(turn);
        Area { x, y, width: self.size, height: self.size }
    }

    /// The area that the pixels cover, those of the edges by their shares.
    fn answers(&self, pixels: &[u32]) -> Result<Vec<(&'static str, f64)>, Stop> {
        Ok(vec![("area", pixels.iter().map(|pixel| coverage(*pixel)).sum::<f64>().round())])
    }
}

/// How much of a pixel has the first colour, by its green.
fn coverage(pixel: u32) -> f64 {
    let green = |color: u32| f64::from(color >> 8 & 0xff);
    (green(pixel) - green(GROUND)) / (green(Canvas::color(0)) - green(GROUND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_covered_in_part() {
        assert_eq!((coverage(GROUND), coverage(Canvas::color(0))), (0.0, 1.0));
        assert!((coverage(0x90_9890) - 0.5).abs() < 0.01);
    }

    #[test]
    fn a_trapezoid_stays_in_its_cell() {
        let shape = trapezoid((100, 200), 100);
        assert_eq!((shape.top >> 16, shape.bottom >> 16), (200, 300));
        assert_eq!((shape.left.p2.x >> 16, (shape.right.p2.x + 0xffff) >> 16), (100, 200));
        assert_eq!(((shape.left.p1.x + 0x8000) >> 16, (shape.right.p1.x + 0x8000) >> 16), (140, 160));
    }

    #[test]
    fn colours_have_sixteen_bits() {
        let color = solid(0xff_8000);
        assert_eq!([color.red, color.green, color.blue, color.alpha], [0xffff, 0x8080, 0, 0xffff]);
    }
}
