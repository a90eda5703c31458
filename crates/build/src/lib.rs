//! The measured programs: built here by the system's compiler, or taken from the binary.
//!
//! A build is a directory of the cache (`cache`) that is named after a hash of everything that it
//! depends on: the sources, the compiler, its flags, and the processor. `compiler` makes the
//! programs that are missing there or are no longer as they were made (`sums`); `stored` keeps the
//! builds that were used last. `own` compiles a user's program with the same kit.

mod cache;
mod compiler;
mod own;
mod stored;
mod sums;

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256};

use cache::{Partial, make};
pub use cache::{folder as cache_folder, note as cache_note};
use catalogue::{GRAPHICS, Test};
use compiler::Compiler;
use files::Lock;
use journal::Build;
use machine::Machine;
pub use own::{Built, program};
pub use stored::{MAX_STORED_BUILDS, Stored, remove, stored};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}
use embedded::{FILES, LIBRARIES, PORTABLE};

/// The way to build the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BuildKind {
    /// Compiled here by the system's cc with UnixBench's flags
    Native,
    /// Compiled with the tool: static, for any machine of this architecture
    Portable,
}

/// The program of the graphics tests, which was built with the tool and lies next to it; `None` if
/// it is missing.
pub fn graphics() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(GRAPHICS);
    path.exists().then_some(path)
}

/// A file of `programs/` that is not C, such as `shell/multi.sh`; `None` if there is no
/// such file.
pub fn file(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(file, _)| *file == name).map(|(_, bytes)| *bytes)
}

/// Programs by the name of their build; the usual build's name is empty.
pub type Builds = BTreeMap<String, Programs>;

/// Programs that are ready to be spawned.
#[derive(Debug, Clone)]
pub struct Programs {
    /// Their build.
    pub build: Build,
    /// A remark about the choice of build.
    pub warning: Option<String>,
    folder: PathBuf,
    /// Copies that this process has installed, and need not compare again.
    sound: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Keeps the build in the cache as long as these programs live.
    _used: Arc<Option<Lock>>,
}

impl Programs {
    /// Prepares the programs of `tests`, built as `kind` says; by default native if there is a
    /// compiler.
    ///
    /// # Errors
    /// The compiler fails, there is none although native was asked for, or the cache cannot be
    /// written.
    pub fn prepare(
        machine: &Machine,
        tests: &[&Test],
        kind: Option<BuildKind>,
    ) -> Result<Programs> {
        match (kind, Compiler::usual()) {
            (Some(BuildKind::Native) | None, Ok(compiler)) => {
                prepare_native(machine, tests, &compiler)
            }
            (Some(BuildKind::Native), Err(missing)) => {
                Err(missing
                    .context("no native build: install a C compiler or try --build portable"))
            }
            (None, Err(missing)) => {
                let warning = format!(
                    "{missing}, so the portable programs ran: compare only with portable runs"
                );
                Ok(Programs { warning: Some(warning), ..prepare_portable(tests)? })
            }
            (Some(BuildKind::Portable), _) => prepare_portable(tests),
        }
    }

    /// Prepares the programs of `tests` as a condition wants them: `cc=NAME` or
    /// `build=native|portable`.
    ///
    /// # Errors
    /// The compiler fails or is missing, or there is no such build.
    pub fn prepare_named(machine: &Machine, tests: &[&Test], name: &str) -> Result<Programs> {
        match name.split_once('=') {
            Some(("cc", command)) => prepare_native(machine, tests, &Compiler::new(command)?),
            Some(("build", "native")) => Programs::prepare(machine, tests, Some(BuildKind::Native)),
            Some(("build", "portable")) => prepare_portable(tests),
            _ => bail!("'{name}' is not a build; try cc=clang or build=portable"),
        }
    }

