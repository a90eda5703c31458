//! OpenGL ES 3.0 by safe functions. All `unsafe` of this program is here and in `gl/egl.rs`.
//!
//! Nothing is ever deleted: a test is one short process, and its context dies with it.
#![allow(unsafe_code)]

mod egl;

use glow::HasContext;

use crate::facts::Fact;
use crate::kit::{Kit, Stop};
use egl::Place;

/// Parts of the names of renderers that draw with processors.
const SOFTWARE_RENDERERS: [&str; 5] =
    ["llvmpipe", "softpipe", "swrast", "swiftshader", "software rasterizer"];

/// The fragment shader that gives a pixel the `shade` its corners have, and covers what is there.
pub const OPAQUE: &str = "
    precision mediump float;
    in vec3 shade;
    out vec4 pixel;
    void main() { pixel = vec4(shade, 1.0); }";

/// A context that is current, and where it draws to.
pub struct Gl {
    gl: glow::Context,
    place: Place,
    /// What the driver calls itself.
    pub renderer: String,
}

/// A vertex and a fragment shader, linked.
pub struct Shader(glow::Program);

/// A variable of a shader, constant for a drawing.
pub struct Uniform(Option<glow::UniformLocation>);

/// Triangles in the driver's memory.
pub struct Mesh {
    array: glow::VertexArray,
    indices: i32,
}

/// A picture in the driver's memory that can be drawn to.
pub struct Target {
    frame: glow::Framebuffer,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

impl Gl {
    /// A context, on the display where there is one; with a window of that size, where one is
    /// wanted and can be had. A test's report is told what a reader of its numbers must know.
    ///
    /// # Errors
    /// There is no EGL here, or none of its drivers starts.
    pub fn open(kit: &mut Kit, window: Option<(u32, u32)>) -> Result<Gl, Stop> {
        let (gl, notes) = Gl::new(window)?;
        for note in notes {
            kit.report_note(&note);
        }
        if gl.is_software() {
            kit.report_note(&format!(
                "drawn by {}, a software renderer: this measures processors, not a graphics card",
                gl.renderer
            ));
        }
        kit.set_display_server(gl.place.server());
        Ok(gl)
    }

    fn new(window: Option<(u32, u32)>) -> Result<(Gl, Vec<String>), Stop> {
        let (place, notes) = Place::open(window)?;
        // SAFETY: a context is current on this thread, and stays so while `place` lives, which
        // knows its functions.
        let gl = unsafe { glow::Context::from_loader_function(|name| place.address(name)) };
        // SAFETY: as above.
        let renderer = unsafe { gl.get_parameter_string(glow::RENDERER) };
        Ok((Gl { gl, place, renderer }, notes))
    }

    /// Whether processors draw, and no graphics card.
    pub fn is_software(&self) -> bool {
        let name = self.renderer.to_lowercase();
        SOFTWARE_RENDERERS.iter().any(|known| name.contains(known))
    }

    /// Whether frames go to a window.
    pub fn has_window(&self) -> bool {
        self.place.has_window()
    }

