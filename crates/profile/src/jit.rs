//! Functions that a compiler made while the program ran, by the map that it left:
//! `/tmp/perf-PID.map` with a line for each, `START SIZE NAME`, both in hexadecimal.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use crate::names;

/// The most bytes of a map that are read.
const MAX_BYTES: u64 = 64 << 20;

/// The most functions around addresses that are looked at: a damaged map may have any number.
const MAX_STEPS: usize = 100_000_000;

/// The functions at addresses of a process, by the map in `folder`. There is none if it is older
/// than `since`, when another process had that number.
pub fn find(
    folder: &Path,
    process: u32,
    since: SystemTime,
    addresses: &[u64],
) -> Vec<Option<String>> {
    let path = folder.join(format!("perf-{process}.map"));
    let nothing = || vec![None; addresses.len()];
    let Ok(map) = files::open_regular(&path) else { return nothing() };
    let changed = map.metadata().and_then(|file| file.modified());
    if changed.map_or(true, |changed| changed < since) {
        return nothing();
    }
    find_in(map, addresses)
}

fn find_in(map: impl Read, addresses: &[u64]) -> Vec<Option<String>> {
    let mut ascending: Vec<(u64, usize)> = addresses.iter().copied().zip(0..).collect();
    ascending.sort_unstable();
    let mut names = vec![None; addresses.len()];
    let mut steps_left = MAX_STEPS;

    let mut map = BufReader::new(map.take(MAX_BYTES));
    let mut line = Vec::new();
    while map.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        if let Some(Function { start, end, name }) = read_line(&String::from_utf8_lossy(&line)) {
            let first = ascending.partition_point(|(address, _)| *address < start);
            let after = ascending.partition_point(|(address, _)| *address < end).max(first);
            for (_, place) in ascending[first..after].iter().take(steps_left) {
                // Code that is made again lies where the old lay; the last line is true.
                names[*place] = Some(names::in_map(name));
            }
            steps_left = steps_left.saturating_sub(after - first);
        }
        line.clear();
    }
    names
}

/// A line of a map.
struct Function<'l> {
    start: u64,
    end: u64,
    name: &'l str,
}

fn read_line(line: &str) -> Option<Function<'_>> {
    let mut fields = line.trim_end_matches('\n').splitn(3, ' ');
    let mut number = || {
        let digits = fields.next()?;
        u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok()
    };
    let (start, size) = (number()?, number()?);
    Some(Function { start, end: start.saturating_add(size), name: fields.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_names_what_it_covers() {
        let map = b"10 8 JS:~parse a.js:1\n0x20 4 b\nbad line\n20 6 c\n1f 2 d\n22 \xff e";

        let names = find_in(&map[..], &[0xf, 0x18, 0x10, 0x17, 0x24, 0x20]);

        let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
        let parse = Some("parse");
        // The last line that covers an address is true.
        assert_eq!(names, [None, None, parse, parse, Some("c"), Some("d")]);
    }

    #[test]
    fn a_map_that_never_ends_is_cut() {
        let mut map = b"10 8 a\n".to_vec();
        map.resize(usize::try_from(MAX_BYTES).unwrap(), b'x');
        map.extend(b"\n20 8 b\n");

        assert_eq!(find_in(&map[..], &[0x10, 0x20]), [Some("a".to_owned()), None]);
    }
}
