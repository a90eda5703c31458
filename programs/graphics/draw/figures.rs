//! Figures of the core protocol: a whole window of them in one request, or one in each.

use x11rb::connection::RequestConnection;
use x11rb::errors::ConnectionError;
use x11rb::protocol::xproto::{Arc, ConnectionExt, CoordMode, Point, PolyShape, Rectangle, Segment};
use x11rb::rust_connection::RustConnection;

use super::canvas::{Canvas, cells};
use super::{Area, Drawing};
use crate::kit::Stop;

/// One turn round, in 64ths of a degree.
const ROUND: i16 = 360 * 64;

/// The sides of a polygon, and how many of its corners each of them leaps on.
const SIDES: usize = 10;
const LEAP: usize = 3;

/// Requests of many figures, all in one colour, that do not touch each other.
struct Many<'a, F> {
    canvas: &'a Canvas<'a>,
    figures: Vec<F>,
    request: fn(&RustConnection, u32, u32, &[F]) -> Result<(), ConnectionError>,
}

impl<F> Drawing for Many<'_, F> {
    fn draw(&mut self, turn: u64) -> Result<u64, Stop> {
        let Canvas { x, window, .. } = self.canvas;
        (self.request)(&x.conn, *window, self.canvas.context(turn), &self.figures)?;
        Ok(self.figures.len() as u64)
    }
}

fn many<'a, F: 'a>(
    canvas: &'a Canvas<'a>,
    size: u16,
    figure: impl Fn(usize, (i16, i16)) -> F,
    request: fn(&RustConnection, u32, u32, &[F]) -> Result<(), ConnectionError>,
) -> Result<Box<dyn Drawing + 'a>, Stop> {
    let figures: Vec<F> = cells(size).into_iter().enumerate().map(|(number, cell)| figure(number, cell)).collect();
    // Without big requests, a quarter of a megabyte is the most.
    let bytes = figures.len() * size_of::<F>() + 64;
    if bytes > canvas.x.conn.maximum_request_bytes() {
        return Err(Stop::Error(format!(
            "a request of {bytes} bytes is too long for the X server: try a larger size="
        )));
    }
    Ok(Box::new(Many { canvas, figures, request }))
}

/// Filled squares.
pub fn rects<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    let figure = |_, (x, y)| Rectangle { x, y, width: size, height: size };
    many(canvas, size, figure, |conn, window, context, figures| {
        conn.poly_fill_rectangle(window, context, figures).map(drop)
    })
}

/// Thin lines of this many pixels, in all directions.
pub fn lines<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    many(
        canvas,
        size,
        |number, cell| segment(number, cell, size),
        |conn, window, context, figures| conn.poly_segment(window, context, figures).map(drop),
    )
}

/// From one side of a cell to the one opposite, where along the sides differing from one to the next.
fn segment(number: usize, (x, y): (i16, i16), size: u16) -> Segment {
    let size = size as i16;
    let far = size - 1;
    let along = (number * 37 % usize::from(size.unsigned_abs())) as i16;
    if number.is_multiple_of(2) {
        Segment { x1: x, y1: y + along, x2: x + far, y2: y + far - along }
    } else {
        Segment { x1: x + along, y1: y, x2: x + far - along, y2: y + far }
    }
}

/// Filled circles.
pub fn circles<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    let figure = |_, (x, y)| Arc { x, y, width: size, height: size, angle1: 0, angle2: ROUND };
    many(canvas, size, figure, |conn, window, context, figures| conn.poly_fill_arc(window, context, figures).map(drop))
}

/// Thin outlines of ellipses, half as high as wide.
pub fn ellipses<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    let figure = |_, (x, y)| Arc { x, y, width: size - 1, height: size / 2 - 1, angle1: 0, angle2: ROUND };
    many(canvas, size, figure, |conn, window, context, figures| conn.poly_arc(window, context, figures).map(drop))
}

/// A filled polygon in each request, one for every cell in turn.
struct Polygons<'a> {
    canvas: &'a Canvas<'a>,
    shape: PolyShape,
    polygons: Vec<Vec<Point>>,
    cells: Vec<(i16, i16)>,
    size: u16,
}

impl Polygons<'_> {
    fn cell(&self, turn: u64) -> usize {
        (turn % self.cells.len() as u64) as usize
    }
}

impl Drawing for Polygons<'_> {
    fn draw(&mut self, turn: u64) -> Result<u64, Stop> {
        let Canvas { x, window, .. } = self.canvas;
        let (context, points) = (self.canvas.context(turn), &self.polygons[self.cell(turn)]);
        x.conn.fill_poly(*window, context, self.shape, CoordMode::ORIGIN, points)?;
        Ok(1)
    }

    fn place(&self, turn: u64) -> Area {
        let (x, y) = self.cells[self.cell(turn)];
        Area { x, y, width: self.size, height: self.size }
    }
}

