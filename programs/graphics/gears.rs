//! The familiar gears: three of them, turning in each other.

use std::f32::consts::TAU;

use crate::gl::{Gl, Mesh, OPAQUE, Uniform};
use crate::kit::{Kit, NS_PER_SECOND, Stop, now};
use crate::picture::{Unit, prove_frame};

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

/// From root to tip, of all gears.
const TOOTH_HEIGHT: f32 = 0.7;

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
    let wants_window = kit.number("window", 0, 0..=1)? == 1;
    let warmup_seconds = kit.number("warmup", 0, 0..=60)?;
    let gl = Gl::open(kit, wants_window.then_some((width, height)))?;
    let target = gl.target(width, height)?;
    let scene = Scene::new(&gl, width, height)?;

    scene.draw(0);
    prove_frame(kit, &gl, &target, Unit::Square)?;
    if gl.has_window() {
        gl.draw_to_window();
    }

    // A degree further in each, so that the work does not depend on the speed.
    let mut angle = 0;
    let mut show_next_frame = || {
        scene.draw(angle);
        angle = (angle + 1) % 360;
        gl.show()?;
        Ok(1)
    };

    let warm = now() + warmup_seconds * NS_PER_SECOND;
    show_next_frame()?;
    while now() < warm {
        show_next_frame()?;
    }

    kit.measure(show_next_frame)?;
    gl.check_errors("what was measured")
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

        let mut meshes = Vec::new();
        for gear in &GEARS {
            let faces = gear.build();
            meshes.push(gl.mesh(&[3, 3], &faces.vertices, &faces.corners)?);
        }
        Ok(Scene {
            gl,
            meshes,
            view: gl.uniform(&shader, "view"),
            colour: gl.uniform(&shader, "colour"),
            camera: product(
                &shift(0.0, 0.0, -40.0),
                &product(&turn(20.0, 1, 2), &turn(30.0, 2, 0)),
            ),
        })
    }

    /// Draws the gears with the first one turned by `angle`, in degrees.
    fn draw(&self, angle: u16) {
        self.gl.clear();
        for (gear, mesh) in GEARS.iter().zip(&self.meshes) {
            let turned = turn(gear.speed * f32::from(angle) + gear.start, 0, 1);
            let placed = product(&shift(gear.x, gear.y, 0.0), &turned);
            self.gl.set_matrix(&self.view, &product(&self.camera, &placed));
            self.gl.set_vector(&self.colour, gear.colour);
            self.gl.draw(mesh, 1);
        }
    }
}

/// Convex faces, cut into triangles.
#[derive(Default)]
struct Faces {
    /// Of each corner, three numbers for its point and three for its normal.
    vertices: Vec<f32>,
    /// The numbers of three vertices for each triangle.
    corners: Vec<u16>,
}

/// A corner of a face. The normal decides how it is lit.
#[derive(Clone, Copy)]
struct Corner {
    point: [f32; 3],
    normal: [f32; 3],
}

impl Faces {
    /// Adds a face, whose corners go round against the clock as seen from outside.
    fn add(&mut self, corners: &[Corner]) {
        let first = (self.vertices.len() / 6) as u16;
        for corner in corners {
            self.vertices.extend(corner.point);
            self.vertices.extend(corner.normal);
        }

        for next in 1..corners.len() as u16 - 1 {
            self.corners.extend([first, first + next, first + next + 1]);
        }
    }

    /// Adds `outline` as the front and the back of something `2 * half_width` thick.
    fn add_front_and_back(&mut self, outline: &[[f32; 2]], half_width: f32) {
        let mut front = Vec::new();
        let mut back = Vec::new();
        for [x, y] in outline {
            front.push(Corner { point: [*x, *y, half_width], normal: [0.0, 0.0, 1.0] });
            back.push(Corner { point: [*x, *y, -half_width], normal: [0.0, 0.0, -1.0] });
        }
        back.reverse();

        self.add(&front);
        self.add(&back);
    }

    /// Adds what joins front and back along one side of their outline. `normals` are those at its
    /// two ends.
    fn add_wall(&mut self, side: [[f32; 2]; 2], normals: [[f32; 3]; 2], half_width: f32) {
        let [from, to] = side;
        let [from_normal, to_normal] = normals;
        self.add(&[
            Corner { point: [from[0], from[1], half_width], normal: from_normal },
            Corner { point: [from[0], from[1], -half_width], normal: from_normal },
            Corner { point: [to[0], to[1], -half_width], normal: to_normal },
            Corner { point: [to[0], to[1], half_width], normal: to_normal },
        ]);
    }
}

impl Gear {
    fn build(&self) -> Faces {
        let mut faces = Faces::default();
        for tooth in 0..self.teeth {
            self.add_tooth(f32::from(tooth), &mut faces);
        }
        faces
    }

    /// Adds a tooth, the gap after it, and what lies between them and the hole.
    fn add_tooth(&self, number: f32, faces: &mut Faces) {
        let half_width = self.width / 2.0;
        let (root, tip) = (self.outer - TOOTH_HEIGHT / 2.0, self.outer + TOOTH_HEIGHT / 2.0);

        // Quarters of the way to the next tooth: up, along the tip, down, along the gap.
        let at = |radius: f32, quarter: f32| {
            let (sine, cosine) = ((number + quarter / 4.0) * TAU / f32::from(self.teeth)).sin_cos();
            [radius * cosine, radius * sine]
        };
        let outline = [at(root, 0.0), at(tip, 1.0), at(tip, 2.0), at(root, 3.0), at(root, 4.0)];
        let hole = [at(self.inner, 0.0), at(self.inner, 4.0)];

        let tooth = &outline[..4];
        let body = [hole[0], outline[0], outline[3], outline[4], hole[1]];
        faces.add_front_and_back(tooth, half_width);
        faces.add_front_and_back(&body, half_width);

        for ends in outline.windows(2) {
            let [from, to] = [ends[0], ends[1]];
            let (along, up) = (to[0] - from[0], to[1] - from[1]);
            let length = along.hypot(up);
            faces.add_wall([from, to], [[up / length, -along / length, 0.0]; 2], half_width);
        }

        // The hole is round: its normals are those of the circle, and look inwards.
        let hole_side = [hole[1], hole[0]];
        let inwards = hole_side.map(|[x, y]| [-x / self.inner, -y / self.inner, 0.0]);
        faces.add_wall(hole_side, inwards, half_width);
    }
}

/// First `b`, then `a`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|place| {
        let (row, column) = (place % 4, place / 4);
        (0..4).map(|k| a[k * 4 + row] * b[column * 4 + k]).sum()
    })
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

/// What is seen through a window that reaches `right` and `top` from its middle, at the distance
/// `near`.
fn frustum(right: f32, top: f32, near: f32, far: f32) -> Matrix {
    let mut matrix = [0.0; 16];
    matrix[0] = near / right;
    matrix[5] = near / top;
    matrix[10] = -(far + near) / (far - near);
    matrix[11] = -1.0;
    matrix[14] = -2.0 * far * near / (far - near);
    matrix
}
