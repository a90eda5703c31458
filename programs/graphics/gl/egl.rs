//! Where GL draws: EGL's displays, contexts and surfaces, loaded at run time.

use std::ffi::c_void;

use khronos_egl::{self as egl, Config, Display, DynamicInstance, EGL1_4, Enum, Int, Surface};
use rustix::process::Pid;

use crate::kit::Stop;
use crate::x::{self, X};

type Egl = DynamicInstance<EGL1_4>;

/// EGL_PLATFORM_X11_KHR, EGL_PLATFORM_SURFACELESS_MESA and EGL_PLATFORM_DEVICE_EXT, which
/// khronos-egl does not name.
const X11: Enum = 0x31D5;
const SURFACELESS: Enum = 0x31DD;
const DEVICE: Enum = 0x313F;
/// EGL_OPENGL_ES3_BIT.
const ES3: Int = 0x40;

/// `eglGetPlatformDisplayEXT`: drivers of EGL 1.4 have it too, and it does not panic where there is
/// no display.
type GetPlatformDisplay = unsafe extern "system" fn(Enum, *mut c_void, *const Int) -> *mut c_void;
/// `eglQueryDevicesEXT`.
type QueryDevices = unsafe extern "system" fn(Int, *mut *mut c_void, *mut Int) -> egl::Boolean;

/// A context that is current, where it draws, and what keeps it there.
pub struct Place {
    egl: Egl,
    display: Display,
    /// What frames are shown on, and the connection that keeps the window.
    window: Option<(Surface, X)>,
    /// x11, surfaceless, device or default.
    pub platform: &'static str,
}

impl Place {
    /// On the X display where there is one, with a window where that is wanted; else off-screen.
    /// The notes say why not.
    ///
    /// # Errors
    /// There is no EGL here, or none of its drivers starts.
    pub fn open(window: Option<(u32, u32)>) -> Result<(Place, Vec<String>), Stop> {
        let mut notes = Vec::new();
        let mut refusals = Vec::new();

        if is_set("DISPLAY") {
            match on_x(load()?, window) {
                Ok(place) => return Ok((place, notes)),
                Err(why) => {
                    notes.push(format!("not drawn on the X display but off-screen: {why}"));
                    refusals.push(format!("x11: {why}"));
                }
            }
        } else if window.is_some() {
            let why = if is_set("WAYLAND_DISPLAY") {
                "the display is Wayland's"
            } else {
                "$DISPLAY is not set"
            };
            notes.push(format!("there is no window, drawn off-screen: {why}"));
        }

        for platform in ["surfaceless", "device", "default"] {
            match off_screen(load()?, platform) {
                Ok(place) => return Ok((place, notes)),
                Err(why) => refusals.push(format!("{platform}: {why}")),
            }
        }
        Err(Stop::Skip(format!(
            "no driver for OpenGL ES 3 starts ({}): try libegl-mesa0 and libgl1-mesa-dri, which have a software renderer",
            refusals.join("; ")
        )))
    }

    /// The address of a function of GL.
    pub fn address(&self, name: &str) -> *const c_void {
        self.egl
            .get_proc_address(name)
            .map_or(std::ptr::null(), |function| function as *const c_void)
    }

    /// Whether frames go to a window.
    pub fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// The X server that shows frames, where it is on this machine.
    pub fn server(&self) -> Option<Pid> {
        self.window.as_ref().and_then(|(_, x)| x.server())
    }

