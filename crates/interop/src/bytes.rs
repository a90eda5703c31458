//! The text within a file's bytes: files arrive compressed, in the encoding of another system or of
//! a mail, or with a letter of an old one.

use std::io::Read;

use anyhow::{Result, anyhow, bail};
use flate2::read::MultiGzDecoder;

/// Maximum bytes that gzip may unpack to: no report is larger, and a small file could fill the
/// memory.
const MAX_UNPACKED_BYTES: u64 = 32 << 20;

/// Bytes from whose zeros UTF-16 is recognised.
const PROBED_BYTES: usize = 512;

/// Compressed files by their first bytes, with the program that unpacks them to its output.
const PACKED: [(&[u8], &str, &str); 5] = [
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
];

/// What an archive of `tar` has at byte [`TAR_MARK_PLACE`].
const TAR_MARK: &[u8] = b"ustar";

const TAR_MARK_PLACE: usize = 257;

/// The header of a mail, or of a part of one, whose long lines are divided.
const QUOTED_PRINTABLE: &[u8] = b"content-transfer-encoding: quoted-printable";

#[derive(Clone, Copy)]
enum ByteOrder {
    Little,
    Big,
}

/// The text that a file holds: UTF-8, or UTF-16 with or without a mark of its byte order, either
/// also in gzip. A byte that is no UTF-8 becomes the letter that it is in Latin-1.
///
/// # Errors
/// The file is compressed otherwise, an archive, or gzip that is damaged or too large.
pub(super) fn to_text(bytes: &[u8]) -> Result<String> {
    if bytes.starts_with(b"\x1f\x8b") {
        return decode(&unpack(bytes)?);
    }
    decode(bytes)
}

/// Unpacks gzip, one member or several.
fn unpack(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(bytes).take(MAX_UNPACKED_BYTES + 1).read_to_end(&mut unpacked).map_err(
        |error| anyhow!("it is gzip that is damaged or truncated ({error}); import the whole file"),
    )?;
    if unpacked.len() as u64 > MAX_UNPACKED_BYTES {
        let most = words::bytes(MAX_UNPACKED_BYTES);
        bail!("it is gzip that unpacks to more than {most}; no report is as large");
    }
    Ok(unpacked)
}

/// Decodes a text that is not in gzip.
fn decode(bytes: &[u8]) -> Result<String> {
    if let Some((_, name, program)) = PACKED.iter().find(|(start, ..)| bytes.starts_with(start)) {
        bail!("it is compressed ({name}); import what `{program} FILE` prints, from a file");
    }
    if bytes.get(TAR_MARK_PLACE..).is_some_and(|bytes| bytes.starts_with(TAR_MARK)) {
        bail!("it is an archive of files (tar); unpack it and import the results in it");
    }

    if let Some(units) = bytes.strip_prefix(b"\xff\xfe") {
        return Ok(from_utf16(units, ByteOrder::Little));
    }
    if let Some(units) = bytes.strip_prefix(b"\xfe\xff") {
        return Ok(from_utf16(units, ByteOrder::Big));
    }
    if let Some(order) = guess_utf16_order(bytes) {
        return Ok(from_utf16(bytes, order));
    }
    let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    if lines.any(|line| line.eq_ignore_ascii_case(QUOTED_PRINTABLE)) {
        return Ok(from_utf8(&from_quoted_printable(bytes)));
    }
    if let Some((text, units, order)) = split_before_utf16(bytes) {
        return Ok(from_utf8(text) + &from_utf16(units, order));
    }
    Ok(from_utf8(bytes))
}

/// Splits a file where UTF-16 was appended to other text, as a shell of Windows does; `None` if
/// none was.
fn split_before_utf16(bytes: &[u8]) -> Option<(&[u8], &[u8], ByteOrder)> {
    let first_zero = bytes.iter().position(|byte| *byte == 0)?;
    // The first zero is the second byte of a letter (little-endian), or its first (big-endian).
    [first_zero.saturating_sub(1), first_zero].into_iter().find_map(|start| {
        let (text, units) = bytes.split_at(start);
        let text =
            text.strip_suffix(b"\xff\xfe").or(text.strip_suffix(b"\xfe\xff")).unwrap_or(text);
        guess_utf16_order(units).map(|order| (text, units, order))
    })
}

