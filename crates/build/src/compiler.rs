//! The system's C compiler, and how programs are built by it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;

use super::FILES;
use super::cache::Partial;
use super::sums;
use catalogue::Test;

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

impl Compiler {
    /// Returns the system's compiler: $CC, or `cc` as UnixBench's Makefile takes it.
    ///
    /// # Errors
    /// There is none.
    pub fn usual() -> Result<Compiler> {
        Compiler::new(&std::env::var("CC").ok().filter(|cc| !cc.is_empty()).unwrap_or_else(|| "cc".to_owned()))
    }

    /// Returns the compiler that is called `command`.
    ///
    /// # Errors
    /// It is not installed or does not say its version.
    pub fn new(command: &str) -> Result<Compiler> {
        let output = Command::new(command)
            .arg("--version")
            .output()
            .with_context(|| format!("the C compiler '{command}' cannot be run"))?;
        ensure!(output.status.success(), "the C compiler '{command}' fails even at --version");
        let version = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
        Ok(Compiler { command: command.to_owned(), version })
    }

    /// Builds the programs of `tests` from the sources below `folder`, on all processors.
    ///
    /// # Errors
    /// The first failure ends it.
    pub fn build_all(&self, folder: &Path, tests: &[&Test], flags: &[&str], partial: &Partial) -> Result<()> {
        tests.par_iter().try_for_each(|test| self.build(folder, test, flags, partial))
    }

    fn build(&self, folder: &Path, test: &Test, flags: &[&str], partial: &Partial) -> Result<()> {
        let file = partial.path(test.binary());
        let define: Vec<String> = test.define.iter().map(|item| format!("-D{item}")).collect();
        let units: Vec<PathBuf> = test.units().map(PathBuf::from).collect();
        let flags = [flags, &words(&define)].concat();
        let output = self.compile(&folder.join("src"), &flags, &units, &file, partial)?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = stderr.lines().take(5).collect();
            bail!(
                "the C compiler failed on {} ({}): {}\ntry --build portable, or another compiler with CC=…",
                test.binary(),
                output.status,
                lines.join("\n  ")
            );
        }
        sums::install(&file, folder, test.binary())
    }

    /// Compiles C files, relative to the kit's folder or absolute, and links them with the kit; returns how that went.
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
        let mut command = Command::new(&self.command);
        // Its own files between C and program are nobody else's either.
        command.env("TMPDIR", partial.folder());
        command.current_dir(kit).args(flags).args(["-I", "."]).args(units).args(self::kit());
        command.arg("-o").arg(out).args(["-Wl,--as-needed", "-lm"]);
        command.output().with_context(|| format!("the C compiler '{}' cannot be run", self.command))
    }
}

fn words(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Returns the kit that every program is linked with: the C files that lie in `programs/` itself.
fn kit() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name).filter(|name| !name.contains('/') && name.ends_with(".c"))
}
