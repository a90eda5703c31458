//! Bytes: a picture is read out of the driver's memory.

use crate::canvas::Canvas;
use crate::kit::{Kit, Stop};
use crate::picture::{Unit, prove};

pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let canvas = Canvas::open(kit, (1920, 1080))?;
    canvas.colours()?;
    canvas.gl.draw(&canvas.cover()?, 1);
    prove(kit, &canvas.gl, &canvas.target, Unit::Sides)?;
    let (mut first, mut pixels) = (Vec::new(), Vec::new());
    canvas.gl.read(&canvas.target, &mut first);
    kit.measure(|| {
        canvas.gl.read(&canvas.target, &mut pixels);
        Ok(pixels.len() as u64)
    })?;
    kit.check("same", f64::from(u8::from(first == pixels)));
    canvas.gl.errors("what was measured")
}
