//! Puts the C programs into the binary: their sources, for the native build on the machine under
//! test, and one static multi-call program, the portable build.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a build script may fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;

/// The portable build's flags: UnixBench's, for the architecture's baseline.
const FLAGS: &[&str] = &["-Wall", "-pedantic", "-O3", "-ffast-math", "-static"];

/// The flags of libraries that programs of the user's load.
const LIBRARY_FLAGS: [&str; 5] = ["-O2", "-fPIC", "-shared", "-nostdlib", "-fno-builtin"];

mod includes;
#[path = "../catalogue/src/tables.rs"]
mod tables;

fn main() {
    // Paths below are those of the repository.
    std::env::set_current_dir("../..").unwrap();
    for (table, _) in tables::tests() {
        println!("cargo::rerun-if-changed=../../catalogue/{table}");
    }
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed=CROSS_COMPILE");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    let mut code = String::from(
        "/// Every file under `programs/`.\npub static FILES: &[(&str, &[u8])] = &[\n",
    );
    for file in files(Path::new("programs")) {
        println!("cargo::rerun-if-changed=../../{}", file.display());
        let full = fs::canonicalize(&file).unwrap();
        let name = file.strip_prefix("programs").unwrap();
        writeln!(code, "    ({:?}, include_bytes!({full:?})),", name.to_str().unwrap()).unwrap();
    }
    code.push_str("];\n\n/// The portable build: the compiler, its flags and the multi-call program, deflated.\n");
    code.push_str("pub static PORTABLE: Option<(&str, &str, &[u8])> = ");
    let libraries = match portable(&out) {
        Ok(Portable { compiler, flags, binary, libraries }) => {
            writeln!(code, "Some(({compiler:?}, {flags:?}, include_bytes!({binary:?})));").unwrap();
            libraries
        }
        Err(reason) => {
            println!("cargo::warning=the portable programs are left out: {reason}");
            code.push_str("None;\n");
            Vec::new()
        }
    };
    code.push_str("\n/// Libraries of the portable build, by their sources.\n");
    code.push_str("pub static LIBRARIES: &[(&str, &[u8])] = &[\n");
    for (library, file) in libraries {
        writeln!(code, "    ({library:?}, include_bytes!({file:?})),").unwrap();
    }
    code.push_str("];\n");
    fs::write(out.join("programs.rs"), code).unwrap();
}

/// Every file below `folder`, sorted, without the graphics tests: these are a Rust program of their
/// own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path == Path::new("programs/graphics") {
            continue;
        }
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The C files that every program is linked with: those in `programs/` itself.
fn kit() -> impl Iterator<Item = PathBuf> {
    let top = |file: &PathBuf| {
        file.parent() == Some(Path::new("programs"))
            && file.extension().is_some_and(|end| end == "c")
    };
    files(Path::new("programs")).into_iter().filter(top)
}

/// The sources of a binary.
struct Sources {
    units: Vec<String>,
    define: Vec<String>,
}

/// The rows of the catalogue's tests.
fn rows() -> impl Iterator<Item = toml::Value> {
    tables::tests().into_iter().flat_map(|(_, text)| {
        let table: toml::Table = text.unwrap().parse().unwrap();
        table["test"].as_array().unwrap().clone()
    })
}

/// The libraries that the catalogue's programs have commands load, without `.c`.
fn libraries() -> BTreeSet<String> {
    rows().filter_map(|row| Some(row.get("library")?.as_str().unwrap().to_owned())).collect()
}

