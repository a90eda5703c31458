//! The familiar gears: three of them, turning in each other.

use std::f32::consts::TAU;

use crate::gl::{Gl, Mesh, OPAQUE, Uniform};
use crate::kit::{Kit, SECOND, Stop, now};
use crate::picture::{Unit, prove};

/// Column by column, as GL has it.
type Matrix = [f32; 16];

/// Lit from where the lamp stands, with a fifth of the light everywhere.
const VERTEX: &str = "
    layout(location = 0) in vec3 point;
    layout(location = 1) in vec3 normal;
    uniform mat4 view;
    uniform mat4 projection;
    uniform vec3 colour;
    out vec3 shade;
    const vec3 LAMP = vec3(5.0, 5.0, 10.0) / 12.2474487;
    void main() {
        shade = colour * (0.2 + max(dot(mat3(view) * normal, LAMP), 0.0));
        gl_Position = projection * (view * vec4(point, 1.0));
    }";

/// One gear, and how it turns: by `speed` times the angle, from `start`, in degrees.
struct Gear {
    inner: f32,
    outer: f32,
    width: f32,
    teeth: u16,
    colour: [f32; 3],
    x: f32,
    y: f32,
    speed: f32,
    start: f32,
}

const GEARS: [Gear; 3] = [
    Gear {
        inner: 1.0,
        outer: 4.0,
        width: 1.0,
        teeth: 20,
        colour: [0.8, 0.1, 0.0],
        x: -3.0,
        y: -2.0,
        speed: 1.0,
        start: 0.0,
    },
    Gear {
        inner: 0.5,
        outer: 2.0,
        width: 2.0,
        teeth: 10,
        colour: [0.0, 0.8, 0.2],
        x: 3.1,
        y: -2.0,
        speed: -2.0,
        start: -9.0,
    },
    Gear {
        inner: 1.3,
        outer: 2.0,
        width: 0.5,
        teeth: 10,
        colour: [0.2, 0.2, 1.0],
        x: -3.1,
        y: 4.2,
        speed: -2.0,
        start: -25.0,
    },
];

/// How high the teeth of all gears are.
const TOOTH: f32 = 0.7;

/// All that is drawn.
struct Scene<'a> {
    gl: &'a Gl,
    meshes: Vec<Mesh>,
    view: Uniform,
    colour: Uniform,
    /// From where it is looked at.
    camera: Matrix,
}

pub fn run(kit: &mut Kit) -> Result<(), Stop> {
    let (width, height) = kit.size((300, 300))?;
    let window = kit.number("window", 0, 0..=1)? == 1;
    let warmup = kit.number("warmup", 0, 0..=60)?;
    let gl = Gl::open(kit, window.then_some((width, height)))?;
    let target = gl.target(width, height)?;
    let scene = Scene::new(&gl, width, height)?;
    scene.draw(0);
    prove(kit, &gl, &target, Unit::Square)?;
    if gl.windowed() {
        gl.draw_to_window();
    }
    let mut angle = 0;
    // A degree further in each, so that the work does not depend on the speed.
    let mut frame = || {
        scene.draw(angle);
        angle = (angle + 1) % 360;
        gl.show()?;
        Ok(1)
    };
    let ready = now() + warmup * SECOND;
    frame()?;
    while now() < ready {
        frame()?;
    }
    kit.measure(frame)?;
    gl.errors("what was measured")
}

impl Scene<'_> {
    fn new(gl: &Gl, width: u32, height: u32) -> Result<Scene<'_>, Stop> {
        let shader = gl.shader(VERTEX, OPAQUE)?;
        gl.solid();
        // The shorter side of the picture shows as much as both sides of a square.
        let shorter = width.min(height) as f32;
        gl.set_matrix(
            &gl.uniform(&shader, "projection"),
            &frustum(width as f32 / shorter, height as f32 / shorter, 5.0, 60.0),
        );
        let mesh = |gear: &Gear| {
            let (vertices, corners) = gear.build();
            gl.mesh(&[3, 3], &vertices, &corners)
        };
        Ok(Scene {
            gl,
            meshes: GEARS.iter().map(mesh).collect::<Result<_, _>>()?,
            view: gl.uniform(&shader, "view"),
            colour: gl.uniform(&shader, "colour"),
            camera: times(&shift(0.0, 0.0, -40.0), &times(&turn(20.0, 1, 2), &turn(30.0, 2, 0))),
        })
    }

    /// Draws the gears with the first one turned by `angle`, in degrees.
    fn draw(&self, angle: u16) {
        self.gl.clear();
        for (gear, mesh) in GEARS.iter().zip(&self.meshes) {
            let turned = turn(gear.speed * f32::from(angle) + gear.start, 0, 1);
            self.gl.set_matrix(&self.view, &times(&self.camera, &times(&shift(gear.x, gear.y, 0.0), &turned)));
            self.gl.set_vector(&self.colour, gear.colour);
            self.gl.draw(mesh, 1);
        }
    }
}