    /// Shows the frame, where there is a window.
    ///
    /// # Errors
    /// The window is gone.
    pub fn swap(&self) -> Result<(), Stop> {
        let Some((surface, _)) = &self.window else {
            return Ok(());
        };
        self.egl.swap_buffers(self.display, *surface).map_err(|why| {
            Stop::Error(format!(
                "a frame cannot be shown ({why:?}): look whether the X server still runs"
            ))
        })
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// EGL's library, with all its functions.
fn load() -> Result<Egl, Stop> {
    // SAFETY: libEGL.so.1 is EGL on every system that has a file of that name where libraries are.
    let egl = unsafe { Egl::load_required_from_filename("libEGL.so.1") };
    egl.map_err(|why| {
        Stop::Skip(format!(
            "EGL cannot be loaded ({why}): try to install libegl1, and libgl1-mesa-dri for a software renderer"
        ))
    })
}

/// A context on the X display that `$DISPLAY` names.
fn on_x(egl: Egl, window: Option<(u32, u32)>) -> Result<Place, String> {
    let x = x::connect().map_err(Stop::reason)?;
    if !extensions(&egl).contains("_platform_x11") {
        return Err("this EGL knows no X11".to_owned());
    }
    let display = platform_display(&egl, X11, std::ptr::null_mut())?;
    let Some((width, height)) = window else {
        return draw_without_window(egl, display, "x11");
    };

    let mut shown_configs = Vec::new();
    for config in start_driver(&egl, display, egl::WINDOW_BIT)? {
        let visual = egl.get_config_attrib(display, config, egl::NATIVE_VISUAL_ID).ok();
        let visual = visual.and_then(|visual| u32::try_from(visual).ok());
        if let Some(look) = visual.and_then(|visual| x.look_of(visual)) {
            shown_configs.push((config, look));
        }
    }
    // A visual deeper than the root's may be see-through where there is a compositor.
    let root_depth = x.root_look().depth;
    let (config, look) = shown_configs
        .into_iter()
        .min_by_key(|(_, look)| look.depth != root_depth)
        .ok_or("no configuration of this EGL has a visual of the screen")?;

    // Sizes are 16384 at most.
    let id = x.show_window(width as u16, height as u16, look, 0).map_err(Stop::reason)?;
    // SAFETY: EGL's native window on X11 is the window's number, and the window is there.
    let surface =
        unsafe { egl.create_window_surface(display, config, id as usize as *mut c_void, None) };
    let surface = surface.map_err(|why| format!("the window gets no surface ({why:?})"))?;
    make_current(&egl, display, config, Some(surface))?;

    // The refresh of the screen shall not bound the rate.
    egl.swap_interval(display, 0)
        .map_err(|why| format!("frames cannot be shown without waiting ({why:?})"))?;
    Ok(Place { egl, display, window: Some((surface, x)), platform: "x11" })
}

/// A context without a display server.
fn off_screen(egl: Egl, platform: &'static str) -> Result<Place, String> {
    let extensions = extensions(&egl);
    let display = match platform {
        "surfaceless" if extensions.contains("EGL_MESA_platform_surfaceless") => {
            platform_display(&egl, SURFACELESS, std::ptr::null_mut())?
        }
        "device" if extensions.contains("EGL_EXT_platform_device") => {
            platform_display(&egl, DEVICE, first_device(&egl)?)?
        }
        // SAFETY: EGL_DEFAULT_DISPLAY is always allowed.
        "default" => {
            unsafe { egl.get_display(egl::DEFAULT_DISPLAY) }.ok_or("there is no display")?
        }
        _ => return Err("this EGL does not know it".to_owned()),
    };
    draw_without_window(egl, display, platform)
}

fn draw_without_window(
    egl: Egl,
    display: Display,
    platform: &'static str,
) -> Result<Place, String> {
    let configs = start_driver(&egl, display, egl::PBUFFER_BIT)?;
    let config = *configs.first().ok_or("there is no fitting configuration")?;
    make_current(&egl, display, config, None)?;
    Ok(Place { egl, display, window: None, platform })
}

/// What this EGL can do before it has a display.
fn extensions(egl: &Egl) -> String {
    let told = egl.query_string(None, egl::EXTENSIONS);
    told.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

fn platform_display(egl: &Egl, platform: Enum, native: *mut c_void) -> Result<Display, String> {
    let function =
        egl.get_proc_address("eglGetPlatformDisplayEXT").ok_or("this EGL knows no platforms")?;
    // SAFETY: EGL says that this is the function of that name, whose type is in
    // EGL_EXT_platform_base; the platform is one that this EGL knows, and null or a device of its
    // own are what it allows for `native`.
    let display = unsafe {
        let get: GetPlatformDisplay = std::mem::transmute(function);
        get(platform, native, std::ptr::null())
    };
    if display.is_null() {
        return Err("there is no such display".to_owned());
    }
    // SAFETY: it is a display, as just made sure.
    Ok(unsafe { Display::from_ptr(display) })
}

/// The first graphics card that EGL sees.
fn first_device(egl: &Egl) -> Result<*mut c_void, String> {
    let function = egl.get_proc_address("eglQueryDevicesEXT").ok_or("this EGL knows no devices")?;
    let (mut device, mut number) = (std::ptr::null_mut(), 0);
    // SAFETY: EGL says that this is the function of that name, whose type is in
    // EGL_EXT_device_enumeration; there is room for the one device asked for.
    let told = unsafe {
        let query: QueryDevices = std::mem::transmute(function);
        query(1, &raw mut device, &raw mut number)
    };
    if told == egl::TRUE && number > 0 { Ok(device) } else { Err("it has no device".to_owned()) }
}

/// Starts the driver, and returns what it has for OpenGL ES 3 in 8 bits per colour.
fn start_driver(egl: &Egl, display: Display, surface_type: Int) -> Result<Vec<Config>, String> {
    egl.initialize(display).map_err(|why| format!("its driver does not start ({why:?})"))?;
    egl.bind_api(egl::OPENGL_ES_API).map_err(|why| format!("it has no OpenGL ES ({why:?})"))?;
    let mut wanted =
        vec![egl::SURFACE_TYPE, surface_type, egl::RENDERABLE_TYPE, ES3, egl::DEPTH_SIZE, 16];
    for colour in [egl::RED_SIZE, egl::GREEN_SIZE, egl::BLUE_SIZE] {
        wanted.extend([colour, 8]);
    }
    wanted.extend([egl::SAMPLE_BUFFERS, 0, egl::NONE]);
    let mut configs = Vec::with_capacity(256);
    egl.choose_config(display, &wanted, &mut configs)
        .map_err(|why| format!("it has no configurations ({why:?})"))?;
    Ok(configs)
}

/// Makes a context current, with a surface where there is one: pictures in the driver's memory need
/// none, or, where the driver wants one all the same, the smallest.
fn make_current(
    egl: &Egl,
    display: Display,
    config: Config,
    surface: Option<Surface>,
) -> Result<(), String> {
    let attributes = [egl::CONTEXT_CLIENT_VERSION, 3, egl::NONE];
    let context = egl.create_context(display, config, None, &attributes);
    let context = context.map_err(|why| format!("it has no context for OpenGL ES 3 ({why:?})"))?;
    let bind = |surface| egl.make_current(display, surface, surface, Some(context));

    let bound = match (bind(surface), surface) {
        (Err(_), None) => {
            let size = [egl::WIDTH, 1, egl::HEIGHT, 1, egl::NONE];
            let smallest = egl.create_pbuffer_surface(display, config, &size);
            smallest.and_then(|surface| bind(Some(surface)))
        }
        (bound, _) => bound,
    };
    bound.map_err(|why| format!("its context cannot be used ({why:?})"))
}
