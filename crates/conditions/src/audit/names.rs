//! The names in audit rules and their numbers, from linux/audit.h and the tables of system calls.

use std::ffi::c_long;

use syscall_numbers::{aarch64, arm, powerpc64, riscv64, s390x, x86, x86_64};

/// Lines with the name of a table, a name, and its number; in the table `field` also the kind of
/// the field's values.
const NAMES: &str = include_str!("names.txt");

/// The way in which a field's value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    User,
    Group,
    Exit,
    Text,
    Path,
    Arch,
    Perm,
    FileType,
    MessageType,
    Family,
}

/// The kinds of records that the kernel makes, in the order of their numbers.
const RECORDS: &[(u16, &str)] = &[
    (1006, "LOGIN"),
    (1120, "TEST"),
    (1300, "SYSCALL"),
    (1302, "PATH"),
    (1303, "IPC"),
    (1304, "SOCKETCALL"),
    (1305, "CONFIG_CHANGE"),
    (1306, "SOCKADDR"),
    (1307, "CWD"),
    (1309, "EXECVE"),
    (1311, "IPC_SET_PERM"),
    (1312, "MQ_OPEN"),
    (1313, "MQ_SENDRECV"),
    (1314, "MQ_NOTIFY"),
    (1315, "MQ_GETSETATTR"),
    (1316, "KERNEL_OTHER"),
    (1317, "FD_PAIR"),
    (1318, "OBJ_PID"),
    (1319, "TTY"),
    (1320, "EOE"),
    (1321, "BPRM_FCAPS"),
    (1322, "CAPSET"),
    (1323, "MMAP"),
    (1324, "NETFILTER_PKT"),
    (1325, "NETFILTER_CFG"),
    (1326, "SECCOMP"),
    (1327, "PROCTITLE"),
    (1328, "FEATURE_CHANGE"),
    (1330, "KERN_MODULE"),
    (1331, "FANOTIFY"),
    (1332, "TIME_INJOFFSET"),
    (1333, "TIME_ADJNTPVAL"),
    (1334, "BPF"),
    (1335, "EVENT_LISTENER"),
    (1336, "URINGOP"),
    (1337, "OPENAT2"),
    (1338, "DM_CTRL"),
    (1339, "DM_EVENT"),
    (1400, "AVC"),
    (1700, "ANOM_PROMISCUOUS"),
    (1701, "ANOM_ABEND"),
    (1702, "ANOM_LINK"),
];

/// An architecture whose system calls rules may name.
struct Arch {
    /// The machine that runs its programs, as Rust calls it.
    machine: &'static str,
    /// Its names in rules.
    words: &'static [&'static str],
    /// The kernel's number of it: AUDIT_ARCH_….
    number: u32,
    /// The name of the system call with a number.
    call_name: fn(c_long) -> Option<&'static str>,
}

const fn arch_of(
    machine: &'static str,
    words: &'static [&'static str],
    number: u32,
    call_name: fn(c_long) -> Option<&'static str>,
) -> Arch {
    Arch { machine, words, number, call_name }
}

const ARCHS: [Arch; 8] = [
    arch_of("x86_64", &["b64", "x86_64"], 0xc000_003e, x86_64::sys_call_name),
    arch_of("x86_64", &["b32", "i386", "i686"], 0x4000_0003, x86::sys_call_name),
    arch_of("aarch64", &["b64", "aarch64"], 0xc000_00b7, aarch64::sys_call_name),
    arch_of("aarch64", &["b32", "arm"], 0x4000_0028, arm::sys_call_name),
    arch_of("riscv64", &["b64", "riscv64"], 0xc000_00f3, riscv64::sys_call_name),
    arch_of("s390x", &["b64", "s390x"], 0x8000_0016, s390x::sys_call_name),
    arch_of("powerpc64", &["b64", "ppc64le"], 0xc000_0015, powerpc64::sys_call_name),
    arch_of("arm", &["b32", "arm", "armv7l"], 0x4000_0028, arm::sys_call_name),
];

/// No architecture has a system call of a larger number.
const MAX_CALL_NUMBER: c_long = 2048;

/// The architectures whose programs this machine runs, its own first.
fn archs() -> impl Iterator<Item = &'static Arch> {
    ARCHS.iter().filter(|arch| arch.machine == std::env::consts::ARCH)
}

/// The number of a name in a table, and what follows it there.
fn look_up(table: &str, name: &str) -> Option<(u32, &'static str)> {
    let rest = NAMES.lines().find_map(|line| {
        line.strip_prefix(table)?.strip_prefix(' ')?.strip_prefix(name)?.strip_prefix(' ')
    })?;
    let (number, kind) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((number.parse().ok()?, kind))
}

/// The number of a name in a table.
fn number_in(table: &str, name: &str) -> Option<u32> {
    look_up(table, name).map(|(number, _)| number)
}

/// A field of `-F`: its number, and how its value is written.
pub(crate) fn parse_field(word: &str) -> Option<(u32, Kind)> {
    let (number, kind) = look_up("field", word)?;
    let kind = match kind {
        "user" => Kind::User,
        "group" => Kind::Group,
        "exit" => Kind::Exit,
        "text" => Kind::Text,
        "path" => Kind::Path,
        "arch" => Kind::Arch,
        "perm" => Kind::Perm,
        "type" => Kind::FileType,
        "record" => Kind::MessageType,
        "family" => Kind::Family,
        _ => Kind::Number,
    };
    Some((number, kind))
}

