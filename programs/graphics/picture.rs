//! What a picture shows, in numbers: how much light of each colour there is, and where its middle
//! lies.
//!
//! Renderers may differ in pixels at edges and in the last bit of a colour, which these numbers
//! hardly notice; a picture that is empty, turned, mirrored or lit from elsewhere has others.

use std::io::Write;

use crate::gl::{Gl, Target};
use crate::kit::{Kit, Stop};

/// The unit of lengths.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    /// Width and height of the picture.
    Sides,
    /// Its shorter side both ways, from a square in its middle.
    Square,
}

/// Reads a frame back, and reports it: `check` lines of its light, and a hash, which is the same
/// for one renderer. With `picture=PATH` it is written to a file in the format PPM.
///
/// # Errors
/// The file cannot be written, or the driver has seen an error.
pub fn prove_frame(kit: &mut Kit, gl: &Gl, target: &Target, unit: Unit) -> Result<(), Stop> {
    let mut pixels = Vec::new();
    gl.read(target, &mut pixels);
    gl.check_errors("the known frame")?;

    if let Some(path) = kit.argument("picture") {
        let written = std::fs::File::create(&path)
            .and_then(|file| write_ppm(file, &pixels, target.width, target.height));
        written.map_err(|why| {
            Stop::Error(format!("{path} cannot be written: {why}: try another picture="))
        })?;
    }

    for (channel, name) in ["red", "green", "blue"].into_iter().enumerate() {
        let light = Light::of_channel(&pixels, channel, (target.width, target.height), unit);
        kit.report_check(name, light.amount);
        kit.report_check(&format!("{name}_x"), light.x);
        kit.report_check(&format!("{name}_y"), light.y);
    }
    kit.report_value("frame_hash", f64::from(fnv1a_hash(&pixels)), "FNV-1a");
    Ok(())
}

/// The light of one colour. Lengths are in units from the left and the top.
#[derive(Debug, PartialEq)]
struct Light {
    /// 1 is a square of one unit full of it.
    amount: f64,
    /// Its middle; 0 where there is none.
    x: f64,
    y: f64,
}

impl Light {
    /// Sums the light of every fourth byte of `pixels`, from `channel` on. Rows begin at the
    /// bottom.
    fn of_channel(pixels: &[u8], channel: usize, (width, height): (u32, u32), unit: Unit) -> Light {
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
        let (unit_x, unit_y) = match unit {
            Unit::Sides => (width, height),
            Unit::Square => (width.min(height), width.min(height)),
        };
        let amount = round_to_millionths(sum / (unit_x * unit_y));
        if sum == 0.0 {
            return Light { amount, x: 0.0, y: 0.0 };
        }
        let x = (sum_x / sum - width / 2.0) / unit_x + 0.5;
        let y = (sum_y / sum - height / 2.0) / unit_y + 0.5;
        Light { amount, x: round_to_millionths(x), y: round_to_millionths(y) }
    }
}

fn round_to_millionths(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// FNV-1a of 32 bits.
fn fnv1a_hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Writes a binary PPM, whose rows begin at the top.
fn write_ppm(mut file: impl Write, pixels: &[u8], width: u32, height: u32) -> std::io::Result<()> {
    let mut colours = Vec::with_capacity(pixels.len() / 4 * 3);
    for row in pixels.chunks_exact(width as usize * 4).rev() {
        for pixel in row.chunks_exact(4) {
            colours.extend(&pixel[..3]);
        }
    }

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
        assert_eq!(
            Light::of_channel(&FOUR, 0, (2, 2), Unit::Sides),
            Light { amount: 0.25, x: 0.25, y: 0.25 }
        );
        assert_eq!(
            Light::of_channel(&FOUR, 1, (2, 2), Unit::Sides),
            Light { amount: 0.0, x: 0.0, y: 0.0 }
        );
        assert_eq!(
            Light::of_channel(&FOUR, 2, (2, 2), Unit::Sides),
            Light { amount: 0.5, x: 0.5, y: 0.75 }
        );
        // As one row of four: two blue ones, a red one, a black one, of a height of one.
        assert_eq!(
            Light::of_channel(&FOUR, 2, (4, 1), Unit::Square),
            Light { amount: 2.0, x: -0.5, y: 0.5 }
        );
    }

    #[test]
    fn pictures_are_written_from_the_top_and_hashed() {
        let mut file = Vec::new();
        write_ppm(&mut file, &FOUR, 2, 2).unwrap();
        assert_eq!(file, b"P6\n2 2\n255\n\xff\0\0\0\0\0\0\0\xff\0\0\xff");
        // FNV's own example.
        assert_eq!(fnv1a_hash(b"foobar"), 0xbf9c_f968);
    }
}
