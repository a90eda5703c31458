//! A rule as the kernel takes it: `struct audit_rule_data` of linux/audit.h.

/// The lists that rules are in. Rules about users' messages, file systems and io_uring are listed,
/// never added.
pub(crate) mod list {
    pub const TASK: u32 = 1;
    pub const EXIT: u32 = 4;
    pub const EXCLUDE: u32 = 5;
}

pub(crate) const NEVER: u32 = 0;
pub(crate) const ALWAYS: u32 = 2;

/// AUDIT_FILTER_PREPEND.
const PREPEND: u32 = 0x10;

/// Fields that the tool itself uses; `names` has them all.
pub(crate) mod field {
    pub const PID: u32 = 0;
    pub const LOGIN_UID: u32 = 9;
    pub const ARCH: u32 = 11;
    pub const WATCH: u32 = 105;
    pub const PERM: u32 = 106;
    pub const DIR: u32 = 107;
    pub const FIELD_COMPARE: u32 = 111;
    pub const EXE: u32 = 112;
    pub const KEY: u32 = 210;
}

/// Comparisons.
pub(crate) mod op {
    pub const AND: u32 = 0x0800_0000;
    pub const LESS: u32 = 0x1000_0000;
    pub const GREATER: u32 = 0x2000_0000;
    pub const NOT_EQUAL: u32 = 0x3000_0000;
    pub const EQUAL: u32 = 0x4000_0000;
}

/// Words of the mask of system calls (AUDIT_BITMASK_SIZE); also the maximum number of fields of a
/// rule (AUDIT_MAX_FIELDS).
const WORDS: usize = 64;

/// Words of the mask that have a bit for each system call. The last word's bits stand for classes
/// of calls.
const CALL_WORDS: usize = WORDS - 1;

/// Words before the mask: `flags`, `action` and `field_count`.
const HEAD_WORDS: usize = 3;

/// Bytes before the texts: the head, the mask, three columns of fields, and the length of the
/// texts.
const FIXED_BYTES: usize = 4 * (HEAD_WORDS + WORDS + 3 * WORDS + 1);

/// The value that a field is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u32),
    Text(String),
}

/// One comparison of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub id: u32,
    pub op: u32,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    /// One of [`list`].
    pub list: u32,
    /// [`ALWAYS`] or [`NEVER`]: matches are recorded, or never are.
    pub action: u32,
    /// A bit for each system call.
    pub mask: [u32; WORDS],
    /// Comparisons that must all hold.
    pub fields: Vec<Field>,
}

impl Field {
    pub(crate) fn number(id: u32, op: u32, value: u32) -> Field {
        Field { id, op, value: Value::Number(value) }
    }

    pub(crate) fn text(id: u32, op: u32, value: &str) -> Field {
        Field { id, op, value: Value::Text(value.to_owned()) }
    }
}

/// True if a field's value is a text: subjects, objects, paths, keys. Its length stands in
/// place of the value.
pub(crate) fn is_text(id: u32) -> bool {
    matches!(id, 13..=17 | 19..=23 | field::WATCH | field::DIR | field::EXE | field::KEY)
}

impl Rule {
    /// A rule without comparisons and system calls.
    pub(crate) fn new(list: u32, action: u32) -> Rule {
        Rule { list, action, mask: [0; WORDS], fields: Vec::new() }
    }

    /// Makes it match every system call.
    pub(crate) fn add_every_call(&mut self) {
        self.mask[..CALL_WORDS].fill(u32::MAX);
    }

    /// True if it matches every system call.
    pub(crate) fn has_every_call(&self) -> bool {
        self.mask[..CALL_WORDS].iter().all(|word| *word == u32::MAX)
    }

    /// Makes it match a system call; false if there can be none of that number.
    pub(crate) fn add_call(&mut self, number: u32) -> bool {
        let word = number as usize / 32;
        if word >= CALL_WORDS {
            return false;
        }

        self.mask[word] |= 1 << (number % 32);
        true
    }

    /// True if a field of the rule compares `id` with this number.
    pub(crate) fn compares(&self, id: u32, value: u32) -> bool {
        self.fields.iter().any(|field| field.id == id && field.value == Value::Number(value))
    }

