//! Triangles: a fine net of them covers the picture once, and is drawn over and over.

use crate::canvas::Canvas;
use crate::gl::OPAQUE;
use crate::kit::{Kit, Stop};
use crate::picture::{Unit, prove_frame};

/// Of the net; each mesh is two triangles.
const MESHES_PER_SIDE: u16 = 224;

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
    let corners = net_corners();
    let net = canvas.gl.mesh(&[3], &net_knots(), &corners)?;

    canvas.gl.draw(&net, 1);
    prove_frame(kit, &canvas.gl, &canvas.target, Unit::Sides)?;

    let triangles = corners.len() as u64 / 3;
    canvas.measure(kit, triangles, |drawings| {
        for _ in 0..drawings {
            canvas.gl.draw(&net, 1);
        }
    })
}

/// The knots, row by row: x, y, and a colour that is 0 and 1 in turn.
fn net_knots() -> Vec<f32> {
    let mut knots = Vec::new();
    for y in 0..=MESHES_PER_SIDE {
        for x in 0..=MESHES_PER_SIDE {
            let [left, bottom] = [x, y].map(|knot| f32::from(knot) / f32::from(MESHES_PER_SIDE));
            knots.extend([left, bottom, f32::from((x + y) % 2)]);
        }
    }
    knots
}

/// The numbers of three knots for each triangle.
fn net_corners() -> Vec<u16> {
    let knots_per_row = MESHES_PER_SIDE + 1;
    let mut corners = Vec::new();
    for y in 0..MESHES_PER_SIDE {
        for x in 0..MESHES_PER_SIDE {
            let knot = y * knots_per_row + x;
            let above = knot + knots_per_row;
            corners.extend([knot, knot + 1, above]);
            corners.extend([above, knot + 1, above + 1]);
        }
    }
    corners
}
