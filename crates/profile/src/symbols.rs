//! The functions at offsets of an ELF file.
//!
//! A table of symbols may have hundreds of megabytes (a debug build of a large program), of which a
//! profile needs a hundred names. So the table is read once, in pieces, and each piece is forgotten
//! ([`Search::offer`]); then the names that were found are read one by one.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Result, anyhow};
use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::pod::slice_from_all_bytes;
use object::read::elf::{FileHeader, Sym};

use crate::dwarf;
use crate::elf::{Program, Section, read_vec, sorted_addresses};

/// Bytes of a table that are read at a time: a multiple of a symbol's 16 or 24.
const PIECE_BYTES: u64 = 24 << 15;

/// The most bytes of a table that are read: a sparse file's may have any number.
const MAX_TABLE_BYTES: u64 = 1 << 30;

/// The most bytes of a symbol's name.
const MAX_NAME_BYTES: usize = 4096;

/// The most functions around addresses that are looked at.
const MAX_STEPS: usize = 100_000_000;

/// The names at offsets of a file.
#[derive(Debug, Default)]
pub struct Found {
    /// Of each offset; `None` where the file has no function.
    pub names: Vec<Option<String>>,
    /// True if the file's own table of all its functions was taken away.
    pub is_stripped: bool,
    /// Of each offset: the functions that are inlined there, the innermost first.
    pub inlined: Vec<Vec<String>>,
    /// The reason why nobody knows what is inlined.
    pub why_not_inlined: Option<String>,
    pub has_debug_information: bool,
}

/// Finds the functions at offsets of a file.
///
/// # Errors
/// The file cannot be read, or is no program.
pub fn find(path: &Path, file: &File, offsets: &[u64]) -> Result<Found> {
    let program = Program::read(file)?;
    let addresses: Vec<Option<u64>> =
        offsets.iter().map(|offset| program.address(*offset)).collect();

    // A separate file of debug information has the addresses of the program.
    let opened_debug = program
        .debug_file(file)
        .filter(|debug| debug != path)
        .and_then(|debug| files::open_regular(&debug).ok());
    let debug = opened_debug.as_ref().and_then(|file| Some((file, Program::read(file).ok()?)));
    let own = (file, program);

    let is_stripped = own.1.table(elf::SHT_SYMTAB).is_none();
    let has_symbols = |(_, program): &&(&File, Program)| program.table(elf::SHT_SYMTAB).is_some();
    let symbols = debug.as_ref().filter(|_| is_stripped).filter(has_symbols);
    let is_nameless = is_stripped && symbols.is_none();
    let (file, program) = symbols.unwrap_or(&own);
    let mut search = Search::new(&addresses);
    search.add(file, program)?;
    let names = search.names(file);

    let with_debug_information = [Some(&own), debug.as_ref()]
        .into_iter()
        .flatten()
        .find(|(file, program)| dwarf::has_debug_information(file, program));
    let has_debug_information = with_debug_information.is_some();
    let inlined = match with_debug_information {
        Some((file, program)) => dwarf::find(file, program, &addresses),
        None => Err(anyhow!("it has no debug information (-g)")),
    };
    let (inlined, why_not_inlined) = match inlined {
        Ok(inlined) => (inlined, None),
        Err(error) => (Vec::new(), Some(format!("{error:#}"))),
    };
    Ok(Found { names, is_stripped: is_nameless, inlined, why_not_inlined, has_debug_information })
}

/// The best symbols so far for some addresses.
struct Search {
    /// In ascending order, each with its place among the addresses that were asked for.
    addresses: Vec<(u64, usize)>,
    /// Of each address: the innermost function that it lies in.
    within: Vec<Option<Start>>,
    /// Of each address: the nearest symbol without a size (assembler's have none) between the
    /// previous address and this one, and the end of its section.
    sizeless: Vec<Option<(Start, u64)>>,
    /// Of each address: the last start of a function that ends between the previous address and
    /// this one.
    ended: Vec<u64>,
    asked: usize,
    /// Steps that are left for functions in functions, of which a damaged file may have any number.
    steps_left: usize,
}

