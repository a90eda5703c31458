//! How often each system call was made, as `strace -c` and `perf trace -s` print it. A row of
//! strace's begins with a share and ends in the name; one of perf's begins with the name:
//!
//! ```text
//! % time     seconds  usecs/call     calls    errors syscall
//!  29.33    0.000010           1        12         3 newfstatat
//!
//!   syscall            calls  errors  total       min       avg       max       stddev
//!   read                  12      0     0.030     0.001     0.002     0.005     10.00%
//! ```

use std::collections::BTreeMap;

use anyhow::{Result, bail};

/// Minimum words in a row of perf's: a name and six numbers.
const MIN_PERF_WORDS: usize = 7;

/// The number of calls by their names, of all processes together.
///
/// # Errors
/// The text has no table of system calls.
pub fn calls(text: &str) -> Result<BTreeMap<String, u64>> {
    let mut calls = BTreeMap::new();
    for (name, count) in text.lines().filter_map(parse_row) {
        let total: &mut u64 = calls.entry(name.to_owned()).or_default();
        *total = total.saturating_add(count);
    }
    if calls.is_empty() {
        bail!(
            "it has no table of system calls; try what `strace -f -c -o FILE` or `perf trace -s -o FILE` writes"
        );
    }
    Ok(calls)
}

/// The name of a row's system call, and how often it was made; `None` for a line that is no row,
/// and for strace's total.
fn parse_row(line: &str) -> Option<(&str, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, count) = match &words[..] {
        [share, _, _, count, .., name] if is_number(share) => (*name, count),
        [name, numbers @ ..]
            if words.len() >= MIN_PERF_WORDS && numbers.iter().all(|word| is_number(word)) =>
        {
            (*name, &numbers[0])
        }
        _ => return None,
    };
    if name == "total" || !is_call_name(name) {
        return None;
    }
    Some((name, count.parse().ok()?))
}

fn is_number(word: &str) -> bool {
    word.trim_end_matches('%').parse::<f64>().is_ok()
}

fn is_call_name(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, u64)> {
        calls(text).unwrap().into_iter().collect()
    }

    fn known(calls: &[(&str, u64)]) -> Vec<(String, u64)> {
        calls.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn the_table_of_strace_is_read_with_and_without_errors() {
        let text = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 40.00    0.000022          22         1           execve
 29.33    0.000010           1        12         3 newfstatat
------ ----------- ----------- --------- --------- ----------------
100.00    0.000075           1        13         3 total
";
        assert_eq!(read(text), known(&[("execve", 1), ("newfstatat", 12)]));
    }

    #[test]
    fn the_tables_of_perf_are_added_over_threads() {
        let text = "\
 Summary of events:

 sh (4711), 60 events, 98.4%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   read                  12      0     0.030     0.001     0.002     0.005     10.00%
   pread64                2      0     0.003     0.001     0.002     0.002      1.00%

 cat (4712), 10 events, 1.6%

   read                   3      0     0.030     0.001     0.002     0.005     10.00%
";
        assert_eq!(read(text), known(&[("pread64", 2), ("read", 15)]));
    }

    #[test]
    fn a_text_without_a_table_is_refused() {
        for text in [
            "",
            "it took 12 seconds\n",
            "read(3, \"1 2 3 4 5 6 7\", 512) = 14\n",
            "100.00 0.1 1 13 3 total\n",
        ] {
            assert!(
                calls(text).unwrap_err().to_string().starts_with("it has no table of system calls"),
                "{text}"
            );
        }
    }
}
