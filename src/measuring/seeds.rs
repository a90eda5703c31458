//! The seed of a build: what turns it into another layout of the program, and whether it did.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use object::{Object, ObjectSection, SectionKind};

use super::options::utf8;
use runner::Supervisor;

/// The variables that a build command sees: flags of common compilers and linkers by which a seed
/// changes where functions land; and a directory, which is made here and shared by all builds of
/// both sides, for what depends neither on the seed nor on the side. lld shuffles sections, of
/// which the compiler makes one for each function; Go's linker has an option of its own (since
/// 1.22).
///
/// # Errors
/// The shared directory cannot be made, or its path is not UTF-8.
pub(super) fn prepare_variables(seed: u32, supervisor: &Supervisor<'_>) -> Result<[String; 6]> {
    let shared_folder = supervisor.scratch().join("shared");
    files::make_directories(&shared_folder)?;
    let shared_folder = utf8(shared_folder.as_os_str())?;

    let shuffle = format!("-Wl,--shuffle-sections=.text*={seed}");
    Ok([
        format!("UNIXMARK_SEED={seed}"),
        format!("UNIXMARK_SHARED={shared_folder}"),
        "UNIXMARK_CFLAGS=-ffunction-sections".to_owned(),
        format!("UNIXMARK_LDFLAGS=-fuse-ld=lld {shuffle}"),
        format!("UNIXMARK_RUSTFLAGS=-Clink-arg=-fuse-ld=lld -Clink-arg={shuffle}"),
        format!("UNIXMARK_GOFLAGS=-ldflags=-randlayout={seed}"),
    ])
}

/// What to do if the seed has not reached the program.
const HOW_TO_USE_SEED: &str = "in the variables that the build command reads, give it \
                               $UNIXMARK_CFLAGS and $UNIXMARK_LDFLAGS, $UNIXMARK_RUSTFLAGS, or \
                               $UNIXMARK_GOFLAGS, and clean first if the directory has a build";

/// Checks that the seed has changed the program in the builds of a `source`. Returns a warning if
/// only their machine code is identical: often such builds differ in the path of their directory
/// alone, but the code that moved may also be in a library.
///
/// # Errors
/// All builds are identical, or one has no program.
pub(super) fn check_seed_is_used(
    folders: &[PathBuf],
    program: &Path,
    source: &str,
) -> Result<Option<String>> {
    // A program that is elsewhere, such as an interpreter, is not built here.
    if !has_relative_path(program) {
        return Ok(None);
    }

    let mut first: Option<Vec<u8>> = None;
    let (mut are_equal, mut is_code_equal) = (true, true);
    for folder in folders {
        let build = fs::read(folder.join(program)).with_context(|| {
            format!(
                "--build produced no {} for {source}; run the build command by hand in that directory",
                program.display()
            )
        })?;
        // Of large programs, no more than two are in memory at a time.
        let first = first.get_or_insert_with(|| build.clone());
        are_equal &= *first == build;
        is_code_equal = is_code_equal && has_same_code(first, &build);
    }

    let program = program.display();
    if are_equal {
        bail!(
            "all builds of {source} are the same file, {program}, so the seed is not used; {HOW_TO_USE_SEED}"
        );
    }
    Ok(is_code_equal.then(|| {
        format!(
            "warning: {program} has the same machine code in all builds of {source}, so the seed \
             does not move its functions; {HOW_TO_USE_SEED}"
        )
    }))
}

/// True if a program is named by a path relative to where it is executed, such as `./tool`, and
/// neither by a bare name, which is found on the PATH, nor by an absolute path.
pub(super) fn has_relative_path(program: &Path) -> bool {
    program.is_relative() && program.components().count() >= 2
}

/// True if two files are programs of the same machine code.
fn has_same_code(one: &[u8], other: &[u8]) -> bool {
    match (find_code(one), find_code(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// The sections of a program that hold machine code; `None` of a file that is no program.
fn find_code(program: &[u8]) -> Option<Vec<&[u8]>> {
    let program = object::File::parse(program).ok()?;
    let code = program.sections().filter(|section| section.kind() == SectionKind::Text);
    code.map(|section| section.data().ok()).collect()
}