/// The catalogue's binaries by name.
fn binaries() -> BTreeMap<String, Sources> {
    let strings = |row: &toml::Value, key: &str| -> Vec<String> {
        let list = row.get(key).and_then(toml::Value::as_array);
        list.into_iter().flatten().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let mut found = BTreeMap::new();
    for row in rows().filter(|row| !row["program"].as_str().unwrap().starts_with("graphics/")) {
        let program = row["program"].as_str().unwrap();
        let define = strings(&row, "define");
        let name = if define.is_empty() { program.rsplit('/').next() } else { row["id"].as_str() };
        let mut units = vec![program.to_owned()];
        units.extend(strings(&row, "sources"));
        found.insert(name.unwrap().to_owned(), Sources { units, define });
    }
    found
}

/// One C file to compile, below `programs/`.
struct Unit {
    source: String,
    object: PathBuf,
    define: Vec<String>,
}

/// A program that becomes one object, in which every name but that of its `main` is its own: the
/// programs define the same names.
struct Program {
    name: String,
    symbol: String,
    units: Vec<Unit>,
    object: PathBuf,
}

/// The catalogue's programs; their objects are put into `out`.
fn programs(out: &Path) -> Vec<Program> {
    let mut programs = Vec::new();
    for (name, Sources { units: sources, mut define }) in binaries() {
        let symbol = format!("unixmark_main_{}", name.replace('-', "_"));
        define.push(format!("main={symbol}"));

        let mut units = Vec::new();
        for (part, source) in sources.iter().enumerate() {
            units.push(Unit {
                source: format!("{source}.c"),
                object: out.join(format!("{name}-{part}.o")),
                define: define.clone(),
            });
        }
        let object = out.join(format!("{name}.joined.o"));
        programs.push(Program { name, symbol, units, object });
    }
    programs
}

/// The tools that build for the target, and the compiler's version.
struct Tools {
    version: String,
    cc: String,
    ld: String,
    objcopy: String,
    flags: Vec<&'static str>,
}

impl Tools {
    /// This machine's own, or for another architecture those of Debian's cross compilers;
    /// `CROSS_COMPILE` is what their names begin with, as in the kernel's Makefile.
    fn of_target() -> Result<Tools, String> {
        let about = |name: &str| std::env::var(name).unwrap_or_default();
        let target = about("TARGET");
        if about("CARGO_CFG_TARGET_OS") != "linux" {
            return Err(format!("they are for Linux, and this is built for {target}"));
        }
        let architecture = |triple: &str| triple.split('-').next().unwrap_or_default().to_owned();
        let prefix = match (architecture(&target), std::env::var("CROSS_COMPILE")) {
            (_, Ok(prefix)) => prefix,
            (own, _) if own == architecture(&about("HOST")) => String::new(),
            (other, _) => match other.as_str() {
                "armv7" => "arm-linux-gnueabihf-".to_owned(),
                "riscv64gc" => "riscv64-linux-gnu-".to_owned(),
                other => format!("{other}-linux-gnu-"),
            },
        };
        let mut flags = FLAGS.to_vec();
        // Files of 2 GiB and more.
        flags.extend(
            (about("CARGO_CFG_TARGET_POINTER_WIDTH") == "32").then_some("-D_FILE_OFFSET_BITS=64"),
        );
        let cc = if prefix.is_empty() {
            std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
        } else {
            prefix.clone() + "gcc"
        };
        let version = Command::new(&cc)
            .arg("--version")
            .output()
            .map_err(|error| format!("{cc}: {error}"))?;
        let version =
            String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or("").to_owned();
        Ok(Tools { version, cc, ld: prefix.clone() + "ld", objcopy: prefix + "objcopy", flags })
    }

    /// Compiles a unit, unless that was done with the same sources.
    fn compile(&self, unit: &Unit) -> Result<(), String> {
        let mut command = self.compiler();
        command
            .args(["-I", "programs", "-c", "-o"])
            .arg(&unit.object)
            .arg(format!("programs/{}", unit.source));
        command.args(unit.define.iter().map(|item| format!("-D{item}")));
        make(&unit.object, &self.recipe(&command, unit), || run(&mut command))
    }

    /// Compiles a library that brings no C library, unless that was done with the same sources.
    fn compile_library(&self, unit: &Unit) -> Result<(), String> {
        let mut command = Command::new(&self.cc);
        command.args(LIBRARY_FLAGS).args(["-s", "-I", "programs", "-o"]).arg(&unit.object);
        command.arg(format!("programs/{}", unit.source));
        make(&unit.object, &self.recipe(&command, unit), || run(&mut command))
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new(&self.cc);
        command.args(&self.flags);
        command
    }

    /// Returns all that the object of a unit depends on.
    fn recipe(&self, command: &Command, unit: &Unit) -> Vec<u8> {
        let mut recipe = format!("{}\n{command:?}\n", self.version).into_bytes();
        for (path, bytes) in includes::sources(Path::new("programs"), &unit.source) {
            recipe.extend(format!("{} {}\n", path.display(), bytes.len()).into_bytes());
            recipe.extend(bytes);
        }
        recipe
    }

    /// Makes one object of a program's objects, in which every name but that of its `main` is its
    /// own.
    fn join(&self, program: &Program) -> Result<(), String> {
        let objects: Vec<&PathBuf> = program.units.iter().map(|unit| &unit.object).collect();
        let (keep, recipe) =
            (format!("--keep-global-symbol={}", program.symbol), recipes(objects.iter().copied()));
        make(&program.object, &recipe, || {
            run(Command::new(&self.ld).arg("-r").arg("-o").arg(&program.object).args(&objects))?;
            run(Command::new(&self.objcopy).arg(&keep).arg(&program.object))
        })
    }
}

/// Makes a file unless the one that is there was made by the same recipe, which is kept beside it.
fn make(
    file: &Path,
    recipe: &[u8],
    make: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let kept = recipe_path(file);
    if file.exists() && fs::read(&kept).is_ok_and(|there| there == recipe) {
        return Ok(());
    }
    let _ = fs::remove_file(&kept);
    make()?;
    fs::write(&kept, recipe).map_err(|error| format!("{}: {error}", kept.display()))
}

fn recipe_path(file: &Path) -> PathBuf {
    file.with_extension("recipe")
}

/// Returns the recipes of files one after the other: that of what is made of them.
fn recipes<'a>(files: impl Iterator<Item = &'a PathBuf>) -> Vec<u8> {
    files.flat_map(|file| fs::read(recipe_path(file)).unwrap()).collect()
}

