//! The programs as compilers build them: each once for each compiler and its flags, whichever tests ask for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use catalogue::Test;

pub const UNIXBENCH: &[&str] = &["-O3", "-ffast-math", "-march=native", "-mtune=native"];
pub const PLAIN: &[&str] = &["-O2"];
pub const SANITIZED: &[&str] = &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// A compiler and its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Build {
    pub cc: &'static str,
    pub flags: &'static [&'static str],
}

/// What the programs are measured as.
pub const MEASURED: Build = Build { cc: "gcc", flags: UNIXBENCH };

/// What is made once: a program, or the kit's objects (by no name).
type Made = Arc<OnceLock<Vec<PathBuf>>>;
static MADE: Mutex<BTreeMap<(Build, String), Made>> = Mutex::new(BTreeMap::new());

impl Build {
    /// Returns the program of a test, compiled without a warning.
    pub fn of(self, test: &Test) -> PathBuf {
        self.once(test.binary(), || {
            let binary = self.folder().join(test.binary());
            let mut command = self.compiler();
            command.args(test.define.iter().map(|item| format!("-D{item}"))).args(test.units());
            command.args(self.kit()).arg("-o").arg(&binary).args(["-Wl,--as-needed", "-lm"]);
            succeeds(&mut command);
            vec![binary]
        })
        .remove(0)
    }

    /// The kit's objects, which every program is linked with.
    fn kit(self) -> Vec<PathBuf> {
        self.once("", || {
            let object = |unit: String| {
                let object = self.folder().join(&unit).with_extension("o");
                succeeds(self.compiler().args(["-c", &unit, "-o"]).arg(&object));
                object
            };
            testing::kit().into_iter().map(object).collect()
        })
    }

    fn once(self, name: &str, make: impl FnOnce() -> Vec<PathBuf>) -> Vec<PathBuf> {
        let mut all = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let one = all.entry((self, name.to_owned())).or_default().clone();
        drop(all);
        one.get_or_init(make).clone()
    }

    fn folder(self) -> PathBuf {
        let name = format!("{}{}", self.cc, self.flags.concat().replace(['=', ','], "-"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn compiler(self) -> Command {
        let mut command = Command::new(self.cc);
        command.current_dir(testing::file("programs")).args(self.flags).args(STRICT).args(["-I", "."]);
        command
    }

    /// Reads sources as the next C standard does.
    pub fn reads_as_gnu2x(self, define: &[String], units: Vec<String>) {
        let next = ["-std=gnu2x", "-fsyntax-only", "-Wno-unused-command-line-argument"];
        let define = define.iter().map(|item| format!("-D{item}"));
        succeeds(self.compiler().args(next).args(define).args(units));
    }
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
