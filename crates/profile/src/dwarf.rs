//! The functions that a compiler inlined at addresses of a program, by its debug information
//! (DWARF), since inlined functions have no symbols.
//!
//! 1. The sections that are needed are read ([`Sections::read`]), unless they are too large.
//! 2. A unit, which is a file that was compiled, says at which addresses it has code. If one of the
//!    wanted addresses is among them, its entries are searched ([`Search::add_unit`]).
//! 3. An entry for an inlined call says where its code is and which function it is a copy of. The
//!    calls inlined within it follow it, so the functions at an address come outermost first.
//!
//! Debug information may be damaged so that it has no end: entries that refer to each other,
//! millions of units that share a long list. So the search ends after [`MAX_SECONDS`].

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use flate2::read::ZlibDecoder;
use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, Dwarf, EndianSlice, RangeIter,
    RunTimeEndian, SectionId, Unit, UnitOffset, UnitType, constants,
};
use object::{Endian as _, Endianness};

use crate::elf::{Program, Section, read_vec, sorted_addresses};

/// The most bytes of all sections that are read, when they are no longer compressed.
const MAX_BYTES: u64 = 192 << 20;

/// The longest time for a program.
const MAX_SECONDS: u64 = 10;

/// The steps between looks at the clock.
const STEPS_PER_LOOK: u32 = 1024;

/// The most inlined functions at an address.
const MAX_INLINED: usize = 32;

/// The most entries from a copy of a function to its name.
const MAX_REFERENCES: usize = 16;

/// The most bytes of a name.
const MAX_NAME_BYTES: usize = 4096;

/// The type of compression that is read, from elf.h, and the bytes before what is compressed.
const ZLIB: u32 = 1;
const HEADER_32_BYTES: u64 = 12;
const HEADER_64_BYTES: u64 = 24;

type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;
type Entry<'a> = DebuggingInformationEntry<Bytes<'a>>;

/// True if a program has debug information at all.
pub fn has_debug_information(file: &File, program: &Program) -> bool {
    program.section(file, SectionId::DebugInfo.name()).is_some()
}

/// Finds the functions that are inlined at each address, the innermost first. Their names are
/// those of the debug information, which may be mangled.
///
/// # Errors
/// The debug information is damaged, too large, or elsewhere.
pub fn find(file: &File, program: &Program, addresses: &[Option<u64>]) -> Result<Vec<Vec<String>>> {
    let mut sections = Sections { file, program, left: MAX_BYTES };
    let bytes = gimli::DwarfSections::load(|id| sections.read(id))?;
    let endian = match program.endian {
        Endianness::Little => RunTimeEndian::Little,
        Endianness::Big => RunTimeEndian::Big,
    };
    let dwarf = bytes.borrow(|section| EndianSlice::new(section, endian));

    let mut search = Search::new(&dwarf, addresses);
    search.add_units().map_err(|error| match error.downcast::<gimli::Error>() {
        Ok(error) => anyhow!("its debug information is damaged ({error})"),
        Err(error) => error,
    })?;
    let mut chains = search.chains;
    for chain in &mut chains {
        chain.reverse();
    }
    Ok(chains)
}

/// Reads the sections of debug information.
struct Sections<'f> {
    file: &'f File,
    program: &'f Program,
    /// Bytes that may still be read.
    left: u64,
}

