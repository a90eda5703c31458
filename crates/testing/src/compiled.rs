//! C programs for tests: each is compiled once, whichever test of whichever process asks for it,
//! and kept below `target/` for the next run.
//!
//! An entry of the cache is a directory that is named for a hash of all that its file depends on:
//! the compiler and its flags, the sources and what they include, the definitions. It has a lock,
//! so that one process makes the file and the others wait. Each process also shares the lock of the
//! whole cache; the one that finds itself alone removes the entries that were not used for longest.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};

use crate::{file, kit, stderr};

#[path = "../../build/includes.rs"]
mod includes;

/// Every C file is compiled with these, whatever it is compiled for.
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];
const LIBRARIES: &[&str] = &["-Wl,--as-needed", "-lm"];

/// The maximum size of the cache: it has room for all builds of three states of the sources.
const MAX_CACHE_BYTES: u64 = 1 << 30;

/// The file of the cache and of each entry that is locked. That of an entry is modified whenever
/// the entry is used.
const LOCK: &str = ".lock";

/// A C compiler and its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Build {
    /// The compiler's command.
    pub cc: &'static str,
    /// The compiler's flags, without those for warnings.
    pub flags: &'static [&'static str],
}

/// As the tool builds what it measures.
pub const MEASURED: Build = Build { cc: "cc", flags: UNIXBENCH };
pub const UNIXBENCH: &[&str] = &["-O3", "-ffast-math", "-march=native", "-mtune=native"];
pub const PLAIN: &[&str] = &["-O2"];
pub const SANITIZED: &[&str] =
    &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
pub const THREADS: &[&str] = &["-O1", "-g", "-fsanitize=thread"];
/// As the tool brings programs for any machine of an architecture (crates/build/build.rs).
pub const PORTABLE: &[&str] = &["-O3", "-ffast-math", "-static"];

impl Build {
    /// The program `name` of the C files `units`, paths below `programs/`, linked with the kit.
    ///
    /// # Errors
    /// The compiler fails, warns or is missing: its complaint.
    pub fn program(
        self,
        name: &str,
        units: &[String],
        define: &[String],
    ) -> Result<PathBuf, String> {
        let mut objects = Vec::new();
        for unit in units {
            objects.push(self.object(unit, define)?);
        }
        // The kit comes last: whoever compiles at the same time waits for as little as can be.
        for unit in kit() {
            objects.push(self.object(&unit, &[])?);
        }

        let identity = self.identity()?;
        let inputs = objects.iter().map(|object| object.as_os_str().as_encoded_bytes());
        let key = hash_key([identity.as_bytes(), b"link"].into_iter().chain(inputs));
        cached_file(&key, name, |program| {
            run(self.compiler().arg("-o").arg(program).args(&objects).args(LIBRARIES))
        })
    }

    /// Reads C files as the next C standard does.
    ///
    /// # Errors
    /// The compiler fails, warns or is missing: its complaint.
    pub fn reads_as_gnu2x(self, units: &[String], define: &[String]) -> Result<(), String> {
        let flags = ["-std=gnu2x", "-fsyntax-only", "-Wno-unused-command-line-argument"];
        for unit in units {
            // Reading makes no file, so an empty one notes that it went well.
            cached_file(&self.unit_key(unit, define, "gnu2x")?, "read", |stamp| {
                run(self.compiler().args(flags).args(to_flags(define)).arg(unit))?;
                fs::write(stamp, "").map_err(|why| why.to_string())
            })?;
        }

        Ok(())
    }

    /// The object file of a unit.
    fn object(self, unit: &str, define: &[String]) -> Result<PathBuf, String> {
        let path = Path::new(unit).with_extension("o");
        let name = path.file_name().unwrap().to_str().unwrap();
        cached_file(&self.unit_key(unit, define, "object")?, name, |object| {
            run(self.compiler().args(to_flags(define)).args(["-c", unit, "-o"]).arg(object))
        })
    }

