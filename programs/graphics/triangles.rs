//! Triangles: a fine net of them covers the picture once, and is drawn over and over.

use crate::canvas::Canvas;
use crate::gl::OPAQUE;
use crate::kit::{Kit, Stop};
use crate::picture::{Unit, prove};

/// Meshes along each side of the net: each is two triangles.
const MESHES: u16 = 224;

const VERTEX: &str = "
    layout(location = 0) in vec3 knot;
    out vec3 shade;
    void main() {
        shade = knot;
        gl_Position = vec4(knot.xy * 2.0 - 1.0, 0.0, 1.0);
    }";

pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let canvas = Canvas::open(kit, (512, 512))?;
    canvas.gl.shader(VERTEX, OPAQUE)?;
    let (knots, corners) = net();
    let net = canvas.gl.mesh(&[3], &knots, &corners)?;
    canvas.gl.draw(&net, 1);
    prove(kit, &canvas.gl, &canvas.target, Unit::Sides)?;
    canvas.measure(kit, corners.len() as u64 / 3, |times| (0..times).for_each(|_| canvas.gl.draw(&net, 1)))
}

/// The knots, with x, y, and a colour that is 0 and 1 in turn; and three of them per triangle.
fn net() -> (Vec<f32>, Vec<u16>) {
    let side = MESHES + 1;
    let at = |place: u16| f32::from(place) / f32::from(MESHES);
    let knots = (0..side).flat_map(|y| (0..side).flat_map(move |x| [at(x), at(y), f32::from((x + y) % 2)])).collect();
    let mesh = |x: u16, y: u16| {
        let first = y * side + x;
        [first, first + 1, first + side, first + side, first + 1, first + side + 1]
    };
    (knots, (0..MESHES).flat_map(|y| (0..MESHES).flat_map(move |x| mesh(x, y))).collect())
}