impl Sections<'_> {
    /// The bytes of a section; none if it is not needed, or not there.
    fn read(&mut self, id: SectionId) -> Result<Vec<u8>> {
        let is_needed = matches!(
            id,
            SectionId::DebugAbbrev
                | SectionId::DebugAddr
                | SectionId::DebugInfo
                | SectionId::DebugLine
                | SectionId::DebugLineStr
                | SectionId::DebugRanges
                | SectionId::DebugRngLists
                | SectionId::DebugStr
                | SectionId::DebugStrOffsets
        );
        match self.program.section(self.file, id.name()).filter(|_| is_needed) {
            Some(section) if section.is_compressed => self.read_compressed(section),
            Some(section) => {
                self.take(section.size)?;
                read_vec(self.file, section.offset, section.size)
            }
            None => Ok(Vec::new()),
        }
    }

    fn take(&mut self, size: u64) -> Result<()> {
        let left = self.left.checked_sub(size);
        self.left = left.with_context(|| {
            format!("its debug information has more than the {} MiB that are read", MAX_BYTES >> 20)
        })?;
        Ok(())
    }

    fn read_compressed(&mut self, section: &Section) -> Result<Vec<u8>> {
        let header_bytes = if self.program.is_64 { HEADER_64_BYTES } else { HEADER_32_BYTES };
        self.take(section.size)?;
        let bytes = read_vec(self.file, section.offset, section.size)?;
        let (header, compressed) = bytes
            .split_at_checked(header_bytes as usize)
            .context("its debug information is truncated")?;
        let [a, b, c, d, ..] = *header else { bail!("its debug information is truncated") };
        ensure!(
            self.program.endian.read_u32([a, b, c, d]) == ZLIB,
            "its debug information is compressed with a method other than zlib"
        );

        // The size that the header says may be any.
        let mut text = Vec::new();
        ZlibDecoder::new(compressed).take(self.left + 1).read_to_end(&mut text)?;
        self.take(text.len() as u64)?;
        Ok(text)
    }
}

/// The inlined functions so far at some addresses.
struct Search<'d> {
    dwarf: &'d Dwarf<Bytes<'d>>,
    /// In ascending order, each with its place among the addresses that were asked for.
    addresses: Vec<(u64, usize)>,
    /// Of each address that was asked for: the functions, the outermost first.
    chains: Vec<Vec<String>>,
    /// Of each: the function with a symbol in which they are. Linkers make one of equal functions,
    /// so that several would say what is in it.
    owners: Vec<Option<DebugInfoOffset>>,
    /// Where units begin, in ascending order.
    unit_starts: Vec<DebugInfoOffset>,
    /// Names by the entries that have them.
    names: HashMap<DebugInfoOffset, Option<String>>,
    steps: u32,
    end: Instant,
}

