//! The parts of an ELF file that say where the others are.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use object::elf::{self, FileHeader32, FileHeader64};
use object::pod::{Pod, from_bytes, slice_from_all_bytes};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endian, Endianness};

/// The most bytes of a section with notes, of which one is the build's id.
const MAX_NOTE_BYTES: u64 = 4096;

/// The flag of sections whose bytes are compressed.
const COMPRESSED: u64 = 1 << 11;

/// Where distributions keep the symbols of what they strip.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// What is known of a program without its symbols.
pub struct Program {
    pub is_64: bool,
    pub endian: Endianness,
    segments: Vec<Segment>,
    pub sections: Vec<Section>,
    /// The section with the names of sections.
    names: usize,
}

/// A part of the file that is mapped.
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

#[derive(Debug, Default)]
pub struct Section {
    pub kind: elf::SectionType,
    pub offset: u64,
    pub size: u64,
    pub address: u64,
    pub link: u32,
    pub is_compressed: bool,
    /// Where its name begins in the section of names.
    pub name: u32,
}

impl Program {
    pub fn read(file: &File) -> Result<Program> {
        let ident: [u8; 16] = read_vec(file, 0, 16)?.try_into().unwrap_or_default();
        ensure!(ident.starts_with(&elf::ELFMAG), "it is no ELF file");
        match ident[4] {
            1 => Program::read_as::<FileHeader32<Endianness>>(file, false),
            2 => Program::read_as::<FileHeader64<Endianness>>(file, true),
            class => bail!("it is an ELF file of class {class}, which does not exist"),
        }
    }

    fn read_as<Elf: FileHeader<Endian = Endianness>>(file: &File, is_64: bool) -> Result<Program> {
        let bytes = read_vec(file, 0, size_of::<Elf>() as u64)?;
        let Ok((header, _)) = from_bytes::<Elf>(&bytes) else { bail!("its header is cut") };
        let endian = header.endian().ok().context("its byte order does not exist")?;

        // At most 65,535 of each, as the counts have 16 bits. Those that do not fit these belong to
        // object files, which nobody executes.
        let segments: Vec<Elf::ProgramHeader> =
            read_entries(file, header.e_phoff(endian).into(), header.e_phnum(endian))?;
        let sections: Vec<Elf::SectionHeader> =
            read_entries(file, header.e_shoff(endian).into(), header.e_shnum(endian))
                .unwrap_or_default();
        Ok(Program {
            is_64,
            endian,
            segments: segments
                .iter()
                .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
                .map(|segment| Segment {
                    offset: segment.p_offset(endian).into(),
                    size: segment.p_filesz(endian).into(),
                    address: segment.p_vaddr(endian).into(),
                })
                .collect(),
            sections: sections
                .iter()
                .map(|section| Section {
                    kind: section.sh_type(endian),
                    offset: section.sh_offset(endian).into(),
                    size: section.sh_size(endian).into(),
                    address: section.sh_addr(endian).into(),
                    link: section.sh_link(endian),
                    is_compressed: section.sh_flags(endian).0 & COMPRESSED != 0,
                    name: section.sh_name(endian),
                })
                .collect(),
            names: usize::from(header.e_shstrndx(endian).0),
        })
    }

    /// The address that symbols have for an offset in the file.
    pub fn address(&self, offset: u64) -> Option<u64> {
        let segment = self.segments.iter().find(|segment| {
            offset.checked_sub(segment.offset).is_some_and(|at| at < segment.size)
        })?;
        Some((offset - segment.offset).wrapping_add(segment.address))
    }

    /// The offset in the file at which the program's code for an address lies.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let segment = self.segments.iter().find(|segment| {
            address.checked_sub(segment.address).is_some_and(|at| at < segment.size)
        })?;
        Some(address - segment.address + segment.offset)
    }

    /// The table of symbols of a kind, and that of their names.
    pub fn table(&self, kind: elf::SectionType) -> Option<[&Section; 2]> {
        let table = self.sections.iter().find(|section| section.kind == kind)?;
        Some([table, self.sections.get(table.link as usize)?])
    }

    /// The file in which the distribution keeps this program's symbols, by the id of its build.
    pub fn debug_file(&self, file: &File) -> Option<PathBuf> {
        let notes = self
            .sections
            .iter()
            .filter(|section| section.kind == elf::SHT_NOTE && section.size <= MAX_NOTE_BYTES);
        for section in notes {
            let Ok(bytes) = read_vec(file, section.offset, section.size) else { continue };
            // Sizes of name and content, type, name, content.
            let number = |at: usize| {
                let field: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
                Some(self.endian.read_u32(field))
            };
            if (number(0)?, number(8)?, bytes.get(12..16)?) != (4, 3, b"GNU\0") {
                continue;
            }
            let id = bytes.get(16..16 + number(4)? as usize)?;
            let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            let (folder, name) = digits.split_at_checked(2)?;
            return Some(PathBuf::from(format!("{DEBUG_FILES}/{folder}/{name}.debug")));
        }
        None
    }

    /// The section of a name.
    pub fn section(&self, file: &File, name: &str) -> Option<&Section> {
        let names = self.sections.get(self.names)?;
        self.sections.iter().find(|section| {
            let at = names.offset.saturating_add(section.name.into());
            let bytes = read_vec(file, at, name.len() as u64 + 1);
            bytes.is_ok_and(|bytes| bytes.strip_suffix(b"\0") == Some(name.as_bytes()))
        })
    }
}

fn read_entries<T: Pod + Clone>(file: &File, offset: u64, count: u16) -> Result<Vec<T>> {
    let bytes = read_vec(file, offset, u64::from(count) * size_of::<T>() as u64)?;
    let Ok(entries) = slice_from_all_bytes::<T>(&bytes) else { bail!("a table is cut") };
    Ok(entries.to_vec())
}

/// Reads bytes that must be there. Callers bound `size`.
pub fn read_vec(file: &File, offset: u64, size: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(size)?];
    file.read_exact_at(&mut bytes, offset).context("it ends before it should")?;
    Ok(bytes)
}

/// The addresses that are known, in ascending order, each with its place among those asked for.
pub fn sorted_addresses(asked: &[Option<u64>]) -> Vec<(u64, usize)> {
    let places = asked.iter().enumerate();
    let mut addresses: Vec<(u64, usize)> =
        places.filter_map(|(place, address)| Some(((*address)?, place))).collect();
    addresses.sort_unstable();
    addresses
}
