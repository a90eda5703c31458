//! What the 3D tests share: sizes, a picture to draw on, and pieces of work long enough to be
//! waited for.

use crate::gl::{Gl, Target};
use crate::kit::{Kit, Stop, now};

/// Waiting for the end of a piece that lasts this long is a small part of it.
const MIN_PIECE_NS: u64 = 10_000_000;

const MAX_DRAWINGS_PER_PIECE: u32 = 1 << 16;

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
    pub fn open(kit: &mut Kit, default_size: (u32, u32)) -> Result<Canvas, Stop> {
        let (width, height) = kit.size(default_size)?;
        let gl = Gl::open(kit, None)?;
        let target = gl.target(width, height)?;
        gl.clear();
        Ok(Canvas { gl, target })
    }

    /// Measures `draw`, which makes as many drawings as it is told; each counts `drawing_count`.
    ///
    /// # Errors
    /// The driver has seen an error.
    pub fn measure(
        &self,
        kit: &mut Kit,
        drawing_count: u64,
        mut draw: impl FnMut(u32),
    ) -> Result<(), Stop> {
        // The first drawing is slow, and tells nothing.
        self.time_piece(&mut draw, 1);
        let mut drawings = 1;
        while drawings < MAX_DRAWINGS_PER_PIECE
            && self.time_piece(&mut draw, drawings) < MIN_PIECE_NS
        {
            drawings *= 2;
        }

        kit.measure(|| {
            self.time_piece(&mut draw, drawings);
            Ok(drawing_count * u64::from(drawings))
        })?;
        self.gl.check_errors("what was measured")
    }

    /// Draws, waits for the end, and returns the time in ns.
    fn time_piece(&self, draw: &mut impl FnMut(u32), drawings: u32) -> u64 {
        let start = now();
        draw(drawings);
        self.gl.finish();
        now() - start
    }
}