    /// The folder with the scripts and data that tests name as `{programs}`.
    pub fn folder(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// The executable of `test` for copy number `copy`: each copy has a file of its own,
    /// since a shared one is a lock that all copies take (UnixBench issue 88).
    ///
    /// # Errors
    /// The copy cannot be written.
    pub fn executable(&self, test: &Test, copy: u32) -> Result<PathBuf> {
        let first = self.folder().join(test.binary());
        if copy == 0 {
            return Ok(first);
        }

        let own_copy = self.folder.join(format!("copy-{copy}")).join(test.binary());
        let mut sound = self.sound.lock().unwrap_or_else(PoisonError::into_inner);
        if !sound.contains(&own_copy) {
            let bytes =
                fs::read(&first).with_context(|| format!("{} cannot be read", first.display()))?;
            let cache = self.folder.parent().unwrap_or(&self.folder);
            Partial::start(cache)?.install(&own_copy, &bytes, 0o755)?;
            sound.insert(own_copy.clone());
        }
        Ok(own_copy)
    }
}

fn prepare_native(machine: &Machine, tests: &[&Test], compiler: &Compiler) -> Result<Programs> {
    let flags = compiler::flags();
    let file = compiler.file().display().to_string();
    let processor = processor_lines(machine);
    let hash = hash(&["native", ARCH, &compiler.version, &file, &flags.join(" "), &processor]);
    let cache = cache::folder()?;
    let folder = cache.join(format!("native-{}", &hash[..16]));
    let partial = Partial::start(&cache)?;
    let _used = Arc::new(stored::mark(&cache, &folder)?);
    install_files(&folder, &partial)?;

    // Rows may share a program.
    let programs: BTreeMap<&str, &Test> = tests
        .iter()
        .filter(|test| test.is_ours_in_c())
        .map(|test| (test.binary(), *test))
        .collect();
    let missing: Vec<&Test> = programs
        .into_iter()
        .filter(|(binary, _)| !sums::is_sound(&folder, binary))
        .map(|(_, test)| test)
        .collect();
    compiler.build_all(&folder, &missing, &flags, &partial)?;
    for library in libraries(tests) {
        if !sums::is_sound(&folder, &catalogue::library_file(library)) {
            compiler.build_library(&folder, library, &partial)?;
        }
    }

    let compiler = compiler.version.clone();
    let build = Build { name: "native".to_owned(), compiler, flags: flags.join(" "), hash };
    Ok(Programs { build, warning: None, folder, sound: Arc::default(), _used })
}

/// The libraries of tests, each once.
fn libraries<'t>(tests: &[&'t Test]) -> BTreeSet<&'t str> {
    tests.iter().filter_map(|test| test.library.as_deref()).collect()
}

/// The lines of /proc/cpuinfo that -march=native depends on: a cache on a shared home must not
/// bring SIGILL to another machine.
fn processor_lines(machine: &Machine) -> String {
    const KEYS: [&str; 7] =
        ["model name", "flags", "features", "Features", "CPU part", "isa", "cpu"];
    let info = machine.read("proc/cpuinfo").unwrap_or_default();
    let lines =
        info.lines().filter(|line| KEYS.contains(&line.split(':').next().unwrap_or("").trim()));
    let lines: BTreeSet<&str> = lines.collect();
    Vec::from_iter(lines).join("\n")
}

fn prepare_portable(tests: &[&Test]) -> Result<Programs> {
    let Some((compiler, flags, deflated)) = PORTABLE else {
        bail!(
            "this unixmark was built without the portable programs; install a C compiler and try --build native"
        );
    };

    let hash = hash(&["portable", ARCH, compiler, flags]);
    let (cache, partial) = start_partial()?;
    let folder = cache.join(format!("portable-{}", &hash[..16]));
    let _used = Arc::new(stored::mark(&cache, &folder)?);
    install_files(&folder, &partial)?;

    // A file per program, not links to one: each has an inode of its own, as native ones have.
    let ours = tests
        .iter()
        .filter(|test| test.is_ours_in_c())
        .map(|test| folder.join("bin").join(test.binary()));
    let ours: BTreeSet<PathBuf> = ours.collect();
    let damaged = |why| {
        anyhow!("the portable programs in this unixmark are damaged ({why}); install it again")
    };
    let binary = miniz_oxide::inflate::decompress_to_vec(deflated).map_err(damaged)?;
    ours.iter().try_for_each(|target| partial.install(target, &binary, 0o755))?;
    for (library, bytes) in LIBRARIES {
        if libraries(tests).contains(library) {
            let target = folder.join("bin").join(catalogue::library_file(library));
            partial.install(&target, bytes, 0o755)?;
        }
    }

    let build = Build {
        name: "portable".to_owned(),
        compiler: compiler.to_owned(),
        flags: flags.to_owned(),
        hash,
    };
    Ok(Programs { build, warning: None, folder, sound: Arc::default(), _used })
}

/// The cache, or where that cannot be written a temporary directory: programs that are copied need
/// no cache.
fn start_partial() -> Result<(PathBuf, Partial)> {
    let usual = cache::folder().and_then(|cache| Ok((cache.clone(), Partial::start(&cache)?)));
    usual.or_else(|why| {
        let cache = files::temporary().map_err(|_| why)?.join("cache");
        Ok((cache.clone(), Partial::start(&cache)?))
    })
}

/// The SHA-256 over `parts` and every embedded file, in hexadecimal.
fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    let pieces = parts.iter().map(|part| part.as_bytes());
    for piece in pieces.chain(FILES.iter().flat_map(|(name, bytes)| [name.as_bytes(), bytes])) {
        hash.update((piece.len() as u64).to_le_bytes());
        hash.update(piece);
    }

    hexadecimal(hash.finalize().as_slice())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Puts the sources under `src/`, and scripts and data under `bin/`, where the programs are.
fn install_files(folder: &Path, partial: &Partial) -> Result<()> {
    for (name, bytes) in FILES {
        let source = Path::new(name).extension().is_some_and(|end| end == "c" || end == "h");
        let target = folder.join(if source { "src" } else { "bin" }).join(name);
        let mode = if target.extension().is_some_and(|end| end == "sh") { 0o755 } else { 0o644 };
        partial.install(&target, bytes, mode)?;
    }

    make(&folder.join("bin"))
}