    /// Compiles and links.
    ///
    /// # Errors
    /// The driver refuses them.
    pub fn shader(&self, vertex: &str, fragment: &str) -> Result<Shader, Stop> {
        // SAFETY: the context is current; shaders and program are its own.
        unsafe {
            let program =
                self.gl.create_program().map_err(|why| self.rejects("a program", &why))?;
            for (kind, source) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)]
            {
                let shader =
                    self.gl.create_shader(kind).map_err(|why| self.rejects("a shader", &why))?;
                self.gl.shader_source(shader, &format!("#version 300 es\n{source}"));
                self.gl.compile_shader(shader);
                if !self.gl.get_shader_compile_status(shader) {
                    return Err(self.rejects("a shader", &self.gl.get_shader_info_log(shader)));
                }
                self.gl.attach_shader(program, shader);
            }
            self.gl.link_program(program);
            if !self.gl.get_program_link_status(program) {
                return Err(self.rejects("a program", &self.gl.get_program_info_log(program)));
            }
            self.gl.use_program(Some(program));
            Ok(Shader(program))
        }
    }

    /// The variable of that name.
    pub fn uniform(&self, shader: &Shader, name: &str) -> Uniform {
        // SAFETY: the context is current, and the program linked.
        Uniform(unsafe { self.gl.get_uniform_location(shader.0, name) })
    }

    /// Sets a `vec3` of the shader that was made last.
    pub fn set_vector(&self, uniform: &Uniform, vector: [f32; 3]) {
        // SAFETY: the context is current; the slice has the three numbers of one vector.
        unsafe { self.gl.uniform_3_f32_slice(uniform.0.as_ref(), &vector) }
    }

    /// Sets a `mat4` of the shader that was made last, column by column.
    pub fn set_matrix(&self, uniform: &Uniform, matrix: &[f32; 16]) {
        // SAFETY: the context is current; the slice has the sixteen numbers of one matrix.
        unsafe { self.gl.uniform_matrix_4_f32_slice(uniform.0.as_ref(), false, matrix) }
    }

    /// Hands over triangles: each vertex has attributes of `attribute_sizes` numbers, and three
    /// `indices` make a triangle.
    ///
    /// # Errors
    /// An index is of no vertex, or the driver has no memory.
    pub fn mesh(
        &self,
        attribute_sizes: &[i32],
        vertices: &[f32],
        indices: &[u16],
    ) -> Result<Mesh, Stop> {
        let vertex_size: i32 = attribute_sizes.iter().sum();
        let vertex_count = vertices.len() / usize::try_from(vertex_size).unwrap_or(1).max(1);
        if indices.iter().any(|index| usize::from(*index) >= vertex_count) {
            return Err(Stop::Error(format!(
                "a triangle has a corner beyond the {vertex_count} that there are: report this as a bug"
            )));
        }

        let vertex_bytes: Vec<u8> = vertices.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let index_bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_ne_bytes()).collect();
        // SAFETY: the context is current, and copies both slices; all indices are of vertices that
        // are there.
        unsafe {
            let array = self.gl.create_vertex_array().map_err(|why| self.fails("a mesh", &why))?;
            self.gl.bind_vertex_array(Some(array));
            self.fill_buffer(glow::ARRAY_BUFFER, &vertex_bytes)?;
            self.fill_buffer(glow::ELEMENT_ARRAY_BUFFER, &index_bytes)?;

            let mut offset = 0;
            for (place, size) in (0..).zip(attribute_sizes) {
                self.gl.enable_vertex_attrib_array(place);
                self.gl.vertex_attrib_pointer_f32(
                    place,
                    *size,
                    glow::FLOAT,
                    false,
                    vertex_size * 4,
                    offset * 4,
                );
                offset += size;
            }

            self.check_errors("a mesh")?;
            Ok(Mesh { array, indices: indices.len() as i32 })
        }
    }

    /// Copies `data` into a new buffer of the vertex array that is bound.
    fn fill_buffer(&self, kind: u32, data: &[u8]) -> Result<(), Stop> {
        // SAFETY: the context is current, and copies the slice.
        unsafe {
            let buffer = self.gl.create_buffer().map_err(|why| self.fails("a mesh", &why))?;
            self.gl.bind_buffer(kind, Some(buffer));
            self.gl.buffer_data_u8_slice(kind, data, glow::STATIC_DRAW);
        }
        Ok(())
    }

    /// A picture of that size, with a depth buffer. It is drawn to from then on.
    ///
    /// # Errors
    /// The driver has none so large.
    pub fn target(&self, width: u32, height: u32) -> Result<Target, Stop> {
        // SAFETY: the context is current.
        let max_side = unsafe { self.gl.get_parameter_i32(glow::MAX_RENDERBUFFER_SIZE) };
        if i64::from(width.max(height)) > i64::from(max_side) {
            let why = format!(
                "{} draws no picture wider or higher than {max_side} pixels: try a smaller size=",
                self.renderer
            );
            return Err(Stop::Skip(why));
        }

        // SAFETY: the context is current; all objects are its own.
        let (frame, status) = unsafe {
            let frame =
                self.gl.create_framebuffer().map_err(|why| self.fails("a picture", &why))?;
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
            self.attach_buffer(glow::COLOR_ATTACHMENT0, glow::RGBA8, width, height)?;
            self.attach_buffer(glow::DEPTH_ATTACHMENT, glow::DEPTH_COMPONENT24, width, height)?;
            (frame, self.gl.check_framebuffer_status(glow::FRAMEBUFFER))
        };
        self.check_errors("a picture of that size")?;
        if status != glow::FRAMEBUFFER_COMPLETE {
            return Err(self.fails("a picture of that size", "it is not complete"));
        }

        let target = Target { frame, width, height };
        self.draw_to(&target);
        Ok(target)
    }

    /// Gives the frame buffer that is bound a buffer of `format` at `place`.
    fn attach_buffer(&self, place: u32, format: u32, width: u32, height: u32) -> Result<(), Stop> {
        let (width, height) = (width as i32, height as i32);
        // SAFETY: the context is current; the buffer is its own.
        unsafe {
            let buffer =
                self.gl.create_renderbuffer().map_err(|why| self.fails("a picture", &why))?;
            self.gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
            self.gl.renderbuffer_storage(glow::RENDERBUFFER, format, width, height);
            self.gl.framebuffer_renderbuffer(
                glow::FRAMEBUFFER,
                place,
                glow::RENDERBUFFER,
                Some(buffer),
            );
        }
        Ok(())
    }

    /// Draws to `target` from then on.
    pub fn draw_to(&self, target: &Target) {
        // SAFETY: the context is current, and the target's.
        unsafe {
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target.frame));
            self.gl.viewport(0, 0, target.width as i32, target.height as i32);
        }
    }

    /// Draws to the window from then on; its size stays the one that was last drawn to.
    pub fn draw_to_window(&self) {
        // SAFETY: the context is current.
        unsafe { self.gl.bind_framebuffer(glow::FRAMEBUFFER, None) }
    }

    /// Has nearer triangles hide farther ones, and those seen from behind left out.
    pub fn solid(&self) {
        // SAFETY: the context is current.
        unsafe {
            self.gl.enable(glow::DEPTH_TEST);
            self.gl.enable(glow::CULL_FACE);
        }
    }

    /// Makes everything black and far.
    pub fn clear(&self) {
        // SAFETY: the context is current.
        unsafe { self.gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT) }
    }

    /// Draws a mesh this many times, each with a higher `gl_InstanceID`.
    pub fn draw(&self, mesh: &Mesh, times: u32) {
        let (mode, indices, times) = (glow::TRIANGLES, mesh.indices, times as i32);
        // SAFETY: the context is current; `Gl::mesh` has seen that all indices are of vertices that
        // are there.
        unsafe {
            self.gl.bind_vertex_array(Some(mesh.array));
            self.gl.draw_elements_instanced(mode, indices, glow::UNSIGNED_SHORT, 0, times);
        }
    }

    /// Shows the frame where there is a window, in whose queue the driver holds back who is too
    /// fast; else waits until all is drawn.
    ///
    /// # Errors
    /// The window is gone.
    pub fn show(&self) -> Result<(), Stop> {
        if self.has_window() {
            return self.place.swap();
        }
        self.finish();
        Ok(())
    }

    /// Waits until all is drawn.
    pub fn finish(&self) {
        // SAFETY: the context is current.
        unsafe { self.gl.finish() }
    }

    /// Reads `target`, which is drawn to, into `pixels`: rows from the bottom, red, green, blue and
    /// alpha of each.
    pub fn read(&self, target: &Target, pixels: &mut Vec<u8>) {
        pixels.resize(target.width as usize * target.height as usize * 4, 0);
        let (width, height) = (target.width as i32, target.height as i32);
        let data = glow::PixelPackData::Slice(Some(pixels));
        // SAFETY: the context is current; the slice has room for four bytes of every pixel, as just
        // made sure.
        unsafe { self.gl.read_pixels(0, 0, width, height, glow::RGBA, glow::UNSIGNED_BYTE, data) }
    }

    /// Asks the driver whether all went well so far.
    ///
    /// # Errors
    /// The driver has seen an error.
    pub fn check_errors(&self, what: &str) -> Result<(), Stop> {
        // SAFETY: the context is current.
        match unsafe { self.gl.get_error() } {
            glow::NO_ERROR => Ok(()),
            glow::OUT_OF_MEMORY => Err(self.fails(what, "it has no memory left")),
            code => Err(self.fails(what, &format!("GL error {code:#06x}"))),
        }
    }

    /// `why` is the driver's own text, of several lines.
    fn rejects(&self, what: &str, why: &str) -> Stop {
        let why = why.trim().replace('\n', "; ");
        Stop::Error(format!("{} refuses {what}: {why}", self.renderer))
    }

    fn fails(&self, what: &str, why: &str) -> Stop {
        Stop::Error(format!(
            "{} fails at {what}: {why}: try another driver, or LIBGL_ALWAYS_SOFTWARE=1",
            self.renderer
        ))
    }
}