/// The portable build.
struct Portable {
    /// The compiler's version.
    compiler: String,
    flags: String,
    binary: PathBuf,
    /// By their sources.
    libraries: Vec<(String, PathBuf)>,
}

/// Links all programs into one.
fn portable(out: &Path) -> Result<Portable, String> {
    let tools = Tools::of_target()?;
    let kit = kit().map(|source| {
        let name = source.file_name().unwrap().to_str().unwrap().to_owned();
        Unit { object: out.join(format!("{name}.kit.o")), source: name, define: Vec::new() }
    });
    let (kit, programs) = (kit.collect::<Vec<_>>(), programs(out));
    let units: Vec<&Unit> =
        kit.iter().chain(programs.iter().flat_map(|program| &program.units)).collect();
    units.par_iter().try_for_each(|unit| tools.compile(unit))?;
    programs.par_iter().try_for_each(|program| tools.join(program))?;
    let objects =
        kit.iter().map(|unit| &unit.object).chain(programs.iter().map(|program| &program.object));
    let (objects, deflated) = (objects.collect::<Vec<_>>(), out.join("portable.deflated"));
    let main = dispatcher(&programs);
    let recipe = [main.as_bytes(), &recipes(objects.iter().copied())].concat();
    make(&deflated, &recipe, || {
        let (source, binary) = (out.join("multi.c"), out.join("portable"));
        fs::write(&source, &main).unwrap();
        run(tools
            .compiler()
            .arg("-s")
            .arg("-o")
            .arg(&binary)
            .arg(&source)
            .args(&objects)
            .arg("-lm"))?;
        fs::write(&deflated, miniz_oxide::deflate::compress_to_vec(&fs::read(&binary).unwrap(), 9))
            .unwrap();
        Ok(())
    })?;
    let libraries = libraries().into_iter().map(|library| {
        let unit = Unit {
            object: out.join(format!("{}.so", library.replace('/', "-"))),
            source: format!("{library}.c"),
            define: Vec::new(),
        };
        tools.compile_library(&unit)?;
        Ok((library, unit.object))
    });
    let libraries = libraries.collect::<Result<_, String>>()?;
    let flags = tools.flags.join(" ");
    Ok(Portable { compiler: tools.version, flags, binary: deflated, libraries })
}

/// A `main` that is the program it is called as.
fn dispatcher(programs: &[Program]) -> String {
    let declarations: String =
        programs.iter().map(|program| format!("int {}(int, char **);\n", program.symbol)).collect();
    let rows: String = programs
        .iter()
        .map(|program| format!("    {{\"{}\", {}}},\n", program.name, program.symbol))
        .collect();
    format!(
        "#include <string.h>\n{declarations}\
         static const struct {{ const char *name; int (*run)(int, char **); }} programs[] = {{\n{rows}}};\n\
         int main(int argc, char **argv)\n{{\n\
         \tconst char *slash = argc ? strrchr(argv[0], '/') : 0;\n\
         \tconst char *name = slash ? slash + 1 : argc ? argv[0] : \"\";\n\
         \tfor (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)\n\
         \t\tif (!strcmp(name, programs[i].name))\n\t\t\treturn programs[i].run(argc, argv);\n\
         \treturn 127;\n}}\n"
    )
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("")
    ))
}
