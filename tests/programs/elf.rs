//! What an executable is for, from its ELF header (System V ABI, chapter 4).

/// An executable's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elf {
    pub bits: u32,
    pub big: bool,
    /// `e_machine`.
    pub machine: u16,
    /// Whether it needs a dynamic linker.
    pub interpreted: bool,
}

impl Elf {
    /// Returns the kind of the executable; none where it is no ELF file.
    pub fn of(bytes: &[u8]) -> Option<Elf> {
        let wide = match (bytes.get(..4)?, bytes.get(4)?) {
            (b"\x7fELF", 1) => false,
            (b"\x7fELF", 2) => true,
            _ => return None,
        };
        let big = *bytes.get(5)? == 2;
        let number = |at: usize, size: usize| -> Option<usize> {
            let field = bytes.get(at..at + size)?.iter();
            let join = |number: usize, byte: &u8| number << 8 | usize::from(*byte);
            Some(if big { field.fold(0, join) } else { field.rev().fold(0, join) })
        };
        // e_phoff, e_phentsize, e_phnum; p_type is a segment's first word, and 3 (PT_INTERP) names
        // a linker.
        let (table, size, count) = if wide {
            (number(32, 8)?, number(54, 2)?, number(56, 2)?)
        } else {
            (number(28, 4)?, number(42, 2)?, number(44, 2)?)
        };
        let interpreted = (0..count).any(|segment| number(table + segment * size, 4) == Some(3));
        Some(Elf {
            bits: if wide { 64 } else { 32 },
            big,
            machine: u16::try_from(number(18, 2)?).ok()?,
            interpreted,
        })
    }
}
