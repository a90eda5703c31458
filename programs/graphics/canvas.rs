//! What the 3D tests share: sizes, a picture to draw on, and pieces of work long enough to be waited for.

use crate::gl::{Gl, Mesh, Shader, Target};
use crate::kit::{Kit, Stop, now};

/// A piece is at least that long, in ns: waiting for its end is then a small part of it.
const PIECE: u64 = 10_000_000;

/// At most this many drawings in a piece.
const MOST: u32 = 1 << 16;

/// Colours that run over the picture: red to the right, green upwards, and blue; every other time the other way round.
const VERTEX: &str = "
    layout(location = 0) in vec2 corner;
    out vec3 shade;
    void main() {
        vec3 even = vec3(corner, 1.0);
        shade = (gl_InstanceID & 1) == 0 ? even : 1.0 - even;
        gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
    }";
const FRAGMENT: &str = "
    precision mediump float;
    in vec3 shade;
    out vec4 pixel;
    void main() { pixel = vec4(shade, 0.5); }";

/// A context, and a picture that it draws to.
pub struct Canvas {
    pub gl: Gl,
    pub target: Target,
}

impl Canvas {
    /// A black picture of `size=`.
    ///
    /// # Errors
    /// It is not a size, or nothing can draw here.
    pub fn open(kit: &mut Kit, missing: (u32, u32)) -> Result<Canvas, Stop> {
        let (width, height) = kit.size(missing)?;
        let gl = Gl::open(kit, None)?;
        let target = gl.target(width, height)?;
        gl.clear();
        Ok(Canvas { gl, target })
    }

    /// How many pixels there are.
    pub fn pixels(&self) -> u64 {
        u64::from(self.target.width) * u64::from(self.target.height)
    }

    /// Two triangles that cover the picture; their corners are 0 or 1 both ways.
    ///
    /// # Errors
    /// The driver has no memory.
    pub fn cover(&self) -> Result<Mesh, Stop> {
        self.gl.mesh(&[2], &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &[0, 1, 2, 2, 1, 3])
    }

    /// What draws colours that run over the picture, half transparent where it is mixed with what is there.
    ///
    /// # Errors
    /// The driver refuses it.
    pub fn colours(&self) -> Result<Shader, Stop> {
        self.gl.shader(VERTEX, FRAGMENT)
    }

    /// Measures drawings, each worth `worth`; `draw` makes that many of them.
    ///
    /// # Errors
    /// The driver has seen an error.
    pub fn measure(&self, kit: &mut Kit, worth: u64, mut draw: impl FnMut(u32)) -> Result<(), Stop> {
        let mut piece = |number: u32| {
            let start = now();
            draw(number);
            self.gl.finish();
            now() - start
        };
        // The first drawing is slow, and tells nothing.
        piece(1);
        let mut number = 1;
        while piece(number) < PIECE && number < MOST {
            number *= 2;
        }
        kit.measure(|| {
            piece(number);
            Ok(worth * u64::from(number))
        })?;
        self.gl.errors("what was measured")
    }
}