impl<'d> Search<'d> {
    fn new(dwarf: &'d Dwarf<Bytes<'d>>, asked: &[Option<u64>]) -> Search<'d> {
        Search {
            dwarf,
            addresses: sorted_addresses(asked),
            chains: vec![Vec::new(); asked.len()],
            owners: vec![None; asked.len()],
            unit_starts: Vec::new(),
            names: HashMap::new(),
            steps: 0,
            end: Instant::now() + Duration::from_secs(MAX_SECONDS),
        }
    }

    fn step(&mut self) -> Result<()> {
        self.steps = self.steps.wrapping_add(1);
        let is_late = self.steps.is_multiple_of(STEPS_PER_LOOK) && Instant::now() > self.end;
        ensure!(!is_late, "its debug information takes more than {MAX_SECONDS} s to read");
        Ok(())
    }

    fn add_units(&mut self) -> Result<()> {
        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            self.step()?;
            self.unit_starts.extend(header.debug_info_offset());
        }

        let mut headers = self.dwarf.units();
        while let Some(header) = headers.next()? {
            // A unit's table of abbreviations may take as long as many entries.
            self.steps = self.steps.next_multiple_of(STEPS_PER_LOOK).wrapping_sub(1);
            self.step()?;
            if matches!(header.type_(), UnitType::Type { .. } | UnitType::Partial) {
                continue;
            }
            let unit = self.dwarf.unit(header)?;
            ensure!(
                unit.dwo_name()?.is_none(),
                "its debug information is in files of its own (-gsplit-dwarf)"
            );
            if !self.places_in(self.dwarf.unit_ranges(&unit)?)?.is_empty() {
                self.add_unit(&unit)?;
            }
        }
        Ok(())
    }

    /// The addresses that lie in ranges, by their places.
    fn places_in(&mut self, mut ranges: RangeIter<Bytes<'d>>) -> Result<Vec<usize>> {
        let mut places = Vec::new();
        while let Some(range) = ranges.next()? {
            self.step()?;
            let first = self.addresses.partition_point(|(address, _)| *address < range.begin);
            let inside = self.addresses[first..].iter();
            let inside = inside.take_while(|(address, _)| *address < range.end);
            // More than there are would be ranges that overlap.
            let room = self.addresses.len().saturating_sub(places.len());
            places.extend(inside.take(room).map(|(_, place)| *place));
        }
        Ok(places)
    }

    fn add_unit(&mut self, unit: &Unit<Bytes<'d>>) -> Result<()> {
        let mut owner = DebugInfoOffset(0);
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            self.step()?;
            if entry.tag() == constants::DW_TAG_subprogram {
                owner = entry.offset().to_debug_info_offset(&unit.header).unwrap_or(owner);
            }
            if entry.tag() != constants::DW_TAG_inlined_subroutine {
                continue;
            }

            let places = self.places_in(self.dwarf.die_ranges(unit, entry)?)?;
            if places.is_empty() {
                continue;
            }
            let Some(name) = self.name(unit, entry)? else { continue };
            for place in places {
                let is_first = *self.owners[place].get_or_insert(owner) == owner;
                if is_first && self.chains[place].len() < MAX_INLINED {
                    self.chains[place].push(name.clone());
                }
            }
        }
        Ok(())
    }

    /// The name of the function that an entry is a copy of.
    fn name(&mut self, unit: &Unit<Bytes<'d>>, entry: &Entry<'d>) -> Result<Option<String>> {
        let Some(origin) = entry.attr_value(constants::DW_AT_abstract_origin) else {
            return Ok(None);
        };
        let at = match origin {
            AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&unit.header),
            AttributeValue::DebugInfoRef(offset) => Some(offset),
            // In a file that several packages share (dwz).
            _ => None,
        };
        let Some(at) = at else { return Ok(None) };
        if let Some(name) = self.names.get(&at) {
            return Ok(name.clone());
        }
        let name = self.find_name(unit, at)?;
        self.names.insert(at, name.clone());
        Ok(name)
    }

    /// The name at an entry or at those that it refers to: the linker's, or else the source's.
    fn find_name(
        &mut self,
        unit: &Unit<Bytes<'d>>,
        mut at: DebugInfoOffset,
    ) -> Result<Option<String>> {
        let mut of_source = None;
        // Holds the unit of an entry in another unit while the entry is read.
        let mut other_unit = None;
        for _ in 0..MAX_REFERENCES {
            self.step()?;
            let unit = match at.to_unit_offset(&unit.header) {
                Some(_) => unit,
                None => &*other_unit.insert(self.unit_of(at)?),
            };
            let offset: UnitOffset = at
                .to_unit_offset(&unit.header)
                .context("its debug information is damaged (an entry refers to nothing)")?;
            let entry = unit.entry(offset)?;

            let text = |name| {
                let value = entry.attr_value(name)?;
                let text = self.dwarf.attr_string(unit, value).ok()?.slice();
                let text = &text[..text.len().min(MAX_NAME_BYTES)];
                Some(String::from_utf8_lossy(text).into_owned())
            };
            let of_linker = text(constants::DW_AT_linkage_name)
                .or_else(|| text(constants::DW_AT_MIPS_linkage_name));
            if of_linker.is_some() {
                return Ok(of_linker);
            }
            of_source = of_source.or_else(|| text(constants::DW_AT_name));

            let origin = entry
                .attr_value(constants::DW_AT_abstract_origin)
                .or_else(|| entry.attr_value(constants::DW_AT_specification));
            let next = match origin {
                Some(AttributeValue::UnitRef(offset)) => offset.to_debug_info_offset(&unit.header),
                Some(AttributeValue::DebugInfoRef(offset)) => Some(offset),
                _ => None,
            };
            let Some(next) = next else { break };
            at = next;
        }
        Ok(of_source)
    }

    /// The unit in which an entry lies.
    fn unit_of(&self, at: DebugInfoOffset) -> Result<Unit<Bytes<'d>>> {
        let after = self.unit_starts.partition_point(|start| start.0 <= at.0);
        let start = after.checked_sub(1).and_then(|number| self.unit_starts.get(number));
        let header = self.dwarf.unit_header(
            *start.context("its debug information is damaged (an entry lies in no unit)")?,
        )?;
        Ok(self.dwarf.unit(header)?)
    }
}

