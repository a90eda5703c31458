//! The graphics tests: `unixmark-graphics NAME key=value …` speaks the protocol of
//! `programs/kit.h`.
//!
//! A program of its own, and in Rust: the tool needs neither a display nor a GL driver to be built
//! and to start, and the libraries that speak to both are Rust's. A test is one module here, one
//! line below, and a row in `catalogue/2d.toml` or `3d.toml`.

mod canvas;
mod facts;
mod gears;
mod gl;
mod kit;
mod picture;
mod server;
mod triangles;
mod x;
mod x11perf;

use std::process::ExitCode;

use kit::{Kit, Stop};

/// A test: it prepares itself, measures, and keeps what it has to report.
type Program = fn(&mut Kit) -> Result<(), Stop>;

/// The tests, by the name that follows the slash in their rows' `program`.
const PROGRAMS: &[(&str, Program)] =
    &[("gears", gears::run), ("triangles", triangles::run), ("x11perf", x11perf::run)];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    if name == "facts" {
        return facts::print();
    }

    match run_program(&name, words.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => stop.print(),
    }
}

fn run_program(name: &str, arguments: Vec<String>) -> Result<(), Stop> {
    let Some((_, run)) = PROGRAMS.iter().find(|program| program.0 == name) else {
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.0).collect();
        let why = format!("there is no '{name}' here: try one of {}", names.join(", "));
        return Err(Stop::Error(why));
    };

    let mut kit = Kit::new(arguments)?;
    run(&mut kit)?;
    kit.finish()
}
