//! Histograms as journals have them. They may be a stranger's: nothing is allocated because the text
//! declares it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram as Counters;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit as inflated;

use super::FIGURES;

/// The first bytes of a deflated histogram, before the length of the rest.
const DEFLATED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();

/// The first bytes of the inflated one.
const PLAIN: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();

/// Bytes before the counts: those four, the length of the counts, an offset, the figures, the lowest
/// and the highest duration, a ratio.
const HEADER: usize = 40;

/// Counters of a histogram that has room for every 64-bit duration.
const MOST_COUNTERS: usize = 55 * 1024;

/// Bytes of the longest count.
const LONGEST: usize = 9;

/// More durations than a program can time: at a hundred million a second it would take two days. The
/// sum of as many histograms as a journal may have is still a 64-bit number.
const MOST_COUNT: u64 = 1 << 44;

/// Checks the text of a histogram, of which only the beginning is looked at.
///
/// # Errors
/// It does not begin as [`pack`] writes it.
pub(super) fn check(text: &str) -> Result<(), String> {
    match inflated(&deflated(text)?, HEADER) {
        Ok(whole) => check_start(&whole),
        Err(error) => check_start(&error.output),
    }
}

/// Returns a histogram as text.
pub(super) fn pack(counters: &Counters<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    let _ = V2DeflateSerializer::new().serialize(counters, &mut bytes);
    STANDARD.encode(bytes)
}

/// Returns the histogram of a text.
///
/// # Errors
/// It is not what [`pack`] writes.
pub(super) fn unpack(text: &str) -> Result<Counters<u64>, String> {
    let plain = inflated(&deflated(text)?, HEADER + LONGEST * MOST_COUNTERS)
        .map_err(|error| format!("a damaged histogram: {error}"))?;
    check_start(&plain)?;
    check_counts(&plain)?;
    Deserializer::new().deserialize(&mut plain.as_slice()).map_err(|error| format!("a damaged histogram: {error}"))
}

/// Returns what a text has deflated.
fn deflated(text: &str) -> Result<Vec<u8>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("the histogram is not base64: {error}"))?;
    let rest = bytes.strip_prefix(&DEFLATED).and_then(|rest| after_its_length(rest, 0));
    let rest = rest.ok_or("a damaged histogram: it does not begin as one, or has another length than it says")?;
    Ok(rest.to_vec())
}

/// Returns the bytes after a length and `between` more bytes, if it is as long as that says.
fn after_its_length(bytes: &[u8], between: usize) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let rest = rest.get(between..)?;
    (u32::from_be_bytes(*length) as usize == rest.len()).then_some(rest)
}

/// Checks the figures and the lowest duration, which say how many counters there are.
fn check_start(plain: &[u8]) -> Result<(), String> {
    if !plain.starts_with(&PLAIN) {
        return Err("a damaged histogram: what it has deflated is none".to_owned());
    }
    let own = [0, 0, 0, FIGURES, 0, 0, 0, 0, 0, 0, 0, 1];
    if plain.get(12..24) != Some(&own[..]) {
        return Err("a histogram with other figures, or another lowest duration, than unixmark writes".to_owned());
    }
    Ok(())
}

/// Checks what the library believes: the length, which it allocates, and each count.
fn check_counts(plain: &[u8]) -> Result<(), String> {
    let counts = plain.strip_prefix(&PLAIN).and_then(|rest| after_its_length(rest, HEADER - 8));
    let mut rest = counts.ok_or("a damaged histogram: its counts have another length than it says")?;
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (number, after) = first_number(rest).ok_or("a damaged histogram: its last count is cut short")?;
        // An odd number stands for as many empty counters.
        let is_empty = number % 2 == 1;
        if is_empty && number / 2 >= MOST_COUNTERS as u64 {
            return Err("a damaged histogram: it has more counters than there are durations".to_owned());
        }
        total = total.saturating_add(if is_empty { 0 } else { number / 2 });
        rest = after;
    }
    if total > MOST_COUNT {
        return Err("a damaged histogram: it counts more durations than can be measured".to_owned());
    }
    Ok(())
}

