//! The graphics tests: `unixmark-graphics NAME key=value …` speaks the protocol of `programs/kit.h`.
//!
//! A program of its own, and in Rust: the tool needs neither a display nor a GL driver to be built and to start, and
//! the libraries that speak to both are Rust's. A test is one module here, one line below, and a row in
//! `catalogue/2d.toml` or `3d.toml`.

mod canvas;
mod draw;
mod facts;
mod fill;
mod gears;
mod gl;
mod kit;
mod picture;
mod readback;
mod server;
mod texture;
mod triangles;
mod wayland;
mod x;
mod x11perf;

use std::process::ExitCode;

use kit::{Kit, Stop};

/// A test: it prepares itself, measures, and keeps what it has to report.
type Program = fn(&mut Kit) -> Result<(), Stop>;

/// The tests, by the name that follows the slash in their rows' `program`.
const PROGRAMS: &[(&str, Program)] = &[
    ("draw", draw::run),
    ("fill", fill::run),
    ("gears", gears::run),
    ("readback", readback::run),
    ("texture", texture::run),
    ("triangles", triangles::run),
    ("wayland", wayland::run),
    ("x11perf", x11perf::run),
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let words: Vec<String> = words.collect();
    if name == "facts" {
        return facts::tell();
    }
    let Some((_, run)) = PROGRAMS.iter().find(|program| program.0 == name) else {
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.0).collect();
        return kit::say(&Stop::Error(format!("there is no '{name}' here: try one of {}", names.join(", "))));
    };
    let measured = Kit::new(words).and_then(|mut kit| {
        run(&mut kit)?;
        kit.finish()
    });
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => kit::say(&stop),
    }
}