    /// The key of the file that is made of a unit for a `purpose`: all that it depends on.
    fn unit_key(self, unit: &str, define: &[String], purpose: &str) -> Result<String, String> {
        let identity = self.identity()?;
        let mut parts: Vec<&[u8]> = [identity.as_str(), purpose, unit].map(str::as_bytes).to_vec();
        parts.extend(define.iter().map(String::as_bytes));

        let sources = includes::sources(&file("programs"), unit);
        for (path, bytes) in &sources {
            parts.extend([path.as_os_str().as_encoded_bytes(), bytes]);
        }
        Ok(hash_key(parts.into_iter()))
    }

    /// What the compiler prints that it would do, without its own name: version, search paths and
    /// what its flags mean on this processor.
    fn identity(self) -> Result<String, String> {
        static IDENTITIES: Mutex<BTreeMap<Build, String>> = Mutex::new(BTreeMap::new());
        let mut identities = IDENTITIES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(identity) = identities.get(&self) {
            return Ok(identity.clone());
        }

        let output = self
            .compiler()
            .args(["-###", "-E", "-x", "c", "/dev/null"])
            .output()
            .map_err(|why| format!("{} cannot be run: {why}", self.cc))?;
        let printed = stderr(&output);
        let lines = printed.lines().filter(|line| !line.starts_with("COLLECT_GCC="));
        let identity = lines.collect::<Vec<&str>>().join("\n");
        identities.insert(self, identity.clone());
        Ok(identity)
    }

    fn compiler(self) -> Command {
        let mut command = Command::new(self.cc);
        command.current_dir(file("programs")).args(self.flags).args(WARNINGS).args(["-I", "."]);
        command
    }
}

fn to_flags(define: &[String]) -> impl Iterator<Item = String> {
    define.iter().map(|item| format!("-D{item}"))
}

/// Runs a compiler; the error is its complaint.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|why| format!("{command:?} cannot be run: {why}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}:\n{}", stderr(&output))) }
}

/// The SHA-256 of `parts` and their lengths in hexadecimal.
fn hash_key<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }

    let mut text = String::new();
    for byte in hash.finalize() {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

/// The file `name` below `key` in the cache; `make` makes it where it is not there, in this process
/// alone.
fn cached_file(
    key: &str,
    name: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let folder = cache().join(key);
    fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join(LOCK)).unwrap();
    lock.set_modified(SystemTime::now()).unwrap();

    let path = folder.join(name);
    if !path.exists() {
        flock(&lock, FlockOperation::LockExclusive).unwrap();
    }
    // Another process may have made it meanwhile.
    if !path.exists() {
        let partial = folder.join(".partial");
        make(&partial)?;
        fs::rename(partial, &path).unwrap();
    }
    Ok(path)
}

/// The directory of the cache, which this process may use from then on.
fn cache() -> &'static Path {
    static CACHE: OnceLock<(PathBuf, File)> = OnceLock::new();
    let (folder, _lock) = CACHE.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        // Cargo marks its target directory.
        let target = test.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
        let folder = target.unwrap_or_else(|| test.parent().unwrap()).join("c");
        fs::create_dir_all(&folder).unwrap();

        let lock = File::create(folder.join(LOCK)).unwrap();
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            remove_oldest(&folder, MAX_CACHE_BYTES);
        }
        flock(&lock, FlockOperation::LockShared).unwrap();
        (folder, lock)
    });
    folder
}

/// An entry of the cache. The one that was used longest ago is the smallest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CacheEntry {
    used: Option<SystemTime>,
    bytes: u64,
    path: PathBuf,
}

impl CacheEntry {
    fn read(path: PathBuf) -> CacheEntry {
        let files =
            fs::read_dir(&path).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        CacheEntry {
            used: fs::metadata(path.join(LOCK)).and_then(|lock| lock.modified()).ok(),
            bytes: files.sum(),
            path,
        }
    }
}

