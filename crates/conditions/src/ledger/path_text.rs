//! Paths as texts in a ledger: those that are no UTF-8, or look like one of these, as `hex:` and
//! their bytes.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

const HEX: &str = "hex:";

pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    if let Some(text) = path.to_str().filter(|text| !text.starts_with(HEX)) {
        return serializer.serialize_str(text);
    }

    let mut text = HEX.to_owned();
    for byte in path.as_os_str().as_bytes() {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    serializer.serialize_str(&text)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    let Some(digits) = text.strip_prefix(HEX) else {
        return Ok(PathBuf::from(text));
    };

    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(parse_byte).collect();
    match bytes {
        Some(bytes) => Ok(OsString::from_vec(bytes).into()),
        None => Err(D::Error::custom("a path is damaged")),
    }
}

/// The byte of two hexadecimal digits.
fn parse_byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