    /// The structure followed by its texts. Too many fields are left to the kernel to
    /// refuse.
    pub(crate) fn encode(&self, prepend: bool) -> Vec<u8> {
        let mut texts: Vec<u8> = Vec::new();
        let mut ids = [0_u32; WORDS];
        let mut values = [0_u32; WORDS];
        let mut ops = [0_u32; WORDS];
        for (index, field) in self.fields.iter().take(WORDS).enumerate() {
            ids[index] = field.id;
            ops[index] = field.op;
            values[index] = match &field.value {
                Value::Number(value) => *value,
                Value::Text(text) => {
                    texts.extend(text.as_bytes());
                    to_word(text.len())
                }
            };
        }

        let list = self.list | if prepend { PREPEND } else { 0 };
        let mut words = vec![list, self.action, to_word(self.fields.len())];
        words.extend(self.mask);
        words.extend([ids, values, ops].concat());
        words.push(to_word(texts.len()));

        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        bytes.extend(texts);
        bytes
    }

    /// Reads a rule that the kernel lists, in the format of [`Rule::encode`]; `None` if it is cut
    /// short.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Rule> {
        let word = |index: usize| read_word(bytes, 4 * index);
        let mut mask = [0; WORDS];
        for (index, bits) in mask.iter_mut().enumerate() {
            *bits = word(HEAD_WORDS + index)?;
        }

        let mut texts = bytes.get(FIXED_BYTES..)?;
        let mut fields = Vec::new();
        for index in 0..(word(2)? as usize).min(WORDS) {
            // The columns follow the mask.
            let id = word(HEAD_WORDS + WORDS + index)?;
            let value = word(HEAD_WORDS + 2 * WORDS + index)?;
            let op = word(HEAD_WORDS + 3 * WORDS + index)?;
            // A text has its length as the value; the texts are after the columns, in their order.
            let value = if is_text(id) {
                let (text, rest) = texts.split_at_checked(value as usize)?;
                texts = rest;
                Value::Text(String::from_utf8_lossy(text).into_owned())
            } else {
                Value::Number(value)
            };

            fields.push(Field { id, op, value });
        }

        Some(Rule { list: word(0)? & !PREPEND, action: word(1)?, mask, fields })
    }
}

fn to_word(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The 32 bits at `offset`, in the machine's byte order.
pub(crate) fn read_word(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..offset + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `-a always,exit -F arch=b64 -S 2,257 -F path=/etc/passwd -k ab` of x86-64, by hand.
    #[test]
    fn bytes_worked_out_by_hand() {
        let mut rule = Rule::new(list::EXIT, ALWAYS);
        assert!(rule.add_call(2) && rule.add_call(257) && !rule.add_call(2016));
        rule.fields.push(Field::number(field::ARCH, op::EQUAL, 0xc000_003e));
        rule.fields.push(Field::text(field::WATCH, op::EQUAL, "/etc/passwd"));
        rule.fields.push(Field::text(field::KEY, op::EQUAL, "ab"));
        let bytes = rule.encode(true);
        assert_eq!(bytes.len(), 1040 + 13);
        let word = |index: usize| read_word(&bytes, 4 * index).unwrap();
        assert_eq!([word(0), word(1), word(2)], [0x14, 2, 3]);
        assert_eq!([word(3), word(3 + 8)], [4, 2]);
        assert_eq!([word(67), word(68), word(69), word(70)], [11, 105, 210, 0]);
        assert_eq!([word(131), word(132), word(133)], [0xc000_003e, 11, 2]);
        assert_eq!([word(195), word(196), word(197)], [0x4000_0000; 3]);
        assert_eq!((word(259), &bytes[1040..]), (13, &b"/etc/passwdab"[..]));
    }

    /// `-A never,task`, by linux/audit.h.
    #[test]
    fn a_rule_against_records_worked_out_by_hand() {
        let bytes = Rule::new(list::TASK, NEVER).encode(true);

        let word = |index: usize| read_word(&bytes, 4 * index).unwrap();
        assert_eq!([word(0), word(1), word(2)], [0x11, 0, 0]);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut rule = Rule::new(list::EXIT, NEVER);
        rule.add_every_call();
        rule.fields.push(Field::number(field::PID, op::NOT_EQUAL, 7));
        rule.fields.push(Field::text(field::EXE, op::EQUAL, "/bin/true"));
        rule.fields.push(Field::text(field::KEY, op::EQUAL, ""));
        let bytes = rule.encode(true);
        assert_eq!(Rule::decode(&bytes), Some(rule.clone()));
        assert!(
            rule.compares(field::PID, 7)
                && !rule.compares(field::PID, 8)
                && !rule.compares(field::LOGIN_UID, 7)
        );
        (0..bytes.len()).for_each(|cut| assert_eq!(Rule::decode(&bytes[..cut]), None));
    }
}
