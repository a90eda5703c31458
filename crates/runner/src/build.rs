//! The measured programs: built here by the system's compiler, or taken from the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use catalogue::{GRAPHICS, Test};
use journal::Build;
use machine::Machine;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}
use embedded::{FILES, PORTABLE};

/// Which build the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Wanted {
    /// Compiled here by the system's cc with UnixBench's flags
    Native,
    /// Compiled with the tool, static, for any machine of the architecture
    Portable,
}

/// Returns the program of the graphics tests, which was built with the tool and lies beside it; nothing where it does not.
pub fn graphics() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(GRAPHICS);
    path.exists().then_some(path)
}

/// Programs by the name of their build; the usual one has none.
pub type Builds = BTreeMap<String, Programs>;

/// Programs that are ready to be spawned.
#[derive(Debug, Clone)]
pub struct Programs {
    /// How they were built.
    pub build: Build,
    /// What the user should know of the choice.
    pub warning: Option<String>,
    folder: PathBuf,
}

impl Programs {
    /// Prepares the programs of `tests`; `wanted` or, by default, native where there is a compiler.
    ///
    /// # Errors
    /// The compiler fails, there is none although native was asked for, or the cache cannot be
    /// written.
    pub fn prepare(machine: &Machine, tests: &[&Test], wanted: Option<Wanted>) -> Result<Programs> {
        let compiler = usual_compiler();
        match (wanted, compiler) {
            (Some(Wanted::Native) | None, Ok(compiler)) => native(machine, tests, &compiler),
            (Some(Wanted::Native), Err(missing)) => {
                Err(missing.context("no native build: install a C compiler or try --build portable"))
            }
            (None, Err(_)) => {
                let mut programs = portable(tests)?;
                programs.warning = Some(
                    "there is no C compiler here, so the portable programs ran: compare only with portable runs"
                        .to_owned(),
                );
                Ok(programs)
            }
            (Some(Wanted::Portable), _) => portable(tests),
        }
    }

    /// Prepares the programs of `tests` as a condition wants them: `cc=NAME` or `build=native|portable`.
    ///
    /// # Errors
    /// The compiler fails or is missing, or the name means nothing.
    pub fn named(machine: &Machine, tests: &[&Test], name: &str) -> Result<Programs> {
        match name.split_once('=') {
            Some(("cc", command)) => native(machine, tests, &compiler(command)?),
            Some(("build", "native")) => Programs::prepare(machine, tests, Some(Wanted::Native)),
            Some(("build", "portable")) => portable(tests),
            _ => bail!("'{name}' is no build; try cc=clang or build=portable"),
        }
    }

    /// The folder with the scripts and data that tests name as `{programs}`.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// Returns the executable of `test` for copy number `copy`: each copy has a file of its own,
    /// since a shared one is a lock that all copies take (UnixBench issue 88).
    ///
    /// # Errors
    /// The copy cannot be written.
    pub fn executable(&self, test: &Test, copy: u32) -> Result<PathBuf> {
        if test.is_foreign() {
            return Ok(PathBuf::from(&test.program));
        }
        let first = self.folder().join(test.binary());
        if copy == 0 {
            return Ok(first);
        }
        let folder = self.folder.join(format!("copy-{copy}"));
        let own = folder.join(test.binary());
        if !own.exists() {
            fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
            let bytes = fs::read(&first).with_context(|| format!("{} cannot be read", first.display()))?;
            install(&own, &bytes, 0o755)?;
        }
        Ok(own)
    }
}

/// A compiler and the first line of its `--version`.
struct Compiler {
    command: String,
    version: String,
}

/// Returns the system's compiler: $CC, or `cc` as UnixBench's Makefile takes it.
fn usual_compiler() -> Result<Compiler> {
    compiler(&std::env::var("CC").ok().filter(|cc| !cc.is_empty()).unwrap_or_else(|| "cc".to_owned()))
}

fn compiler(command: &str) -> Result<Compiler> {
    let output = Command::new(command)
        .arg("--version")
        .output()
        .with_context(|| format!("the C compiler '{command}' cannot be run"))?;
    if !output.status.success() {
        bail!("the C compiler '{command}' fails even at --version");
    }
    let version = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
    Ok(Compiler { command: command.to_owned(), version })
}

/// UnixBench 6.0.0's flags for this architecture.
fn native_flags() -> Vec<&'static str> {
    let mut flags = vec!["-Wall", "-pedantic", "-O3", "-ffast-math"];
    flags.extend(match std::env::consts::ARCH {
        "powerpc64" => ["-mcpu=native", "-mtune=native"],
        "riscv64" => ["-march=rv64g", "-mabi=lp64d"],
        _ => ["-march=native", "-mtune=native"],
    });
    flags
}

fn native(machine: &Machine, tests: &[&Test], compiler: &Compiler) -> Result<Programs> {
    let flags = native_flags();
    let hash = hash(&["native", &compiler.version, &flags.join(" "), &processor(machine)]);
    let folder = cache()?.join(format!("native-{}", &hash[..16]));
    install_files(&folder)?;
    let mut seen = BTreeSet::new();
    let missing: Vec<&&Test> = tests
        .iter()
        .filter(|test| {
            test.is_ours_in_c() && seen.insert(test.binary()) && !folder.join("bin").join(test.binary()).exists()
        })
        .collect();
    compile_all(&folder, &missing, compiler, &flags)?;
    let build = Build { name: "native".to_owned(), compiler: compiler.version.clone(), flags: flags.join(" "), hash };
    Ok(Programs { build, warning: None, folder })
}