fn one_each<'a>(canvas: &'a Canvas<'a>, size: u16, shape: PolyShape, points: &[Point]) -> Box<dyn Drawing + 'a> {
    let cells = cells(size);
    let moved = |(x, y): &(i16, i16)| points.iter().map(|point| Point { x: x + point.x, y: y + point.y }).collect();
    let polygons = cells.iter().map(moved).collect();
    Box::new(Polygons { canvas, shape, polygons, cells, size })
}

/// Filled triangles: the half of a square.
pub fn shapes<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    Ok(one_each(canvas, size, PolyShape::CONVEX, &triangle(size)))
}

fn triangle(size: u16) -> [Point; 3] {
    let size = size as i16;
    [Point { x: 0, y: 0 }, Point { x: size, y: 0 }, Point { x: 0, y: size }]
}

/// Filled stars, whose ten sides cross each other.
pub fn polygons<'a>(canvas: &'a Canvas<'a>, size: u16) -> Result<Box<dyn Drawing + 'a>, Stop> {
    Ok(one_each(canvas, size, PolyShape::COMPLEX, &star(size)))
}

fn star(size: u16) -> Vec<Point> {
    let middle = f64::from(size) / 2.0;
    let corner = |number: usize| {
        let angle = (number * LEAP) as f64 / SIDES as f64 * std::f64::consts::TAU;
        let along = |part: f64| (middle + (middle - 1.0) * part).round() as i16;
        Point { x: along(angle.sin()), y: along(-angle.cos()) }
    };
    (0..SIDES).map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels of a polygon as the protocol has it: those whose centre is inside by the even-odd rule, and of those
    /// on an edge the ones that have the inside right of them or, where the edge is level, below.
    fn filled(points: &[Point]) -> usize {
        let edges: Vec<_> = points.iter().zip(points.iter().cycle().skip(1)).collect();
        let inside = |x: i64, y: i64| {
            let left = edges.iter().filter(|(a, b)| {
                let (ax, ay, bx, by) = (i64::from(a.x), i64::from(a.y), i64::from(b.x), i64::from(b.y));
                // Where it crosses this row: ax + (y - ay) * (bx - ax) / (by - ay), at most x.
                let side = (y - ay) * (bx - ax) - (x - ax) * (by - ay);
                (ay <= y) != (by <= y) && if by > ay { side <= 0 } else { side >= 0 }
            });
            left.count() % 2 == 1
        };
        (-1..700).map(|y| (-1..700).filter(|x| inside(*x, y)).count()).sum()
    }

    #[test]
    fn polygons_have_so_many_pixels() {
        assert_eq!(filled(&triangle(100)), 5050);
        assert_eq!(
            filled(&[Point { x: 0, y: 0 }, Point { x: 9, y: 0 }, Point { x: 9, y: 4 }, Point { x: 0, y: 4 }]),
            36
        );
        assert_eq!(filled(&star(100)), 4810, "as the catalogue has it");
    }

    #[test]
    fn stars_stay_in_their_cells() {
        for size in [10, 11, 100, 300] {
            let points = star(size);
            assert_eq!(points.len(), SIDES);
            let within = 0..size as i16;
            assert!(points.iter().all(|point| within.contains(&point.x) && within.contains(&point.y)));
            assert!(points.windows(2).all(|pair| (pair[0].x, pair[0].y) != (pair[1].x, pair[1].y)));
        }
    }

    #[test]
    fn segments_are_of_one_length_and_stay_in_their_cells() {
        for number in 0..36 {
            let line = segment(number, (100, 200), 100);
            let steps = (line.x2 - line.x1).abs().max((line.y2 - line.y1).abs());
            assert_eq!(steps, 99, "a hundred pixels");
            for (x, y) in [(line.x1, line.y1), (line.x2, line.y2)] {
                assert!((100..200).contains(&x) && (200..300).contains(&y));
            }
        }
        assert_ne!(segment(2, (0, 0), 100).y1, segment(4, (0, 0), 100).y1);
    }

    #[test]
    fn a_circle_has_so_many_pixels() {
        // Those whose centre lies within a radius of 50 of the middle; on the path, those with the inside right of
        // them.
        let inside = |x: i32, y: i32| {
            let square = (x - 50).pow(2) + (y - 50).pow(2);
            square < 2500 || square == 2500 && (x < 50 || x == 50 && y < 50)
        };
        let pixels = (0..=100).map(|y| (0..=100).filter(|x| inside(*x, y)).count()).sum::<usize>();
        assert_eq!(pixels * 25, 195_875, "the middle of the range that the catalogue has");
    }
}