/// Removes the entries that were not used for the longest time, until the rest takes `max_bytes`.
/// Nobody else may use the cache.
fn remove_oldest(cache: &Path, max_bytes: u64) {
    let mut entries: Vec<CacheEntry> = fs::read_dir(cache)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(CacheEntry::read)
        .collect();
    entries.sort();

    let mut kept_bytes = 0;
    for entry in entries.into_iter().rev() {
        kept_bytes += entry.bytes;
        if kept_bytes > max_bytes {
            fs::remove_dir_all(entry.path).unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every C file below a directory of `programs/`.
    fn units(folder: &Path) -> Vec<String> {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut found = Vec::new();
        for path in paths {
            if path.is_dir() {
                found.extend(units(&path));
            } else if path.extension().is_some_and(|end| end == "c") {
                found.push(
                    path.strip_prefix(file("programs")).unwrap().to_str().unwrap().to_owned(),
                );
            }
        }
        found
    }

    /// Includes behind macros, or of other forms, would be missed by the reading of lines; the
    /// compiler has them.
    #[test]
    fn what_a_unit_includes_is_what_the_compiler_finds() {
        let programs = file("programs");
        let units = units(&programs);
        assert!(units.len() > 50);
        for unit in units {
            let output =
                Command::new("cc").args(["-MM", "-I.", &unit]).current_dir(&programs).output();
            let rule = crate::stdout(&output.unwrap()).replace("\\\n", " ");
            let (_, files) = rule.split_once(':').unwrap();
            let path = |name: &str| programs.join(name).canonicalize().unwrap();
            let compiler: BTreeSet<PathBuf> = files.split_whitespace().map(path).collect();
            let own: BTreeSet<PathBuf> = includes::sources(&programs, &unit)
                .into_keys()
                .map(|path| path.canonicalize().unwrap())
                .collect();
            assert_eq!(own, compiler, "{unit}");
        }
    }

    #[test]
    fn what_is_compiled_depends_on_all_that_it_is_compiled_from() {
        let words =
            |define: &[&str]| define.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let key = |build: Build, unit: &str, define: &[&str]| {
            build.unit_key(unit, &words(define), "object").unwrap()
        };
        let plain = Build { cc: "cc", flags: PLAIN };
        let keys = [
            key(plain, "kit.c", &[]),
            key(MEASURED, "kit.c", &[]),
            key(plain, "speech.c", &[]),
            key(plain, "kit.c", &["A"]),
            key(plain, "kit.c", &["A", "B"]),
            key(plain, "kit.c", &["AB"]),
            plain.unit_key("kit.c", &[], "gnu2x").unwrap(),
        ];
        assert_eq!(BTreeSet::from(keys.clone()).len(), keys.len());
        assert_eq!(keys[0], key(plain, "kit.c", &[]));
    }

    #[test]
    fn a_file_is_made_once_and_whole() {
        let key = format!("test-{}", std::process::id());
        let fails = cached_file(&key, "file", |_| Err("no".to_owned()));
        assert_eq!(fails, Err("no".to_owned()));
        let make = |path: &Path| fs::write(path, "whole").map_err(|why| why.to_string());
        let made = std::thread::scope(|scope| {
            let one = || {
                let mut made = false;
                let path = cached_file(&key, "file", |path| {
                    made = true;
                    assert!(path.file_name().unwrap() != "file");
                    make(path)
                });
                assert_eq!(fs::read_to_string(path.unwrap()).unwrap(), "whole");
                made
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            threads.into_iter().filter_map(|thread| thread.join().unwrap().then_some(())).count()
        });
        assert_eq!(made, 1);
        fs::remove_dir_all(cache().join(key)).unwrap();
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let cache = tempfile::tempdir().unwrap();
        for (name, age) in [("oldest", 3), ("older", 2), ("newest", 1)] {
            let folder = cache.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("file"), [0; 100]).unwrap();
            let used = SystemTime::now() - std::time::Duration::from_secs(age);
            File::create(folder.join(LOCK)).unwrap().set_modified(used).unwrap();
        }
        fs::write(cache.path().join(LOCK), "").unwrap();
        remove_oldest(cache.path(), 250);
        let left = |name: &str| cache.path().join(name).exists();
        assert!(!left("oldest") && left("older") && left("newest") && left(LOCK));
    }
}
