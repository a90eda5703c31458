//! Pixels: the whole picture covered over and over, half transparent.

use crate::canvas::Canvas;
use crate::kit::{Kit, Stop};
use crate::picture::{Unit, prove};

pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let canvas = Canvas::open(kit, (1024, 1024))?;
    canvas.colours()?;
    let cover = canvas.cover()?;
    canvas.gl.blend();
    // A layer, and its reverse on top: the order, and that they are mixed, show.
    canvas.gl.draw(&cover, 2);
    prove(kit, &canvas.gl, &canvas.target, Unit::Sides)?;
    canvas.measure(kit, canvas.pixels(), |layers| canvas.gl.draw(&cover, layers))
}
