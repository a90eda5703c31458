//! Textures: each pixel is the mean of eight samples; each mixes eight texels of two levels.

use crate::canvas::Canvas;
use crate::kit::{Kit, Stop};
use crate::picture::{Unit, prove};

/// Texels along each side.
const SIDE: u32 = 1024;

/// Looks per pixel: enough that they, and not the mixing of layers, take the time.
const LOOKS: u64 = 8;

/// √2 texels per pixel is half way from the first level to the second.
const VERTEX: &str = "
    layout(location = 0) in vec2 corner;
    out highp vec2 place;
    void main() {
        place = corner * 1.41421356;
        gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
    }";
const FRAGMENT: &str = "
    precision highp float;
    uniform sampler2D texels;
    in vec2 place;
    out vec4 pixel;
    void main() {
        vec3 sum = vec3(0.0);
        for (int look = 0; look < 8; look++)
            sum += texture(texels, place + (float(look) - 3.5) * 4.0 / 1024.0).rgb;
        pixel = vec4(sum / 8.0, 0.5);
    }";

pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let canvas = Canvas::open(kit, (SIDE, SIDE))?;
    canvas.gl.shader(VERTEX, FRAGMENT)?;
    let cover = canvas.cover()?;
    let byte = |part: f32| (part * 255.0).round() as u8;
    // Blue is in the second level only: it shows how the levels are mixed.
    canvas.gl.texture(SIDE, |level, u, v| [byte(u), byte(v), if level == 1 { 255 } else { 0 }, 255])?;
    canvas.gl.draw(&cover, 1);
    prove(kit, &canvas.gl, &canvas.target, Unit::Sides)?;
    // Layers that hide each other would not all be drawn by every renderer.
    canvas.gl.blend();
    canvas.measure(kit, canvas.pixels() * LOOKS, |layers| canvas.gl.draw(&cover, layers))
}