/// The number that bytes begin with (LEB128; the ninth byte counts whole), and the bytes after it.
fn first_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let last = bytes.iter().take(LONGEST - 1).position(|byte| byte & 0x80 == 0).unwrap_or(LONGEST - 1);
    let (number, rest) = bytes.split_at_checked(last + 1)?;
    let add = |sum: u64, (place, byte): (usize, &u8)| {
        let bits = if place + 1 < LONGEST { byte & 0x7f } else { *byte };
        sum | u64::from(bits) << (7 * place)
    };
    Some((number.iter().enumerate().fold(0, add), rest))
}

#[cfg(test)]
mod tests {
    use super::super::empty;
    use super::*;
    use miniz_oxide::deflate::compress_to_vec_zlib;

    /// A histogram with this header and these counts, whatever they are.
    fn forged(length: u32, figures: u32, low: u64, high: u64, counts: &[u8]) -> String {
        let mut plain = PLAIN.to_vec();
        plain.extend([length, 0, figures].map(u32::to_be_bytes).as_flattened());
        plain.extend([low, high, 1.0_f64.to_bits()].map(u64::to_be_bytes).as_flattened());
        plain.extend(counts);
        packed(&plain)
    }

    fn packed(plain: &[u8]) -> String {
        let zlib = compress_to_vec_zlib(plain, 6);
        STANDARD.encode([&DEFLATED[..], &(zlib.len() as u32).to_be_bytes(), &zlib].concat())
    }

    fn refused(text: String) -> String {
        check(&text).and_then(|()| unpack(&text)).unwrap_err()
    }

    #[test]
    fn what_a_text_declares_is_not_believed() {
        let high = u64::MAX >> 1;
        assert_eq!(unpack(&forged(1, 3, 1, high, &[4])).unwrap().len(), 2);
        for length in [0, 2, u32::MAX] {
            assert!(refused(forged(length, 3, 1, high, &[4])).contains("another length"), "{length}");
        }
        for (figures, low) in [(5, 1), (2, 1), (0x0103, 1), (3, 2), (3, 0)] {
            assert!(refused(forged(1, figures, low, high, &[4])).contains("other figures"), "{figures} {low}");
        }
        assert!(refused(forged(1, 3, 1, 1, &[4])).contains("damaged"));
        // Four gigabytes of nothing, in four megabytes of text; here a few.
        let long = packed(&vec![0; 2 * LONGEST * MOST_COUNTERS]);
        assert!(refused(long).contains("damaged"));
        // One that is not deflated is not what the tool writes.
        assert!(refused(STANDARD.encode(PLAIN)).contains("does not begin as one"));
    }

    #[test]
    fn counts_that_run_past_are_refused() {
        let with = |counts: &[u8]| forged(counts.len() as u32, 3, 1, 1 << 20, counts);
        for counts in [&[0xff; 9][..], &[0xff; 8], &[0x80], &[0xff, 0xff, 0xff, 0xff, 0x7f, 2]] {
            assert!(refused(with(counts)).contains("damaged"), "{counts:?}");
        }
        // As many empty counters as are legal, and one more than the highest duration has.
        assert!(refused(with(&[0xff, 0xff, 5, 2])).contains("longer than it should be"));
        let all: Vec<u8> = [0xfe; 8].into_iter().chain([0x0f]).collect();
        assert!(refused(with(&all)).contains("more durations than can be measured"));
    }

    /// Every count that can be written is read.
    #[test]
    fn numbers_of_every_length() {
        for bits in 0..=44 {
            let mut counters = empty();
            counters.record_n(1 << bits, 1 << bits).unwrap();
            assert!(unpack(&pack(&counters)).unwrap() == counters, "{bits}");
        }
        let mut all = empty();
        all.record(u64::MAX).unwrap();
        assert_eq!(all.distinct_values(), MOST_COUNTERS);
        assert_eq!(unpack(&pack(&all)).unwrap().len(), 1);
    }
}
