//! OpenGL ES 3.0 by safe functions. All `unsafe` of this program is here and in `gl/egl.rs`.
//!
//! Nothing is ever deleted: a test is one short process, and its context dies with it.
#![allow(unsafe_code)]

mod egl;

use glow::HasContext;

use crate::facts::Fact;
use crate::kit::{Kit, Stop};
use egl::Place;

/// Renderers that draw with processors, as their names have it.
const SOFTWARE: [&str; 5] = ["llvmpipe", "softpipe", "swrast", "swiftshader", "software rasterizer"];

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
    /// A context, on the display where there is one; with a window of that size, where one is wanted and can be had. A
    /// test's report is told what a reader of its numbers must know.
    ///
    /// # Errors
    /// There is no EGL here, or none of its drivers starts.
    pub fn open(kit: &mut Kit, window: Option<(u32, u32)>) -> Result<Gl, Stop> {
        let (gl, notes) = Gl::new(window)?;
        notes.iter().for_each(|note| kit.note(note));
        if gl.software() {
            let name = &gl.renderer;
            kit.note(&format!("drawn by {name}, a software renderer: this measures processors, no graphics card"));
        }
        kit.server(gl.place.server());
        Ok(gl)
    }

    fn new(window: Option<(u32, u32)>) -> Result<(Gl, Vec<String>), Stop> {
        let (place, notes) = Place::open(window)?;
        // SAFETY: a context is current on this thread, and stays so while `place` lives, which knows its functions.
        let gl = unsafe { glow::Context::from_loader_function(|name| place.address(name)) };
        // SAFETY: as above.
        let renderer = unsafe { gl.get_parameter_string(glow::RENDERER) };
        Ok((Gl { gl, place, renderer }, notes))
    }

    /// Whether processors draw, and no graphics card.
    pub fn software(&self) -> bool {
        let name = self.renderer.to_lowercase();
        SOFTWARE.iter().any(|known| name.contains(known))
    }

    /// Whether frames go to a window.
    pub fn windowed(&self) -> bool {
        self.place.windowed()
    }

    /// Compiles and links.
    ///
    /// # Errors
    /// The driver refuses them.
    pub fn shader(&self, vertex: &str, fragment: &str) -> Result<Shader, Stop> {
        let refused = |what: &str, why: String| {
            Stop::Error(format!("{} refuses {what}: {}", self.renderer, why.trim().replace('\n', "; ")))
        };
        // SAFETY: the context is current; shaders and program are its own.
        unsafe {
            let program = self.gl.create_program().map_err(|why| refused("a program", why))?;
            for (kind, source) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
                let shader = self.gl.create_shader(kind).map_err(|why| refused("a shader", why))?;
                self.gl.shader_source(shader, &format!("#version 300 es\n{source}"));
                self.gl.compile_shader(shader);
                if !self.gl.get_shader_compile_status(shader) {
                    return Err(refused("a shader", self.gl.get_shader_info_log(shader)));
                }
                self.gl.attach_shader(program, shader);
            }
            self.gl.link_program(program);
            if !self.gl.get_program_link_status(program) {
                return Err(refused("a program", self.gl.get_program_info_log(program)));
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

    /// Hands over triangles: each vertex has attributes of `parts` numbers, and three `indices` make a triangle.
    ///
    /// # Errors
    /// An index is of no vertex, or the driver has no memory.
    pub fn mesh(&self, parts: &[i32], vertices: &[f32], indices: &[u16]) -> Result<Mesh, Stop> {
        let whole: i32 = parts.iter().sum();
        let number = vertices.len() / usize::try_from(whole).unwrap_or(1).max(1);
        if indices.iter().any(|index| usize::from(*index) >= number) {
            return Err(Stop::Error(format!("a triangle has a corner that is none of {number}: report this as a bug")));
        }
        let bytes: Vec<u8> = vertices.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let order: Vec<u8> = indices.iter().flat_map(|number| number.to_ne_bytes()).collect();
        // SAFETY: the context is current, and copies both slices; all indices are of vertices that are there.
        unsafe {
            let array = self.gl.create_vertex_array().map_err(|why| self.refused("a mesh", &why))?;
            self.gl.bind_vertex_array(Some(array));
            for (kind, data) in [(glow::ARRAY_BUFFER, &bytes), (glow::ELEMENT_ARRAY_BUFFER, &order)] {
                let buffer = self.gl.create_buffer().map_err(|why| self.refused("a mesh", &why))?;
                self.gl.bind_buffer(kind, Some(buffer));
                self.gl.buffer_data_u8_slice(kind, data, glow::STATIC_DRAW);
            }
            let mut offset = 0;
            for (place, part) in (0..).zip(parts) {
                self.gl.enable_vertex_attrib_array(place);
                self.gl.vertex_attrib_pointer_f32(place, *part, glow::FLOAT, false, whole * 4, offset * 4);
                offset += part;
            }
            self.errors("a mesh")?;
            Ok(Mesh { array, indices: indices.len() as i32 })
        }
    }

    /// A texture of `side` pixels, a power of two, that repeats, with all smaller levels, trilinear; `colour` is a
    /// level's at (u, v). It is what shaders read from then on.
    ///
    /// # Errors
    /// The driver has no memory.
    pub fn texture(&self, side: u32, colour: impl Fn(u32, f32, f32) -> [u8; 4]) -> Result<(), Stop> {
        let kind = glow::TEXTURE_2D;
        // SAFETY: the context is current, and copies each slice, which has the four bytes of every pixel of its level.
        unsafe {
            let texture = self.gl.create_texture().map_err(|why| self.refused("a texture", &why))?;
            self.gl.bind_texture(kind, Some(texture));
            for level in 0..=side.ilog2() {
                let side = side >> level;
                let at = |place: u32| (place as f32 + 0.5) / side as f32;
                let places = (0..side * side).map(|place| (place % side, place / side));
                let pixels: Vec<u8> = places.flat_map(|(x, y)| colour(level, at(x), at(y))).collect();
                let (level, side, data) = (level as i32, side as i32, glow::PixelUnpackData::Slice(Some(&pixels)));
                let (format, bytes) = (glow::RGBA, glow::UNSIGNED_BYTE);
                self.gl.tex_image_2d(kind, level, glow::RGBA8 as i32, side, side, 0, format, bytes, data);
            }
            for (name, value) in [
                (glow::TEXTURE_MIN_FILTER, glow::LINEAR_MIPMAP_LINEAR),
                (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
                (glow::TEXTURE_WRAP_S, glow::REPEAT),
                (glow::TEXTURE_WRAP_T, glow::REPEAT),
            ] {
                self.gl.tex_parameter_i32(kind, name, value as i32);
            }
        }
        self.errors("a texture")
    }

    /// A picture of that size, with a depth buffer. It is drawn to from then on.
    ///
    /// # Errors
    /// The driver has none so large.
    pub fn target(&self, width: u32, height: u32) -> Result<Target, Stop> {
        // SAFETY: the context is current.
        let most = unsafe { self.gl.get_parameter_i32(glow::MAX_RENDERBUFFER_SIZE) };
        if i64::from(width.max(height)) > i64::from(most) {
            let why =
                format!("{} draws no picture wider or higher than {most} pixels: try a smaller size=", self.renderer);
            return Err(Stop::Skip(why));
        }
        // SAFETY: the context is current; all objects are its own.
        let frame = unsafe {
            let frame = self.gl.create_framebuffer().map_err(|why| self.refused("a picture", &why))?;
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
            for (format, place) in
                [(glow::RGBA8, glow::COLOR_ATTACHMENT0), (glow::DEPTH_COMPONENT24, glow::DEPTH_ATTACHMENT)]
            {
                let buffer = self.gl.create_renderbuffer().map_err(|why| self.refused("a picture", &why))?;
                self.gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                self.gl.renderbuffer_storage(glow::RENDERBUFFER, format, width as i32, height as i32);
                self.gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, place, glow::RENDERBUFFER, Some(buffer));
            }
            let complete = self.gl.check_framebuffer_status(glow::FRAMEBUFFER) == glow::FRAMEBUFFER_COMPLETE;
            complete.then_some(frame)
        };
        self.errors("a picture of that size")?;
        let target = frame.map(|frame| Target { frame, width, height });
        let target = target.ok_or_else(|| self.refused("a picture of that size", "it is not complete"))?;
        self.draw_to(&target);
        Ok(target)
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

    /// Has what is drawn mixed with what is there, by its alpha.
    pub fn blend(&self) {
        // SAFETY: the context is current.
        unsafe {
            self.gl.enable(glow::BLEND);
            self.gl.blend_func(glow::SRC_ALPHA, glow::ONE_MINUS_SRC_ALPHA);
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
        // SAFETY: the context is current; `Gl::mesh` has seen that all indices are of vertices that are there.
        unsafe {
            self.gl.bind_vertex_array(Some(mesh.array));
            self.gl.draw_elements_instanced(mode, indices, glow::UNSIGNED_SHORT, 0, times);
        }
    }

    /// Shows the frame where there is a window, in whose queue the driver holds back who is too fast; else waits until
    /// all is drawn.
    ///
    /// # Errors
    /// The window is gone.
    pub fn show(&self) -> Result<(), Stop> {
        if self.windowed() {
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

    /// Reads `target`, which is drawn to, into `pixels`: rows from the bottom, red, green, blue and alpha of each.
    pub fn read(&self, target: &Target, pixels: &mut Vec<u8>) {
        pixels.resize(target.width as usize * target.height as usize * 4, 0);
        let (width, height) = (target.width as i32, target.height as i32);
        let data = glow::PixelPackData::Slice(Some(pixels));
        // SAFETY: the context is current; the slice has room for four bytes of every pixel, as just made sure.
        unsafe { self.gl.read_pixels(0, 0, width, height, glow::RGBA, glow::UNSIGNED_BYTE, data) }
    }

    /// Whether all went well so far.
    ///
    /// # Errors
    /// The driver has seen an error.
    pub fn errors(&self, what: &str) -> Result<(), Stop> {
        // SAFETY: the context is current.
        match unsafe { self.gl.get_error() } {
            glow::NO_ERROR => Ok(()),
            glow::OUT_OF_MEMORY => Err(self.refused(what, "it has no memory left")),
            code => Err(self.refused(what, &format!("GL error {code:#06x}"))),
        }
    }

    fn refused(&self, what: &str, why: &str) -> Stop {
        Stop::Error(format!("{} fails at {what}: {why}: try another driver, or LIBGL_ALWAYS_SOFTWARE=1", self.renderer))
    }
}

/// What draws here, as (name, label, value); nothing where there is no GL.
pub fn facts() -> Vec<Fact> {
    let Ok((gl, _)) = Gl::new(None) else { return Vec::new() };
    // SAFETY: the context is current.
    let tells = |name: u32| unsafe { gl.gl.get_parameter_string(name) };
    let rendering = if gl.software() { "software" } else { "hardware" };
    let mut facts = vec![
        ("graphics.gl_renderer", "GL renderer", gl.renderer.clone()),
        ("graphics.gl_vendor", "GL vendor", tells(glow::VENDOR)),
        ("graphics.gl_version", "GL version", tells(glow::VERSION)),
        ("graphics.gl_platform", "GL platform", gl.place.platform.to_owned()),
        ("graphics.rendering", "Rendering", rendering.to_owned()),
    ];
    // Threads may begin with the first drawing.
    if gl.renderer.contains("llvmpipe") && gl.target(64, 64).is_ok() {
        gl.clear();
        gl.finish();
        facts.push(("graphics.gl_threads", "Threads of the software renderer", threads().to_string()));
    }
    facts
}

/// Threads of this process that llvmpipe draws with.
fn threads() -> usize {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.flatten().map(name).filter(|name| name.starts_with("llvmpipe-")).count()
}