/// Where a function begins, and where in the file its name does.
#[derive(Clone, Copy)]
struct Start {
    address: u64,
    name: u64,
}

impl Search {
    fn new(asked: &[Option<u64>]) -> Search {
        let addresses = sorted_addresses(asked);
        let count = addresses.len();
        Search {
            addresses,
            within: vec![None; count],
            sizeless: vec![None; count],
            ended: vec![0; count],
            asked: asked.len(),
            steps_left: MAX_STEPS,
        }
    }

    /// Reads a program's table of all symbols, or else that of those which others may call.
    fn add(&mut self, file: &File, program: &Program) -> Result<()> {
        let tables = [elf::SHT_SYMTAB, elf::SHT_DYNSYM];
        let Some([symbols, names]) = tables.iter().find_map(|kind| program.table(*kind)) else {
            return Ok(());
        };
        match program.is_64 {
            true => self.add_as::<FileHeader64<Endianness>>(file, program, [symbols, names]),
            false => self.add_as::<FileHeader32<Endianness>>(file, program, [symbols, names]),
        }
    }

    fn add_as<Elf: FileHeader<Endian = Endianness>>(
        &mut self,
        file: &File,
        program: &Program,
        [symbols, names]: [&Section; 2],
    ) -> Result<()> {
        let endian = program.endian;
        let length = file.metadata().map_or(0, |file| file.len());
        let size = symbols.size.min(MAX_TABLE_BYTES);
        let end = symbols.offset.saturating_add(size).min(length);
        let mut at = symbols.offset;
        while at < end {
            let size = PIECE_BYTES.min(end - at);
            let bytes = read_vec(file, at, size - size % size_of::<Elf::Sym>() as u64)?;
            let Ok(piece) = slice_from_all_bytes::<Elf::Sym>(&bytes) else { break };
            if piece.is_empty() {
                break;
            }
            for symbol in piece {
                let Some(section) = code_section(symbol, program) else { continue };
                let name = u64::from(symbol.st_name(endian));
                if name < names.size {
                    let address = symbol.st_value(endian).into();
                    let start = Start { address, name: names.offset.saturating_add(name) };
                    self.offer(start, symbol.st_size(endian).into(), section);
                }
            }
            at += bytes.len() as u64;
        }
        Ok(())
    }

    /// Enters a symbol at the addresses for which it is the best so far.
    fn offer(&mut self, start: Start, size: u64, section: &Section) {
        let first = self.addresses.partition_point(|(address, _)| *address < start.address);
        if size == 0 {
            let section_end = section.address.saturating_add(section.size);
            if let Some(nearest) = self.sizeless.get_mut(first)
                && nearest.is_none_or(|(nearest, _)| start.address > nearest.address)
            {
                *nearest = Some((start, section_end));
            }
            return;
        }

        let end = start.address.saturating_add(size);
        let after = self.addresses.partition_point(|(address, _)| *address < end).max(first);
        for within in self.within[first..after].iter_mut().take(self.steps_left) {
            if within.is_none_or(|innermost| start.address > innermost.address) {
                *within = Some(start);
            }
        }
        self.steps_left = self.steps_left.saturating_sub(after - first);
        if let Some(ended) = self.ended.get_mut(after) {
            *ended = start.address.max(*ended);
        }
    }

    fn names(&self, file: &File) -> Vec<Option<String>> {
        let mut names = vec![None; self.asked];
        let (mut sizeless, mut ended) = (None, 0);
        for (number, (address, place)) in self.addresses.iter().enumerate() {
            sizeless = self.sizeless[number].or(sizeless);
            ended = self.ended[number].max(ended);

            // A function that ends between the symbol and the address is not the symbol's.
            let after = sizeless
                .filter(|(start, end)| address < end && start.address >= ended)
                .map(|(start, _)| start);
            names[*place] = self.within[number]
                .or(after)
                .and_then(|start| read_name(file, start.name))
                // Marks of assemblers, which are no functions.
                .filter(|name| !name.starts_with(['$', '.']));
        }
        names
    }
}

