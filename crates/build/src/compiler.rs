//! The system's C compiler, and how programs are built by it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;

use super::FILES;
use super::cache::Partial;
use super::sums;
use catalogue::Test;
use machine::find_command;

/// A compiler and the first line of its `--version`.
pub(super) struct Compiler {
    command: String,
    pub version: String,
}

/// UnixBench 6.0.0's flags for this architecture.
pub(super) fn flags() -> Vec<&'static str> {
    let mut flags = vec!["-Wall", "-pedantic", "-O3", "-ffast-math"];
    flags.extend(match std::env::consts::ARCH {
        "powerpc64" => ["-mcpu=native", "-mtune=native"],
        "riscv64" => ["-march=rv64g", "-mabi=lp64d"],
        _ => ["-march=native", "-mtune=native"],
    });
    // Files of 2 GiB and more, where the C library does not take them by itself.
    flags.extend(cfg!(target_pointer_width = "32").then_some("-D_FILE_OFFSET_BITS=64"));
    flags
}

/// The flags of libraries that programs of the user's load: these bring the C library, and may be
/// linked with any. `build.rs` has the same for portable builds.
pub(super) const LIBRARY_FLAGS: [&str; 5] =
    ["-O2", "-fPIC", "-shared", "-nostdlib", "-fno-builtin"];

impl Compiler {
    /// The system's compiler: $CC, or `cc` as UnixBench's Makefile takes it.
    ///
    /// # Errors
    /// It cannot be run, or fails.
    pub fn usual() -> Result<Compiler> {
        let chosen = std::env::var("CC").ok().filter(|cc| !cc.is_empty());
        Compiler::new(chosen.as_deref().unwrap_or("cc"))
    }

    /// The compiler that is called `command`.
    ///
    /// # Errors
    /// It cannot be run, or fails at `--version`.
    pub fn new(command: &str) -> Result<Compiler> {
        let output = Command::new(command)
            .arg("--version")
            .output()
            .with_context(|| format!("the C compiler '{command}' cannot be run"))?;
        ensure!(output.status.success(), "the C compiler '{command}' fails even at --version");
        let version =
            String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
        Ok(Compiler { command: command.to_owned(), version })
    }

    /// The file that is executed, without links: two compilers may say that they are one version,
    /// as a wrapper does that names the C library of the compiler behind it.
    pub fn file(&self) -> PathBuf {
        let found = find_command(&self.command).unwrap_or_else(|| PathBuf::from(&self.command));
        fs::canonicalize(&found).unwrap_or(found)
    }

    /// Builds the programs of `tests` from the sources below `folder`, on all processors.
    ///
    /// # Errors
    /// The first failure ends it.
    pub fn build_all(
        &self,
        folder: &Path,
        tests: &[&Test],
        flags: &[&str],
        partial: &Partial,
    ) -> Result<()> {
        tests.par_iter().try_for_each(|test| self.build(folder, test, flags, partial))
    }

    fn build(&self, folder: &Path, test: &Test, flags: &[&str], partial: &Partial) -> Result<()> {
        let file = partial.path(test.binary());
        let define: Vec<String> = test.define.iter().map(|item| format!("-D{item}")).collect();
        let units: Vec<PathBuf> = test.units().map(PathBuf::from).collect();
        let flags = [flags, &words(&define)].concat();
        let output = self.compile(&folder.join("src"), &flags, &units, &file, partial)?;
        check(&output, test.binary())?;
        sums::install(&file, folder, test.binary())
    }

    /// Builds a library that programs of the user's load, without the kit.
    ///
    /// # Errors
    /// The compiler fails or cannot be started.
    pub fn build_library(&self, folder: &Path, library: &str, partial: &Partial) -> Result<()> {
        let name = catalogue::library_file(library);
        let file = partial.path(&name);
        let output = self.run(&folder.join("src"), partial, |command| {
            command.args(LIBRARY_FLAGS).args(["-I", "."]);
            command.arg(format!("{library}.c")).arg("-o").arg(&file);
        })?;
        check(&output, &name)?;
        sums::install(&file, folder, &name)
    }

    /// Compiles C files, relative to the kit's folder or absolute, and links them with the kit. The
    /// output says whether that succeeded. However this process ends, the compiler ends with it.
    ///
    /// # Errors
    /// The compiler cannot be started.
    pub fn compile(
        &self,
        kit: &Path,
        flags: &[&str],
        units: &[PathBuf],
        out: &Path,
        partial: &Partial,
    ) -> Result<Output> {
        self.run(kit, partial, |command| {
            command.args(flags).args(["-I", "."]).args(units).args(self::kit());
            command.arg("-o").arg(out).args(["-Wl,--as-needed", "-lm"]);
        })
    }

    /// Runs the compiler in the kit's folder, with the arguments that `add_arguments` adds.
    fn run(
        &self,
        kit: &Path,
        partial: &Partial,
        add_arguments: impl FnOnce(&mut Command),
    ) -> Result<Output> {
        let output = processes::tethered(&self.command, |command| {
            // Its temporary files, too, are where nobody else can write, and go with `partial`.
            command.env("TMPDIR", partial.folder());
            command.current_dir(kit);
            add_arguments(command);
        });
        output.with_context(|| format!("the C compiler '{}' cannot be run", self.command))
    }
}

/// Fails if the compiler did, with the first lines of what it wrote.
fn check(output: &Output, name: &str) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }

    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = stderr.lines().take(5).collect();
    bail!(
        "the C compiler failed on {name} ({}): {}\ntry --build portable, or another compiler with CC=…",
        output.status,
        lines.join("\n  ")
    );
}

fn words(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// The kit that every program is linked with: the C files that lie in `programs/` itself.
fn kit() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name).filter(|name| !name.contains('/') && name.ends_with(".c"))
}