/// The number of a pair that `-C` compares, in either order.
pub(crate) fn pair_number(left: &str, right: &str) -> Option<u32> {
    number_in("pair", &format!("{left},{right}"))
        .or_else(|| number_in("pair", &format!("{right},{left}")))
}

/// The kernel's number of an `arch=`; `None` if this machine does not run such programs.
pub(crate) fn arch_number(word: &str) -> Option<u32> {
    archs().find(|arch| arch.words.contains(&word)).map(|arch| arch.number)
}

/// The kernel's number of this machine's own architecture.
pub(crate) fn own_architecture() -> Option<u32> {
    archs().next().map(|arch| arch.number)
}

/// A system call's number in an architecture, or in this machine's own; a number is its own.
pub(crate) fn call_number(name: &str, arch_number: Option<u32>) -> Option<u32> {
    let arch = archs().find(|arch| arch_number.is_none_or(|number| arch.number == number))?;
    if let Ok(number) = name.parse() {
        return Some(number);
    }

    let number = (0..MAX_CALL_NUMBER).find(|number| (arch.call_name)(*number) == Some(name))?;
    u32::try_from(number).ok()
}

/// The bits of AUDIT_PERM_… for letters of `rwxa`.
pub(crate) fn perm_bits(letters: &str) -> Option<u32> {
    let mut bits = 0;
    for letter in letters.chars() {
        bits |= match letter {
            'x' => 1,
            'w' => 2,
            'r' => 4,
            'a' => 8,
            _ => return None,
        };
    }

    (bits != 0).then_some(bits)
}

/// The number that a word stands for in a field of this kind.
pub(crate) fn parse_value(kind: Kind, word: &str) -> Option<u32> {
    match kind {
        Kind::Number => parse_number(word),
        Kind::User if matches!(word, "unset" | "-1" | "4294967295") => Some(u32::MAX),
        Kind::User => parse_number(word).or_else(|| account_number("/etc/passwd", word)),
        Kind::Group => parse_number(word).or_else(|| account_number("/etc/group", word)),
        Kind::Exit => parse_exit(word),
        Kind::Arch => arch_number(word),
        Kind::Perm => perm_bits(word),
        Kind::FileType => number_in("type", word),
        Kind::Family => parse_number(word).or_else(|| number_in("family", word)),
        Kind::MessageType => {
            parse_number(word).or_else(|| record_kind(word.as_bytes()).map(u32::from))
        }
        Kind::Text | Kind::Path => None,
    }
}

/// A number in decimal or, after `0x`, hexadecimal digits. Fields have 32 bits: a negative number
/// is that of the same bits.
fn parse_number(word: &str) -> Option<u32> {
    if let Some(digits) = word.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }

    let number: i64 = word.parse().ok()?;
    match u32::try_from(number) {
        Ok(number) => Some(number),
        Err(_) => i32::try_from(number).ok().map(i32::cast_unsigned),
    }
}

/// The result of a system call: a number, or the name of an error, which `-` makes negative as the
/// kernel returns it.
fn parse_exit(word: &str) -> Option<u32> {
    let (sign, name) = match word.strip_prefix('-') {
        Some(name) => (-1, name),
        None => (1, word),
    };
    match number_in("error", name) {
        Some(number) => Some((sign * number.cast_signed()).cast_unsigned()),
        None => parse_number(word),
    }
}

/// The number of a user or a group: the third of the fields separated by colons.
fn account_number(file: &str, name: &str) -> Option<u32> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.split(':').next() == Some(name))?;
    line.split(':').nth(2)?.parse().ok()
}

/// The name of a kind of records, as it stands in trails.
pub(crate) fn record_name(kind: u16) -> Option<&'static str> {
    RECORDS.binary_search_by_key(&kind, |(number, _)| *number).ok().map(|place| RECORDS[place].1)
}

/// The number of a kind of records.
pub(crate) fn record_kind(word: &[u8]) -> Option<u16> {
    RECORDS.iter().find(|(_, name)| name.as_bytes() == word).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_together() {
        assert!(RECORDS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(
            (record_name(1300), record_name(1320), record_name(1301)),
            (Some("SYSCALL"), Some("EOE"), None)
        );
        assert_eq!(
            [("auid", "obj_uid"), ("obj_uid", "auid"), ("sgid", "fsgid")]
                .map(|(left, right)| pair_number(left, right)),
            [Some(5), Some(5), Some(25)]
        );
        assert_eq!(["wa", "rwxa", "z", ""].map(perm_bits), [Some(10), Some(15), None, None]);
    }

    #[test]
    fn values_in_their_ways_of_writing() {
        assert_eq!(parse_value(Kind::User, "unset"), Some(u32::MAX));
        assert_eq!(parse_value(Kind::User, "-1"), Some(u32::MAX));
        assert_eq!(parse_value(Kind::Exit, "-EACCES"), Some((-13_i32).cast_unsigned()));
        assert_eq!(parse_value(Kind::Number, "0x10"), Some(16));
        assert_eq!(parse_value(Kind::MessageType, "PROCTITLE"), Some(1327));
        assert_eq!(parse_value(Kind::Number, "many"), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_by_their_arch() {
        assert_eq!(
            [("open", None), ("openat", arch_number("b64")), ("open", arch_number("b32"))]
                .map(|(name, arch)| call_number(name, arch)),
            [Some(2), Some(257), Some(5)]
        );
        assert_eq!(["59", "opne"].map(|name| call_number(name, None)), [Some(59), None]);
    }
}
