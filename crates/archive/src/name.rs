//! Names that come from outside as names of files. An encoded name leads to no other directory; it
//! may be cut, so a hash of the whole name keeps names with the same beginning distinct.

/// `text` as a part of a file's name of at most `max_bytes`, encoded as Hive encodes the values of
/// partitions: an ASCII character that is no letter, digit or one of `-._` becomes `%XX`, and so
/// does a leading `.` or `_`. Other characters stay as they are, since readers do not agree on how
/// to decode them. Empty text stays empty.
pub fn encoded(text: &str, max_bytes: usize) -> String {
    let mut name = String::new();
    for c in text.chars() {
        // Spark treats a name that begins with a dot or an underscore as hidden.
        let is_plain = match c {
            '.' | '_' => !name.is_empty(),
            c => !c.is_ascii() || c.is_ascii_alphanumeric() || c == '-',
        };
        let letters = if is_plain { c.to_string() } else { format!("%{:02X}", u32::from(c)) };
        if name.len() + letters.len() > max_bytes {
            break;
        }

        name += &letters;
    }

    name
}

/// The text of an [`encoded`] name, as far as it was not cut.
pub fn decoded(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('%') {
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        text += before;
        text.push(code.map_or('%', char::from));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    text + rest
}

/// The constants of FNV-1a for 64 bits.
const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// The FNV-1a hash of 64 bits.
pub fn hash(text: &str) -> u64 {
    let mut hash = FNV_OFFSET_BASIS;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
    }

    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere() {
        for (text, name) in [
            ("node1.example.org", "node1.example.org"),
            ("../x", "%2E.%2Fx"),
            ("_x", "%5Fx"),
            ("a/b=c", "a%2Fb%3Dc"),
            ("a'b\"; DROP TABLE", "a%27b%22%3B%20DROP%20TABLE"),
            ("ü\0", "ü%00"),
            ("", ""),
        ] {
            assert_eq!(encoded(text, 80), name);
            assert_eq!(decoded(name), text);
        }
        assert_eq!(encoded("aé", 2), "a", "a letter of two bytes is not cut in the middle");
        assert_eq!(encoded("/////", 8), "%2F%2F");
    }

    /// Check values of draft-eastlake-fnv.
    #[test]
    fn hashes() {
        assert_eq!(
            (hash(""), hash("a"), hash("foobar")),
            (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8)
        );
    }
}