/// What -march=native depends on: a cache on a shared home must not bring SIGILL to another machine.
fn processor(machine: &Machine) -> String {
    let info = machine.read("proc/cpuinfo").unwrap_or_default();
    let mut lines: Vec<&str> = info
        .lines()
        .filter(|line| {
            ["model name", "flags", "Features", "CPU part", "isa", "cpu"]
                .contains(&line.split(':').next().unwrap_or("").trim())
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines.join("\n")
}

/// Compiles on all processors; the first failure ends it.
fn compile_all(folder: &Path, tests: &[&&Test], compiler: &Compiler, flags: &[&str]) -> Result<()> {
    let queue = Mutex::new(tests.iter());
    let failure = Mutex::new(None);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(tests.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    // A poisoned lock means that another worker panicked; the scope passes it on.
                    let Ok(Some(test)) = queue.lock().map(|mut queue| queue.next()) else { return };
                    if let Err(error) = compile(folder, test, compiler, flags) {
                        if let Ok(mut failure) = failure.lock() {
                            *failure = Some(error);
                        }
                        return;
                    }
                }
            });
        }
    });
    match failure.into_inner() {
        Ok(None) => Ok(()),
        Ok(Some(error)) => Err(error),
        Err(_) => bail!("a compiling thread panicked"),
    }
}

/// What every program is linked with: the C files that lie in `programs/` itself.
fn kit() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name).filter(|name| !name.contains('/') && name.ends_with(".c"))
}

fn compile(folder: &Path, test: &Test, compiler: &Compiler, flags: &[&str]) -> Result<()> {
    let target = folder.join("bin").join(test.binary());
    let partial = partial(&target);
    let mut command = Command::new(&compiler.command);
    command.current_dir(folder.join("src")).args(flags).args(["-I", "."]);
    command.args(test.define.iter().map(|item| format!("-D{item}")));
    command.args(test.units()).args(kit()).arg("-o").arg(&partial).args(["-Wl,--as-needed", "-lm"]);
    let output = command.output().with_context(|| format!("the C compiler '{}' cannot be run", compiler.command))?;
    if !output.status.success() {
        let _ = fs::remove_file(&partial);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = stderr.lines().take(5).collect();
        bail!(
            "the C compiler failed on {} ({}): {}\ntry --build portable, or another compiler with CC=…",
            test.binary(),
            output.status,
            said.join("\n  ")
        );
    }
    fs::rename(&partial, &target).with_context(|| format!("{} cannot be written", target.display()))
}

fn portable(tests: &[&Test]) -> Result<Programs> {
    let Some((compiler, flags, binary)) = PORTABLE else {
        bail!("this unixmark was built without the portable programs; install a C compiler and try --build native");
    };
    let hash = hash(&["portable", compiler, flags]);
    let folder = cache()?.join(format!("portable-{}", &hash[..16]));
    install_files(&folder)?;
    // A file per program, not links to one: each has an inode of its own, as native ones have.
    for test in tests.iter().filter(|test| test.is_ours_in_c()) {
        let target = folder.join("bin").join(test.binary());
        if !target.exists() {
            install(&target, binary, 0o755)?;
        }
    }
    let build = Build { name: "portable".to_owned(), compiler: compiler.to_owned(), flags: flags.to_owned(), hash };
    Ok(Programs { build, warning: None, folder })
}

/// Returns the SHA-256 over `parts` and every embedded file, in hexadecimal.
fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    let pieces = parts.iter().map(|part| part.as_bytes());
    for piece in pieces.chain(FILES.iter().flat_map(|(name, bytes)| [name.as_bytes(), bytes])) {
        hash.update((piece.len() as u64).to_le_bytes());
        hash.update(piece);
    }
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the directory for builds: $XDG_CACHE_HOME/unixmark or ~/.cache/unixmark.
fn cache() -> Result<PathBuf> {
    let from = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
    Ok(base.context("neither HOME nor XDG_CACHE_HOME says where builds can be kept: set one")?.join("unixmark"))
}

/// Puts the sources under `src/`, and scripts and data under `bin/` beside the programs.
fn install_files(folder: &Path) -> Result<()> {
    for (name, bytes) in FILES {
        let source = Path::new(name).extension().is_some_and(|end| end == "c" || end == "h");
        let target = folder.join(if source { "src" } else { "bin" }).join(name);
        if !target.exists() {
            let mode = if target.extension().is_some_and(|end| end == "sh") { 0o755 } else { 0o644 };
            install(&target, bytes, mode)?;
        }
    }
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).with_context(|| format!("{} cannot be made", bin.display()))
}

/// Writes a file under its name only once it is whole, so that two tools may do it at once.
fn install(target: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let why = || format!("{} cannot be written; make room or set XDG_CACHE_HOME", target.display());
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).with_context(why)?;
    }
    let partial = partial(target);
    fs::write(&partial, bytes).with_context(why)?;
    fs::set_permissions(&partial, fs::Permissions::from_mode(mode)).with_context(why)?;
    fs::rename(&partial, target).with_context(why)
}

fn partial(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    target.with_file_name(name)
}
