//! Files as strangers could send them: damaged, or made to do damage. The same seed gives the same
//! file.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

/// Numbers at the ends of what types hold, and beyond.
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "0.5",
    "1e-320",
    "1e308",
    "-1e308",
    "1e400",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
];

/// Texts that something could take for more, or for less.
const TEXTS: [&str; 14] = [
    "",
    " ",
    "null",
    "none",
    "NaN",
    "inf",
    "../../x",
    "a\u{202e}b",
    "\u{1b}[31m",
    "ß\u{301}",
    "%s%n",
    "<b>",
    "=1+1",
    "HISTFAAAAB542pNpmSxc////fwYIYIbSjCAxELD/ABEAAA06DW4=",
];

/// A source of damage.
pub struct Damage {
    random: Pcg64Mcg,
}

impl Damage {
    /// Damage number `seed`.
    pub fn new(seed: u64) -> Damage {
        Damage { random: Pcg64Mcg::seed_from_u64(seed) }
    }

    /// A number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        self.random.random_range(0..limit.max(1))
    }

    /// A file, damaged in one or two ways.
    pub fn damaged(&mut self, file: impl AsRef<[u8]>) -> Vec<u8> {
        let mut bytes = file.as_ref().to_vec();
        for _ in 0..=self.below(2) {
            bytes = match self.below(10) {
                0 => self.change_bytes(bytes),
                1 => self.cut_out(bytes),
                2 | 3 => self.change_lines(&bytes),
                4 | 5 => self.replace_number(bytes),
                6 => self.nest_deeply(bytes),
                _ => self.change_json(&bytes),
            };
        }

        bytes
    }

    /// Replaces, removes and inserts single bytes.
    fn change_bytes(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let byte = self.random.random();
            match self.below(3) {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => bytes[at] = byte,
                _ if at < bytes.len() => drop(bytes.remove(at)),
                _ => {}
            }
        }

        bytes
    }

    /// Removes the end, or a part.
    fn cut_out(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        let (from, to) = (self.below(bytes.len()), self.below(bytes.len()));
        if self.below(2) == 0 {
            bytes.truncate(to);
        } else {
            bytes.drain(from.min(to)..from.max(to));
        }
        bytes
    }

    /// Repeats, removes and swaps lines.
    fn change_lines(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let (at, other) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(4) {
            _ if lines.is_empty() => {}
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => lines.insert(other, lines[at]),
            _ => drop(lines.splice(at..at, vec![lines[at]; 100])),
        }
        lines.concat()
    }

    /// Puts another number in place of one.
    fn replace_number(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let start = self.below(bytes.len());
        let Some(distance) = bytes[start..].iter().position(u8::is_ascii_digit) else {
            return bytes;
        };

        let from = start + distance;
        let length =
            bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let number = NUMBERS[self.below(NUMBERS.len())].as_bytes();
        [&bytes[..from], number, &bytes[from + length..]].concat()
    }

    /// Opens something many times, and closes it sometimes.
    fn nest_deeply(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let pairs = [
            ("[", "]"),
            ("{\"a\":", "}"),
            ("<a>", "</a>"),
            ("<td>", "</td>"),
            ("<System>", "</System>"),
            ("\"", "\""),
        ];
        let (open, close) = pairs[self.below(pairs.len())];
        let times = [2, 130, 5000][self.below(3)];
        let closed_times = if self.below(2) == 0 { times } else { 0 };
        let at = self.below(bytes.len());
        [
            &bytes[..at],
            open.repeat(times).as_bytes(),
            close.repeat(closed_times).as_bytes(),
            &bytes[at..],
        ]
        .concat()
    }

    /// Changes something within a line of JSON, or within all the text if that is JSON.
    fn change_json(&mut self, bytes: &[u8]) -> Vec<u8> {
        if let Ok(mut value) = serde_json::from_slice::<Value>(bytes) {
            self.change_value(&mut value);
            return value.to_string().into_bytes();
        }

        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let at = self.below(lines.len());
        let Some(line) = lines.get_mut(at) else {
            return bytes.to_vec();
        };
        if let Ok(mut value) = serde_json::from_slice::<Value>(line) {
            self.change_value(&mut value);
            *line = format!("{value}\n").into_bytes();
        }
        lines.concat()
    }

    /// Goes down to one of the values, and makes another of it.
    fn change_value(&mut self, value: &mut Value) {
        let goes_down = self.below(5) > 0;
        match value {
            Value::Object(items) if goes_down && !items.is_empty() => {
                let at = self.below(items.len());
                let key = items.keys().nth(at).cloned().unwrap();
                if self.below(12) == 0 {
                    drop(items.remove(&key))
                } else {
                    self.change_value(&mut items[&key])
                }
            }
            Value::Array(items) if goes_down && !items.is_empty() => {
                let at = self.below(items.len());
                match self.below(12) {
                    0 => drop(items.remove(at)),
                    1 => drop(items.splice(at..at, vec![items[at].clone(); 300])),
                    _ => self.change_value(&mut items[at]),
                }
            }
            _ => *value = self.other_value(value),
        }
    }

    /// Another value, mostly of the same type, since others are refused at once.
    fn other_value(&mut self, value: &Value) -> Value {
        match (self.below(8), value) {
            (2.., Value::Number(_)) => self.any_number(),
            (2.., Value::String(_)) => Value::String(TEXTS[self.below(TEXTS.len())].to_owned()),
            (2, _) => Value::Null,
            (3, _) => Value::Bool(self.below(2) == 0),
            (4, _) => Value::Array(vec![value.clone(); self.below(3)]),
            (5, _) => Value::String("x".repeat(5000)),
            (6, _) => serde_json::json!({ "a": value }),
            _ => self.any_number(),
        }
    }

    fn any_number(&mut self) -> Value {
        // One that Rust has no number for is none.
        serde_json::from_str(NUMBERS[self.below(NUMBERS.len())]).unwrap_or(Value::Null)
    }
}