/// The section in which a symbol's code lies; `None` if it is no function's.
fn code_section<'p, S: Sym<Endian = Endianness>>(
    symbol: &S,
    program: &'p Program,
) -> Option<&'p Section> {
    let kind = symbol.st_type();
    let is_code = [elf::STT_FUNC, elf::STT_GNU_IFUNC, elf::STT_NOTYPE].contains(&kind);
    let section = symbol.st_shndx(program.endian);
    if !is_code || section.is_special() || section == elf::SHN_UNDEF {
        return None;
    }
    program.sections.get(usize::from(section.0))
}

fn read_name(file: &File, at: u64) -> Option<String> {
    let mut bytes = vec![0; MAX_NAME_BYTES];
    let mut length = 0;
    while length < bytes.len() && !bytes[..length].contains(&0) {
        match file.read_at(&mut bytes[length..], at.saturating_add(length as u64)) {
            Ok(read) if read > 0 => length += read,
            _ => break,
        }
    }
    let name = bytes[..length].split(|byte| *byte == 0).next()?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// The program of this test, which has all its symbols.
    fn own() -> (PathBuf, File) {
        let path = std::env::current_exe().unwrap();
        let file = files::open_regular(&path).unwrap();
        (path, file)
    }

    /// The offset in this program's file at which a function of its table begins.
    fn offset_of(file: &File, name: &str) -> u64 {
        let program = Program::read(file).unwrap();
        let [symbols, names] = program.table(elf::SHT_SYMTAB).unwrap();
        let bytes = read_vec(file, symbols.offset, symbols.size).unwrap();
        let piece = slice_from_all_bytes::<elf::Sym64<Endianness>>(&bytes).unwrap();
        let symbol = piece.iter().find(|symbol| {
            let at = names.offset + u64::from(symbol.st_name(program.endian));
            read_name(file, at).is_some_and(|found| found == name)
        });
        let address = symbol.unwrap().st_value(program.endian);
        program.offset(address).unwrap()
    }

    #[test]
    fn functions_are_found_by_their_offsets() {
        let (path, file) = own();
        let main = offset_of(&file, "main");

        let found = find(&path, &file, &[main + 4, u64::MAX, main]).unwrap();

        let main = Some("main".to_owned());
        assert_eq!(found.names, [main.clone(), None, main]);
        assert!(!found.is_stripped);
    }

    #[test]
    fn the_innermost_function_names_an_address() {
        let section = Section { size: 100, ..Section::default() };
        let mut search = Search::new(&[5, 15, 25, 45, 95, 105].map(Some));
        for (address, size) in [(0, 30), (10, 10), (40, 0), (50, 10), (70, 0)] {
            search.offer(Start { address, name: address }, size, &section);
        }

        let within: Vec<Option<u64>> =
            search.within.iter().map(|start| start.map(|start| start.address)).collect();

        assert_eq!(within, [Some(0), Some(10), Some(0), None, None, None]);
        let places: Vec<Option<u64>> =
            search.sizeless.iter().map(|found| found.map(|(start, _)| start.address)).collect();
        assert_eq!(places, [None, None, None, Some(40), Some(70), None]);
    }

    #[test]
    fn damaged_programs_are_read_or_refused() {
        let (_folder, damaged) = dwarf::tests::compiled(&[]);
        let file = files::open_regular(&damaged).unwrap();
        let length = file.metadata().unwrap().len();
        let header = read_vec(&file, 0, 64).unwrap();
        let sections = u64::from_ne_bytes(header[40..48].try_into().unwrap());
        let file = File::options().read(true).write(true).open(&damaged).unwrap();

        for byte in (16..64).chain((sections..length.min(sections + 64 * 40)).step_by(5)) {
            let mut before = [0];
            file.read_exact_at(&mut before, byte).unwrap();
            for value in [0, 0xff] {
                file.write_all_at(&[value], byte).unwrap();
                // Neither panics nor takes all memory.
                let _ = find(&damaged, &file, &[0x1000, 0x100_000]);
            }
            file.write_all_at(&before, byte).unwrap();
        }
        for cut in [0, 3, 15, 63, 100, sections, length - 1] {
            file.set_len(cut).unwrap();
            let _ = find(&damaged, &file, &[0x1000]);
        }
    }
}