#[cfg(test)]
pub mod tests {
    use std::os::unix::fs::FileExt as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;
    use crate::symbols;

    const SOURCE: &str = "
        static inline __attribute__((always_inline)) long inner(long x)
        { for (long i = 0; i < x; i++) x ^= x << 13 ^ i; return x; }
        static inline __attribute__((always_inline)) long middle(long x) { return inner(x * 3) + 1; }
        __attribute__((noinline)) long outer(long x) { return middle(x) + x; }
        int main(int count, char **words) { (void)words; return (int)outer(count); }
    ";

    /// A program with debug information, compiled with these options too.
    pub fn compiled(options: &[&str]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source.c");
        std::fs::write(&source, SOURCE).unwrap();
        let program = folder.path().join("program");
        let status = Command::new("cc")
            .args(["-O1", "-g"])
            .args(options)
            .arg("-o")
            .args([&program, &source])
            .status()
            .unwrap();
        assert!(status.success());
        (folder, program)
    }

    /// What is found at each byte of a program's code.
    fn found_in(path: &Path) -> symbols::Found {
        let file = files::open_regular(path).unwrap();
        let program = Program::read(&file).unwrap();
        let text = program.section(&file, ".text").unwrap();
        let offsets: Vec<u64> = (text.offset..text.offset + text.size).collect();
        symbols::find(path, &file, &offsets).unwrap()
    }

    #[test]
    fn inlined_functions_are_found_the_innermost_first() {
        for options in [&[][..], &["-gz"], &["-gdwarf-4"], &["-fdebug-types-section"]] {
            let (_folder, program) = compiled(options);

            let found = found_in(&program);

            assert_eq!(found.why_not_inlined, None, "{options:?}");
            let at = found.inlined.iter().position(|chain| *chain == ["inner", "middle"]);
            assert_eq!(found.names[at.unwrap()].as_deref(), Some("outer"), "{options:?}");
        }
    }

    #[test]
    fn what_has_no_inlined_functions_says_why() {
        for (options, why) in [
            (&["-g0"][..], "it has no debug information (-g)"),
            (&["-gsplit-dwarf"], "its debug information is in files of its own (-gsplit-dwarf)"),
        ] {
            let (_folder, program) = compiled(options);

            let found = found_in(&program);

            assert_eq!(found.why_not_inlined.as_deref(), Some(why));
            assert!(found.inlined.is_empty());
            assert!(found.names.iter().flatten().any(|name| name == "outer"));
        }
    }

    #[test]
    fn debug_information_of_any_size_is_refused_from_a_size_on() {
        let (_folder, program) = compiled(&[]);
        let file = files::open_regular(&program).unwrap();
        let program = Program::read(&file).unwrap();
        let mut sections = Sections { file: &file, program: &program, left: 100 };

        let refusal = sections.read(SectionId::DebugInfo).unwrap_err().to_string();

        assert_eq!(refusal, "its debug information has more than the 192 MiB that are read");
    }

    #[test]
    fn damaged_debug_information_is_read_or_refused() {
        for options in [&[][..], &["-gz"], &["-gdwarf-4"]] {
            let (_folder, path) = compiled(options);
            let file = File::options().read(true).write(true).open(&path).unwrap();
            let program = Program::read(&file).unwrap();
            let addresses: Vec<Option<u64>> = (0x1000..0x1400).map(Some).collect();

            for name in [".debug_info", ".debug_abbrev", ".debug_rnglists", ".debug_line"] {
                let Some(section) = program.section(&file, name) else { continue };
                for byte in (section.offset..section.offset + section.size).step_by(3) {
                    let mut before = [0];
                    file.read_exact_at(&mut before, byte).unwrap();
                    for value in [0, 0x7f, 0xff, before[0] ^ 1] {
                        file.write_all_at(&[value], byte).unwrap();
                        // Neither panics nor takes all memory or time.
                        let _ = find(&file, &program, &addresses);
                    }
                    file.write_all_at(&before, byte).unwrap();
                }
            }
        }
    }
}