/// Convex faces, corner by corner: point and normal of each, and triangles of them.
#[derive(Default)]
struct Faces {
    vertices: Vec<f32>,
    corners: Vec<u16>,
}

impl Faces {
    /// Adds a face, whose corners go round against the clock as seen from outside.
    fn add(&mut self, corners: &[([f32; 3], [f32; 3])]) {
        let first = (self.vertices.len() / 6) as u16;
        for (point, normal) in corners {
            self.vertices.extend(point);
            self.vertices.extend(normal);
        }
        for next in 1..corners.len() as u16 - 1 {
            self.corners.extend([first, first + next, first + next + 1]);
        }
    }
}

impl Gear {
    /// The vertices, with point and normal, and three per triangle.
    fn build(&self) -> (Vec<f32>, Vec<u16>) {
        let mut faces = Faces::default();
        (0..self.teeth).for_each(|tooth| self.tooth(f32::from(tooth), &mut faces));
        (faces.vertices, faces.corners)
    }

    /// A tooth, the gap after it, and what lies between them and the hole.
    fn tooth(&self, number: f32, faces: &mut Faces) {
        let half = self.width / 2.0;
        let (root, tip) = (self.outer - TOOTH / 2.0, self.outer + TOOTH / 2.0);
        // Quarters: up, along the tip, down, along the gap.
        let at = |radius: f32, quarter: f32| {
            let (sine, cosine) = ((number + quarter / 4.0) * TAU / f32::from(self.teeth)).sin_cos();
            [radius * cosine, radius * sine]
        };
        let outline = [at(root, 0.0), at(tip, 1.0), at(tip, 2.0), at(root, 3.0), at(root, 4.0)];
        let hole = [at(self.inner, 0.0), at(self.inner, 4.0)];
        let tooth = &outline[..4];
        let body = [hole[0], outline[0], outline[3], outline[4], hole[1]];
        for face in [tooth, &body] {
            faces.add(&face.iter().map(|p| ([p[0], p[1], half], [0.0, 0.0, 1.0])).collect::<Vec<_>>());
            faces.add(&face.iter().rev().map(|p| ([p[0], p[1], -half], [0.0, 0.0, -1.0])).collect::<Vec<_>>());
        }
        let mut wall = |from: [f32; 2], to: [f32; 2], normals: [[f32; 3]; 2]| {
            let (from, to) = (|z| [from[0], from[1], z], |z| [to[0], to[1], z]);
            let [a, b] = normals;
            faces.add(&[(from(half), a), (from(-half), a), (to(-half), b), (to(half), b)]);
        };
        for side in outline.windows(2) {
            let (along, up) = (side[1][0] - side[0][0], side[1][1] - side[0][1]);
            let length = along.hypot(up);
            wall(side[0], side[1], [[up / length, -along / length, 0.0]; 2]);
        }
        // The hole is round: its normals are those of the circle, and look inwards.
        let inwards = [hole[1], hole[0]].map(|p| [-p[0] / self.inner, -p[1] / self.inner, 0.0]);
        wall(hole[1], hole[0], inwards);
    }
}

/// First `b`, then `a`.
fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|place| (0..4).map(|k| a[k * 4 + place % 4] * b[place / 4 * 4 + k]).sum())
}

fn shift(x: f32, y: f32, z: f32) -> Matrix {
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0]
}

/// A turn by this many degrees, from axis `from` to axis `to`.
fn turn(degrees: f32, from: usize, to: usize) -> Matrix {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let mut matrix = shift(0.0, 0.0, 0.0);
    matrix[from * 5] = cosine;
    matrix[to * 5] = cosine;
    matrix[from * 4 + to] = sine;
    matrix[to * 4 + from] = -sine;
    matrix
}

/// What is seen through a window that reaches `right` and `top` from its middle, at the distance `near`.
fn frustum(right: f32, top: f32, near: f32, far: f32) -> Matrix {
    let mut matrix = [0.0; 16];
    matrix[0] = near / right;
    matrix[5] = near / top;
    matrix[10] = -(far + near) / (far - near);
    matrix[11] = -1.0;
    matrix[14] = -2.0 * far * near / (far - near);
    matrix
}
