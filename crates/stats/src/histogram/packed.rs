//! Packs histograms into the text that journals have, and unpacks it.
//!
//! ```text
//! base64 ┬ DEFLATED, length of the rest
//!        └ zlib ┬ PLAIN, length of the counts, offset, figures, lowest, highest, ratio
//!               └ counts: LEB128 of zigzag numbers; a negative one is a run of empty counters
//! ```
//!
//! A text may be a stranger's, so its declared lengths are checked before anything is allocated.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram as Counters;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit as inflated;

use super::SIGNIFICANT_FIGURES;

/// The magic number of a deflated histogram.
const DEFLATED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();

/// The magic number of an inflated histogram.
const PLAIN: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();

/// Bytes before the counts, PLAIN included.
const HEADER_BYTES: usize = 40;

/// Counters of a histogram that has room for every 64-bit duration.
const MAX_COUNTERS: usize = 55 * 1024;

/// The most figures that HdrHistogram keeps, and the counters that it has with them.
const MAX_FIGURES: u8 = 5;
const MAX_COUNTERS_OF_ANY: usize = 48 << 17;

/// Bytes of the longest count.
const MAX_COUNT_BYTES: usize = 9;

/// More durations than a program can time: at a hundred million a second it would take two days.
/// Sums over all histograms of a journal still fit 64 bits.
const MAX_DURATIONS: u64 = 1 << 44;

/// Checks the beginning of a histogram's text.
///
/// # Errors
/// The text does not begin as [`pack`] writes it.
pub(super) fn check(text: &str) -> Result<(), String> {
    match inflated(&decode_zlib(text)?, HEADER_BYTES) {
        Ok(whole) => check_start(&whole),
        Err(error) => check_start(&error.output),
    }
}

/// Packs a histogram into text.
pub(super) fn pack(counters: &Counters<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    let _ = V2DeflateSerializer::new().serialize(counters, &mut bytes);
    STANDARD.encode(bytes)
}

/// Unpacks a histogram.
///
/// # Errors
/// The text is not as [`pack`] writes it.
pub(super) fn unpack(text: &str) -> Result<Counters<u64>, String> {
    let plain = inflated(&decode_zlib(text)?, HEADER_BYTES + MAX_COUNT_BYTES * MAX_COUNTERS)
        .map_err(|error| format!("a damaged histogram: {error}"))?;
    check_start(&plain)?;
    check_counts(&plain, MAX_COUNTERS)?;
    deserialize(&plain)
}

/// Unpacks a histogram of another program: with any number of figures, deflated or not.
///
/// # Errors
/// The text is no histogram of HdrHistogram's V2, or is damaged.
pub(super) fn unpack_any(text: &str) -> Result<Counters<u64>, String> {
    let bytes = decode_base64(text)?;
    let plain = if bytes.starts_with(&PLAIN) {
        bytes
    } else {
        let most_bytes = HEADER_BYTES + MAX_COUNT_BYTES * MAX_COUNTERS_OF_ANY;
        inflated(after_magic(&bytes)?, most_bytes)
            .map_err(|error| format!("a damaged histogram: {error}"))?
    };
    // Figures as a 32-bit number, of which memory depends.
    let figures = plain.get(12..16).filter(|_| plain.starts_with(&PLAIN));
    if !figures.is_some_and(|figures| figures[..3] == [0; 3] && figures[3] <= MAX_FIGURES) {
        return Err("it is not in HdrHistogram's V2 format with at most 5 figures, or it is damaged; write it as V2".into());
    }
    check_counts(&plain, MAX_COUNTERS_OF_ANY)?;
    deserialize(&plain)
}

fn deserialize(plain: &[u8]) -> Result<Counters<u64>, String> {
    Deserializer::new()
        .deserialize(&mut &plain[..])
        .map_err(|error| format!("a damaged histogram: {error}"))
}

/// The zlib stream in the text of a histogram, which is base64 of a header, a length and the
/// stream.
fn decode_zlib(text: &str) -> Result<Vec<u8>, String> {
    Ok(after_magic(&decode_base64(text)?)?.to_vec())
}

fn decode_base64(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| format!("the histogram is not base64: {error}"))
}

/// The zlib stream after the header and the length of a deflated histogram.
fn after_magic(bytes: &[u8]) -> Result<&[u8], String> {
    let rest = bytes.strip_prefix(&DEFLATED).and_then(|rest| after_length(rest, 0));
    rest.ok_or_else(|| {
        "a damaged histogram, or HdrHistogram's V0 or V1: it does not begin as one of V2, or has another length than it says".into()
    })
}

