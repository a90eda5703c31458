//! What a picture shows, in numbers: how much light of each colour there is, and where its middle lies.
//!
//! Renderers may differ in pixels at edges and in the last bit of a colour, which these numbers hardly notice; a
//! picture that is empty, turned, mirrored or lit from elsewhere has others.

use std::io::Write;

use crate::gl::{Gl, Target};
use crate::kit::{Kit, Stop};

/// What lengths are told in.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    /// Width and height of the picture.
    Sides,
    /// Its shorter side both ways, from a square in its middle.
    Square,
}

/// Reads a frame back, and reports it: `check` lines of its light, and a hash, which is the same for one renderer. With
/// `picture=PATH` it is written to a file in the format PPM.
///
/// # Errors
/// The file cannot be written, or the driver has seen an error.
pub fn prove(kit: &mut Kit, gl: &Gl, target: &Target, unit: Unit) -> Result<(), Stop> {
    let mut pixels = Vec::new();
    gl.read(target, &mut pixels);
    gl.errors("the known frame")?;
    if let Some(path) = kit.text("picture") {
        let written = std::fs::File::create(&path).and_then(|file| write(file, &pixels, target.width, target.height));
        written.map_err(|why| Stop::Error(format!("{path} cannot be written: {why}: try another picture=")))?;
    }
    for (channel, name) in ["red", "green", "blue"].into_iter().enumerate() {
        let [share, x, y] = light(&pixels, channel, (target.width, target.height), unit);
        kit.check(name, share);
        kit.check(&format!("{name}_x"), x);
        kit.check(&format!("{name}_y"), y);
    }
    kit.value("frame_hash", f64::from(hash(&pixels)), "FNV-1a");
    Ok(())
}

/// The light of a colour, where 1 is a unit's square full of it, and the middle of it, from the left and the top.
fn light(pixels: &[u8], channel: usize, (width, height): (u32, u32), unit: Unit) -> [f64; 3] {
    let (mut sum, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
    for (y, row) in (0..height).rev().zip(pixels.chunks_exact(width as usize * 4)) {
        for (x, pixel) in (0..width).zip(row.chunks_exact(4)) {
            let light = f64::from(pixel[channel]) / 255.0;
            sum += light;
            sum_x += light * (f64::from(x) + 0.5);
            sum_y += light * (f64::from(y) + 0.5);
        }
    }
    let (width, height) = (f64::from(width), f64::from(height));
    let (across, down) = match unit {
        Unit::Sides => (width, height),
        Unit::Square => (width.min(height), width.min(height)),
    };
    let middle = |sum_of: f64, side: f64, unit: f64| {
        if sum > 0.0 { (sum_of / sum - side / 2.0) / unit + 0.5 } else { 0.0 }
    };
    [sum / (across * down), middle(sum_x, width, across), middle(sum_y, height, down)]
        .map(|number| (number * 1e6).round() / 1e6)
}

/// FNV-1a of 32 bits.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Writes a binary PPM, whose rows begin at the top.
fn write(mut file: impl Write, pixels: &[u8], width: u32, height: u32) -> std::io::Result<()> {
    let rows = pixels.chunks_exact(width as usize * 4).rev();
    let colours: Vec<u8> = rows.flat_map(|row| row.chunks_exact(4).flat_map(|pixel| pixel[..3].to_vec())).collect();
    file.write_all(format!("P6\n{width} {height}\n255\n").as_bytes())?;
    file.write_all(&colours)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pixels above two: red at the top left, blue in both below.
    const FOUR: [u8; 16] = [0, 0, 255, 255, 0, 0, 255, 255, 255, 0, 0, 255, 0, 0, 0, 255];

    #[test]
    fn light_is_measured_from_the_top_left() {
        assert_eq!(light(&FOUR, 0, (2, 2), Unit::Sides), [0.25, 0.25, 0.25]);
        assert_eq!(light(&FOUR, 1, (2, 2), Unit::Sides), [0.0, 0.0, 0.0]);
        assert_eq!(light(&FOUR, 2, (2, 2), Unit::Sides), [0.5, 0.5, 0.75]);
        // As one row of four: two blue ones, a red one, a black one, of a height of one.
        assert_eq!(light(&FOUR, 2, (4, 1), Unit::Square), [2.0, -0.5, 0.5]);
    }

    #[test]
    fn pictures_are_written_from_the_top_and_hashed() {
        let mut file = Vec::new();
        write(&mut file, &FOUR, 2, 2).unwrap();
        assert_eq!(file, b"P6\n2 2\n255\n\xff\0\0\0\0\0\0\0\xff\0\0\xff");
        // FNV's own example.
        assert_eq!(hash(b"foobar"), 0xbf9c_f968);
    }
}
