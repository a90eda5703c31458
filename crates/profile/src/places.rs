//! Where code lies: the places of all executions, numbered, and the files that some are in.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::elf::Program;
use crate::records::Mapped;

/// The most different places. What lies at later ones is unknown.
const MAX_PLACES: usize = 1_000_000;

/// What the kernel calls memory that is no file on a disk, and that a compiler may write to.
const NO_FILES: [&str; 5] = ["//", "/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV"];

/// What the kernel appends to the path of a file that was deleted before it was mapped.
const DELETED: &str = " (deleted)";

/// The kernel's own code in every process, which is no file.
pub const VDSO: &str = "[vdso]";

/// What an address stands for, the same in all executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// An offset in a file, by its number.
    File(usize, u64),
    /// Code without a file, of a process.
    Made {
        process: u32,
        address: u64,
    },
    Kernel(u64),
    Unknown,
}

/// A file of which something was executed.
pub struct CodeFile {
    pub path: PathBuf,
    pub inode: u64,
    /// The reason why its functions cannot be named.
    pub refusal: Option<String>,
    pub is_stripped: bool,
    /// The reason why nobody knows what was inlined.
    pub why_not_inlined: Option<String>,
    pub has_debug_information: bool,
}

impl CodeFile {
    /// The name of the file, without its directory.
    pub fn label(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        name.strip_suffix(DELETED).unwrap_or(&name).to_owned()
    }
}

/// A file that a tool names by its path, and what turns addresses of it into offsets.
pub struct Object {
    number: usize,
    program: Program,
}

/// All places, and the files that they lie in.
#[derive(Default)]
pub struct Places {
    pub all: Vec<Place>,
    pub files: Vec<CodeFile>,
    numbers: HashMap<Place, usize>,
    file_numbers: HashMap<(String, u64), usize>,
}

impl Places {
    /// The number of a place, which is a new one or known.
    pub fn number(&mut self, place: Place) -> usize {
        let next = self.all.len();
        let is_full = next >= MAX_PLACES && !self.numbers.contains_key(&place);
        let place = if is_full { Place::Unknown } else { place };
        let number = *self.numbers.entry(place).or_insert(next);
        if number == next {
            self.all.push(place);
        }
        number
    }

    /// The place at an address of a process' mapping.
    pub fn in_mapping(&mut self, mapping: &Mapped, process: u32, address: u64) -> Place {
        let is_file = mapping.path.starts_with('/')
            && !NO_FILES.iter().any(|start| mapping.path.starts_with(start));
        if !is_file && mapping.path != VDSO {
            return Place::Made { process, address };
        }

        let number = self.number_file(&mapping.path, mapping.inode);
        Place::File(number, (address - mapping.start).wrapping_add(mapping.offset))
    }

    /// The file at a path, of which something was executed; `None` if it is there no more, or is no
    /// program.
    pub fn object(&mut self, path: &str) -> Option<Object> {
        let file = files::open_regular(Path::new(path)).ok()?;
        let program = Program::read(&file).ok()?;
        let number = self.number_file(path, file.metadata().ok()?.ino());
        Some(Object { number, program })
    }

    /// True if a place lies in this file, by its number.
    pub fn is_in(&self, place: usize, is_meant: impl Fn(&usize) -> bool) -> bool {
        matches!(&self.all[place], Place::File(file, _) if is_meant(file))
    }

    /// True if a part of the kernel is among the places.
    pub fn has_kernel(&self) -> bool {
        self.all.iter().any(|place| matches!(place, Place::Kernel(_)))
    }

    fn number_file(&mut self, path: &str, inode: u64) -> usize {
        let next = self.files.len();
        let number = *self.file_numbers.entry((path.to_owned(), inode)).or_insert(next);
        if number == next {
            self.files.push(CodeFile {
                path: PathBuf::from(path),
                inode,
                refusal: None,
                is_stripped: false,
                why_not_inlined: None,
                has_debug_information: false,
            });
        }
        number
    }
}

impl Object {
    /// The place at an address that symbols have.
    pub fn place(&self, address: u64) -> Place {
        let offset = self.program.offset(address);
        offset.map_or(Place::Unknown, |offset| Place::File(self.number, offset))
    }
}