fn hex_digit(byte: u8) -> Option<u8> {
    u8::try_from(char::from(byte).to_digit(16)?).ok()
}

/// Joins the lines of a mail that a `=` at their end divides, and puts bytes in the place of their
/// digits, `=C2` (RFC 2045, section 6.7).
fn from_quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *byte == b'=');
        let value = digits.and_then(|digits| match digits {
            [high, low] => Some(hex_digit(*high)? << 4 | hex_digit(*low)?),
            _ => None,
        });
        rest = match (byte, after, value) {
            (b'=', [b'\n', next @ ..] | [b'\r', b'\n', next @ ..], _) => next,
            (_, _, Some(value)) => {
                decoded.push(value);
                &after[2..]
            }
            _ => {
                decoded.push(*byte);
                after
            }
        };
    }
    decoded
}

/// The byte order of UTF-16 without a mark: most of its pairs have a 0, always in the same byte.
/// `None` of any other text.
fn guess_utf16_order(bytes: &[u8]) -> Option<ByteOrder> {
    let probed = &bytes[..bytes.len().min(PROBED_BYTES)];
    let pairs = probed.len() / 2;
    let count_zeros = |first: usize| {
        probed.iter().skip(first).step_by(2).take(pairs).filter(|byte| **byte == 0).count()
    };
    match (count_zeros(0), count_zeros(1)) {
        (0, odd) if odd * 2 > pairs => Some(ByteOrder::Little),
        (even, 0) if even * 2 > pairs => Some(ByteOrder::Big),
        _ => None,
    }
}

/// The mark at the beginning of a file in Unicode. Within a text, another file was appended there.
const MARK: char = '\u{feff}';

fn from_utf16(bytes: &[u8], order: ByteOrder) -> String {
    let units = bytes.chunks_exact(2).map(|pair| match order {
        ByteOrder::Little => u16::from_le_bytes([pair[0], pair[1]]),
        ByteOrder::Big => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let chars = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    chars.filter(|char| *char != MARK).collect()
}

fn from_utf8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.extend(chunk.valid().split(MARK));
        text.extend(chunk.invalid().iter().copied().map(char::from));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn zip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn refused(bytes: &[u8]) -> String {
        to_text(bytes).unwrap_err().to_string()
    }

    #[test]
    fn every_encoding_gives_the_text() {
        let text = "1.5 µs — ok\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();

        for bytes in [
            text.as_bytes().to_vec(),
            little.clone(),
            big.clone(),
            [b"\xff\xfe".to_vec(), little].concat(),
            [b"\xfe\xff".to_vec(), big.clone()].concat(),
            zip(text.as_bytes()),
            zip(&big),
            [zip(b"1.5 \xc2\xb5s"), zip(" — ok\n".as_bytes())].concat(),
        ] {
            assert_eq!(to_text(&bytes).unwrap(), text, "{bytes:?}");
        }
        assert_eq!(to_text(b"1.5 \xb5s").unwrap(), "1.5 µs");

        let joined = ["\u{feff}", text, "\u{feff}", text].concat();
        assert_eq!(to_text(joined.as_bytes()).unwrap(), [text, text].concat());
        let long = text.repeat(100);
        let end: Vec<u8> = "2.5 ms, ok\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let appended = [long.as_bytes(), &end].concat();
        assert_eq!(to_text(&appended).unwrap(), format!("{long}2.5 ms, ok\n"));
    }

    #[test]
    fn what_cannot_be_unpacked_is_named() {
        let mut archive = vec![b'a'; 600];
        archive[257..262].copy_from_slice(b"ustar");

        assert_eq!(
            refused(b"\xfd7zXZ\0..."),
            "it is compressed (xz); import what `xz -dc FILE` prints, from a file"
        );
        assert!(refused(&zip(&archive)).starts_with("it is an archive of files (tar)"));
        assert!(
            refused(&zip(b"text")[..12]).starts_with("it is gzip that is damaged or truncated")
        );
        assert!(
            refused(&zip(&vec![0; 33 << 20])).starts_with("it is gzip that unpacks to more than")
        );
    }
}
