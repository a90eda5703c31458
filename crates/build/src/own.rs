//! A program of the user's, built against the kit that is part of the tool.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use files::Destination;

use super::compiler::{self, Compiler};
use super::{FILES, install_files, start_partial};

/// The build of a program.
#[derive(Debug)]
pub struct Built {
    /// The compiler's version and its flags.
    pub how: String,
    /// The compiler's warnings.
    pub warnings: String,
}

/// Compiles the C files `sources` with the kit into `out`, with the flags of the catalogue's own
/// programs. A source that does not exist may be one that comes with the kit, such as
/// `thread/team.c`.
///
/// # Errors
/// There is no compiler, it fails, or a file does not exist.
pub fn program(sources: &[PathBuf], out: &Path) -> Result<Built> {
    let cannot_write = || format!("{} cannot be written; try another --out", out.display());
    let destination = Destination::check(out).with_context(cannot_write)?;
    let units =
        sources.iter().map(|source| compiled_unit(source)).collect::<Result<Vec<PathBuf>>>()?;
    let compiler =
        Compiler::usual().context("nothing can be built; install a C compiler or set CC")?;
    let (_, partial) = start_partial()?;
    let kit = partial.path("kit");
    install_files(&kit, &partial)?;
    let made = partial.path("program");
    let flags = compiler::flags();
    let output = compiler.compile(&kit.join("src"), &flags, &units, &made, &partial)?;
    let warnings = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{}the C compiler failed ({})", warnings, output.status);
    fs::read(&made)
        .and_then(|bytes| destination.write_program(&bytes))
        .with_context(cannot_write)?;
    Ok(Built { how: format!("{}, {}", compiler.version, flags.join(" ")), warnings })
}

/// A C file as the compiler finds it from the kit's folder.
fn compiled_unit(source: &Path) -> Result<PathBuf> {
    if source.exists() {
        return std::path::absolute(source)
            .with_context(|| format!("{} cannot be read", source.display()));
    }
    if FILES.iter().any(|(name, _)| Path::new(name) == source) {
        return Ok(source.to_path_buf());
    }

    bail!(
        "{} does not exist, and the kit has no such file; `unixmark new test NAME` makes one",
        source.display()
    )
}
