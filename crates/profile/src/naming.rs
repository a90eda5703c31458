//! The function at each place: by the symbols of files, the maps that compilers leave, and the
//! kernel's list. What has no name is called by where it lies: `[tool]`, `[kernel]`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::inlined::Inlined;
use crate::kernel::KernelSymbols;
use crate::places::{CodeFile, Place, Places, VDSO};
use crate::{jit, names, symbols};

/// How Python's own functions begin in its map.
pub const PYTHON: &str = "py::";

/// Where compilers leave the maps of what they made.
const MAPS: &str = "/tmp";

/// What a function is called whose name nobody knows, by where it lies.
const UNKNOWN: &str = "[unknown]";
const KERNEL: &str = "[kernel]";
const MADE_CODE: &str = "[code made while it ran]";

/// A function by its name, and the file that it lies in.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Named {
    pub name: String,
    pub file: String,
}

impl Named {
    /// True if its file has no name for it; false for code without a file.
    pub fn is_nameless(&self) -> bool {
        self.name == nameless(&self.file)
    }

    /// True if it is a function of Python's interpreter.
    pub fn is_python_interpreter(&self) -> bool {
        ["python", "libpython"].iter().any(|name| self.file.starts_with(name))
    }
}

/// The name given to the nameless code of a file.
pub fn nameless(label: &str) -> String {
    let label = label.trim_start_matches('[').trim_end_matches(']');
    format!("[{label}]")
}

/// Names what was executed since the first execution began.
pub struct Namer<'p> {
    pub places: &'p mut Places,
    /// What is inlined is added to it.
    pub inlined: &'p mut Inlined,
    /// When the first execution began: what is younger was not executed.
    pub since: SystemTime,
}

impl Namer<'_> {
    /// The function at each place, in the order of the places. Notes in each file why it could not
    /// be read and whether it is stripped, and adds what is inlined. `read_kernel` gives the text
    /// of the kernel's symbols, and is called only if a place is in the kernel.
    pub fn name(&mut self, read_kernel: impl FnOnce() -> Option<String>) -> Vec<Named> {
        let unnamed = Named { name: UNKNOWN.to_owned(), file: String::new() };
        let mut functions = vec![unnamed; self.places.all.len()];
        for number in 0..self.places.files.len() {
            self.name_places_of_file(number, &mut functions);
        }

        let text = if self.places.has_kernel() { read_kernel() } else { None };
        let kernel = KernelSymbols::from_text(&text.unwrap_or_default());
        for (place, function) in self.places.all.iter().zip(&mut functions) {
            if let Place::Kernel(address) = place {
                function.name = kernel.find(*address).map_or(KERNEL.to_owned(), names::readable);
                function.file = "kernel".to_owned();
            }
        }
        self.name_made_code(&mut functions);
        functions
    }

    /// Names what compilers made while programs ran, by one map after the other.
    fn name_made_code(&self, functions: &mut [Named]) {
        let mut made: BTreeMap<u32, Vec<(u64, usize)>> = BTreeMap::new();
        for (number, place) in self.places.all.iter().enumerate() {
            if let Place::Made { process, address } = place {
                made.entry(*process).or_default().push((*address, number));
            }
        }

        for (process, places) in made {
            let addresses: Vec<u64> = places.iter().map(|(address, _)| *address).collect();
            let names = jit::find(Path::new(MAPS), process, self.since, &addresses);
            for ((_, number), name) in places.into_iter().zip(names) {
                functions[number].name = name.unwrap_or_else(|| MADE_CODE.to_owned());
            }
        }
    }

    fn name_places_of_file(&mut self, number: usize, functions: &mut [Named]) {
        let mut offsets = Vec::new();
        let mut at = Vec::new();
        for (place, found) in self.places.all.iter().enumerate() {
            if let Place::File(file, offset) = found
                && *file == number
            {
                offsets.push(*offset);
                at.push(place);
            }
        }

        let file = &mut self.places.files[number];
        let label = file.label();
        let found = match find_in(file, self.since, &offsets) {
            Ok(found) => found,
            Err(error) => {
                file.refusal = Some(format!("{error:#}"));
                symbols::Found::default()
            }
        };
        file.is_stripped = found.is_stripped;
        file.why_not_inlined = found.why_not_inlined;
        file.has_debug_information = found.has_debug_information;
        for (place, symbols) in at.iter().zip(&found.inlined) {
            self.inlined.add(*place, symbols);
        }
        let mut found = found.names.into_iter();
        for place in at {
            let name = found.next().flatten();
            functions[place] = Named {
                name: name.map_or_else(|| nameless(&label), |name| names::readable(&name)),
                file: label.clone(),
            };
        }
    }
}

/// The functions at offsets of a file that was executed.
fn find_in(file: &CodeFile, since: SystemTime, offsets: &[u64]) -> Result<symbols::Found> {
    use std::os::unix::fs::MetadataExt;

    if file.path == Path::new(VDSO) {
        return Ok(symbols::Found::default());
    }
    let opened = files::open_regular(&file.path)
        .context("the file cannot be read; was it deleted while it ran?")?;
    let now = opened.metadata().context("the file cannot be read")?;
    // Its status' change, since `cp -p` gives an older date to its content.
    let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let changed = (now.ctime(), now.ctime_nsec());
    let is_changed = changed > (since.as_secs().cast_signed(), since.subsec_nanos().into());
    if now.ino() != file.inode || is_changed {
        bail!("the file was replaced after it was executed, or is another outside its container");
    }
    symbols::find(&file.path, &opened, offsets)
}