/// The bytes after a length and `between` more bytes, if they are as many as the length says.
fn after_length(bytes: &[u8], between: usize) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let rest = rest.get(between..)?;
    (u32::from_be_bytes(*length) as usize == rest.len()).then_some(rest)
}

/// Checks the figures and the lowest duration, on which the number of counters depends.
fn check_start(plain: &[u8]) -> Result<(), String> {
    if !plain.starts_with(&PLAIN) {
        return Err("a damaged histogram: what it has deflated is none".to_owned());
    }

    // The figures as a 32-bit number, and 1 as a 64-bit number.
    let expected = [0, 0, 0, SIGNIFICANT_FIGURES, 0, 0, 0, 0, 0, 0, 0, 1];
    if plain.get(12..24) != Some(&expected[..]) {
        return Err(
            "a histogram with other figures, or another lowest duration, than unixmark writes"
                .to_owned(),
        );
    }
    Ok(())
}

/// Checks what the library does not: the length, for which it allocates memory, that each run of
/// empty counters fits a histogram, and that the total of the counts can have been measured.
fn check_counts(plain: &[u8], max_counters: usize) -> Result<(), String> {
    let counts = plain.strip_prefix(&PLAIN).and_then(|rest| after_length(rest, HEADER_BYTES - 8));
    let mut rest =
        counts.ok_or("a damaged histogram: its counts have another length than it says")?;

    let mut total = 0_u64;
    while !rest.is_empty() {
        let (number, after) =
            read_count(rest).ok_or("a damaged histogram: its last count is cut short")?;
        // Zigzag: 2n is a count of n, 2n − 1 a run of n empty counters.
        let is_empty_run = number % 2 == 1;
        if is_empty_run && number / 2 >= max_counters as u64 {
            return Err(
                "a damaged histogram: it has more counters than there are durations".to_owned()
            );
        }
        total = total.saturating_add(if is_empty_run { 0 } else { number / 2 });
        rest = after;
    }

    if total > MAX_DURATIONS {
        return Err("a damaged histogram: it counts more durations than can be measured".to_owned());
    }
    Ok(())
}

/// Reads the LEB128 number at the beginning of `bytes`, and returns the bytes after it. All eight
/// bits of a ninth byte count.
fn read_count(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let last = bytes
        .iter()
        .take(MAX_COUNT_BYTES - 1)
        .position(|byte| byte & 0x80 == 0)
        .unwrap_or(MAX_COUNT_BYTES - 1);
    let (digits, rest) = bytes.split_at_checked(last + 1)?;

    let mut number = 0;
    for (place, digit) in digits.iter().enumerate() {
        let bits = if place + 1 < MAX_COUNT_BYTES { digit & 0x7f } else { *digit };
        number |= u64::from(bits) << (7 * place);
    }
    Some((number, rest))
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
            assert!(
                refused(forged(length, 3, 1, high, &[4])).contains("another length"),
                "{length}"
            );
        }
        for (figures, low) in [(5, 1), (2, 1), (0x0103, 1), (3, 2), (3, 0)] {
            assert!(
                refused(forged(1, figures, low, high, &[4])).contains("other figures"),
                "{figures} {low}"
            );
        }
        assert!(refused(forged(1, 3, 1, 1, &[4])).contains("damaged"));
        // Four gigabytes of nothing, in four megabytes of text; here a few.
        let long = packed(&vec![0; 2 * MAX_COUNT_BYTES * MAX_COUNTERS]);
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

    #[test]
    fn histograms_of_other_programs_may_have_other_figures() {
        let mut counters = Counters::<u64>::new_with_bounds(1000, 3_600_000_000, 5).unwrap();
        (1..=2000).for_each(|value| counters.record(value * 1000).unwrap());
        let mut plain = Vec::new();
        hdrhistogram::serialization::V2Serializer::new().serialize(&counters, &mut plain).unwrap();

        for text in [pack(&counters), STANDARD.encode(&plain), pack(&empty())] {
            let read = unpack_any(&text).unwrap();
            assert!(read == counters || read.is_empty(), "{text}");
        }
        assert!(unpack(&pack(&counters)).unwrap_err().contains("other figures"));
        assert!(unpack_any(&forged(1, 6, 1, 1 << 20, &[4])).unwrap_err().contains("damaged"));
        assert!(unpack_any(&STANDARD.encode(&plain[..60])).unwrap_err().contains("damaged"));
        assert!(unpack_any("HISTFAAA").unwrap_err().contains("damaged"));
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
        assert_eq!(all.distinct_values(), MAX_COUNTERS);
        assert_eq!(unpack(&pack(&all)).unwrap().len(), 1);
    }
}