/// What draws here; nothing where there is no GL.
pub fn facts() -> Vec<Fact> {
    let Ok((gl, _)) = Gl::new(None) else {
        return Vec::new();
    };
    // SAFETY: the context is current.
    let parameter = |name: u32| unsafe { gl.gl.get_parameter_string(name) };
    let rendering = if gl.is_software() { "software" } else { "hardware" };
    let platform = gl.place.platform.to_owned();

    let mut facts = Vec::new();
    let mut add = |name, label, value| facts.push(Fact { name, label, value });
    add("graphics.gl_renderer", "GL renderer", gl.renderer.clone());
    add("graphics.gl_vendor", "GL vendor", parameter(glow::VENDOR));
    add("graphics.gl_version", "GL version", parameter(glow::VERSION));
    add("graphics.gl_platform", "GL platform", platform);
    add("graphics.rendering", "Rendering", rendering.to_owned());

    // Threads may begin with the first drawing.
    if gl.renderer.contains("llvmpipe") && gl.target(64, 64).is_ok() {
        gl.clear();
        gl.finish();
        let threads = count_llvmpipe_threads().to_string();
        add("graphics.gl_threads", "Threads of the software renderer", threads);
    }
    facts
}

/// Threads of this process that llvmpipe draws with.
fn count_llvmpipe_threads() -> usize {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return 0;
    };
    tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .filter(|name| name.starts_with("llvmpipe-"))
        .count()
}
