//! Instructions by address, as callgrind counts them with `--dump-instr=yes --dump-line=no
//! --compress-pos=no --compress-strings=no`:
//!
//! ```text
//! pid: 5699
//! cmd:  ./tool
//! positions: instr
//! events: Ir
//!
//! ob=/home/me/tool
//! fn=main
//! 0x116b 1
//! cfn=work
//! calls=1 0x114d
//! 0x1170 6028
//! ```
//!
//! `main` has executed an instruction at 0x116b. From 0x1170 it called `work`, in which 6028 were
//! executed; these are counted where `work` has them. Addresses are those of the object's symbols;
//! what is in no file is in the object `???`, at addresses of the process. Names are not read:
//! those of samples are found by addresses, too, and functions are matched by names.

use std::collections::{BTreeMap, HashMap};

/// The object of code that is in no file.
const NO_FILE: &str = "???";

/// What a process has executed.
#[derive(Debug, Default, PartialEq)]
pub struct Counted<'t> {
    pub process: u32,
    /// By the path of the file: instructions at addresses.
    pub files: BTreeMap<&'t str, HashMap<u64, u64>>,
    /// Instructions at addresses of code that is in no file.
    pub made: HashMap<u64, u64>,
}

/// Reads what callgrind has written. Lines that it does not write are passed over.
pub fn read(text: &str) -> Counted<'_> {
    let mut counted = Counted::default();
    let mut object = NO_FILE;
    // The words of the command come before this line, and may look like any other.
    let mut is_after_command = false;
    let mut is_of_call = false;
    for line in text.lines() {
        if !is_after_command {
            if let Some(process) = line.strip_prefix("pid: ") {
                counted.process = process.trim().parse().unwrap_or(0);
            }
            is_after_command = line.starts_with("events: ");
        } else if let Some(path) = line.strip_prefix("ob=") {
            object = path;
        } else if line.starts_with("calls=") {
            is_of_call = true;
        } else if let Some((address, instructions)) = read_cost(line) {
            if !is_of_call {
                let by_address = match object {
                    NO_FILE => &mut counted.made,
                    path => counted.files.entry(path).or_default(),
                };
                let sum = by_address.entry(address).or_default();
                *sum = sum.saturating_add(instructions);
            }
            is_of_call = false;
        }
    }
    counted
}

/// `0x116b 1`, of which either may be missing at the end of a file that is cut.
fn read_cost(line: &str) -> Option<(u64, u64)> {
    let (address, instructions) = line.strip_prefix("0x")?.split_once(' ')?;
    Some((u64::from_str_radix(address, 16).ok()?, instructions.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_count_where_they_are_and_not_where_they_are_called_from() {
        let text = "\
            pid: 5699\ncmd:  ./tool ob=/x\npositions: instr\nevents: Ir\nsummary: 6040\n\n\
            ob=/home/me/tool\nfl=???\nfn=main\n0x116b 1\ncob=/lib/libc.so.6\ncfn=work\n\
            calls=1 0x114d \n0x1170 6028\n0x1170 1\n\nfn=work\n0x114d 2\nfn=main\n0x116b 3\n\n\
            ob=???\nfn=???\n0x4000000 7\nob=/lib/libc.so.6\nfn=exit\n0x10 5\n0x\n0x1";

        let counted = read(text);

        assert_eq!(counted.process, 5699);
        let tool = HashMap::from([(0x116b, 4), (0x1170, 1), (0x114d, 2)]);
        let library = HashMap::from([(0x10, 5)]);
        let expected = BTreeMap::from([("/home/me/tool", tool), ("/lib/libc.so.6", library)]);
        assert_eq!(counted.files, expected);
        assert_eq!(counted.made, HashMap::from([(0x400_0000, 7)]));
    }
}
