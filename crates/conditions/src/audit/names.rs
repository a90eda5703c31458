//! The names in audit rules and their numbers, from linux/audit.h and the tables of system calls.

use std::ffi::c_long;

use syscall_numbers::{aarch64, arm, powerpc64, riscv64, s390x, x86, x86_64};

/// Lines of a table's name, a name, its number, and of fields the kind of their values.
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

/// The kinds of records that the kernel makes.
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

/// An architecture whose system calls rules may name: the machine that runs its programs, as Rust
/// calls it, its own names, the kernel's number of it, and the names of its system calls.
type Arch = (&'static str, &'static [&'static str], u32, fn(c_long) -> Option<&'static str>);

const ARCHS: [Arch; 8] = [
    ("x86_64", &["b64", "x86_64"], 0xc000_003e, x86_64::sys_call_name),
    ("x86_64", &["b32", "i386", "i686"], 0x4000_0003, x86::sys_call_name),
    ("aarch64", &["b64", "aarch64"], 0xc000_00b7, aarch64::sys_call_name),
    ("aarch64", &["b32", "arm"], 0x4000_0028, arm::sys_call_name),
    ("riscv64", &["b64", "riscv64"], 0xc000_00f3, riscv64::sys_call_name),
    ("s390x", &["b64", "s390x"], 0x8000_0016, s390x::sys_call_name),
    ("powerpc64", &["b64", "ppc64le"], 0xc000_0015, powerpc64::sys_call_name),
    ("arm", &["b32", "arm", "armv7l"], 0x4000_0028, arm::sys_call_name),
];

/// No architecture has a system call of a larger number.
const MOST_CALLS: c_long = 2048;

/// Returns the architectures whose programs this machine runs, its own first.
fn archs() -> impl Iterator<Item = &'static Arch> {
    ARCHS.iter().filter(|arch| arch.0 == std::env::consts::ARCH)
}

/// Returns the number of a name in a table, and what follows it there.
fn named(table: &str, name: &str) -> Option<(u32, &'static str)> {
    let rest = NAMES
        .lines()
        .find_map(|line| line.strip_prefix(table)?.strip_prefix(' ')?.strip_prefix(name)?.strip_prefix(' '))?;
    let (number, kind) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((number.parse().ok()?, kind))
}

/// Returns a field of `-F`: its number, and how its value is written.
pub(crate) fn field(word: &str) -> Option<(u32, Kind)> {
    let (number, kind) = named("field", word)?;
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

/// Returns the number of a pair that `-C` compares, in either order.
pub(crate) fn pair(left: &str, right: &str) -> Option<u32> {
    let number = |first: &str, second: &str| named("pair", &format!("{first},{second}")).map(|(number, _)| number);
    number(left, right).or_else(|| number(right, left))
}

/// Returns the kernel's number of an `arch=`; `None` if this machine does not run such programs.
pub(crate) fn arch(word: &str) -> Option<u32> {
    archs().find(|(_, words, ..)| words.contains(&word)).map(|arch| arch.2)
}

/// Returns the kernel's number of this machine's own architecture.
pub(crate) fn own_architecture() -> Option<u32> {
    archs().next().map(|arch| arch.2)
}

/// Returns a system call's number in an architecture, or in this machine's own.
pub(crate) fn call(name: &str, arch: Option<u32>) -> Option<u32> {
    let (.., names) = archs().find(|known| arch.is_none_or(|number| known.2 == number))?;
    let number = || (0..MOST_CALLS).find(|number| names(*number) == Some(name));
    name.parse().ok().or_else(|| u32::try_from(number()?).ok())
}

/// Returns the bits of AUDIT_PERM_… for letters of `rwxa`.
pub(crate) fn perm(letters: &str) -> Option<u32> {
    let bit = |letter: char| "xwra".find(letter).map(|place| 1 << place);
    letters.chars().try_fold(0, |bits, letter| Some(bits | bit(letter)?)).filter(|bits| *bits != 0)
}

/// Returns the number that a word stands for in a field of this kind.
pub(crate) fn value(kind: Kind, word: &str) -> Option<u32> {
    let number_in = |table: &str| named(table, word).map(|(number, _)| number);
    match kind {
        Kind::Number => number(word),
        Kind::User => unset(word).or_else(|| number(word)).or_else(|| account("/etc/passwd", word)),
        Kind::Group => number(word).or_else(|| account("/etc/group", word)),
        Kind::Exit => exit(word),
        Kind::Arch => arch(word),
        Kind::Perm => perm(word),
        Kind::FileType => number_in("type"),
        Kind::Family => number(word).or_else(|| number_in("family")),
        Kind::MessageType => {
            number(word).or_else(|| RECORDS.iter().find(|(_, name)| *name == word).map(|(kind, _)| u32::from(*kind)))
        }
        Kind::Text | Kind::Path => None,
    }
}

fn unset(word: &str) -> Option<u32> {
    ["unset", "-1", "4294967295"].contains(&word).then_some(u32::MAX)
}

fn number(word: &str) -> Option<u32> {
    match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word
            .parse::<i64>()
            .ok()
            .and_then(|value| u32::try_from(value).ok().or_else(|| i32::try_from(value).ok().map(i32::cast_unsigned))),
    }
}

fn exit(word: &str) -> Option<u32> {
    let (sign, name) = word.strip_prefix('-').map_or((1, word), |name| (-1, name));
    let known = named("error", name).map(|(number, _)| (sign * number.cast_signed()).cast_unsigned());
    known.or_else(|| number(word))
}

/// Returns the number of a user or a group: the third of the fields separated by colons.
fn account(file: &str, name: &str) -> Option<u32> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.split(':').next() == Some(name))?;
    line.split(':').nth(2)?.parse().ok()
}

/// Returns the name of a kind of records, as it stands in trails.
pub(crate) fn record_name(kind: u16) -> Option<&'static str> {
    RECORDS.binary_search_by_key(&kind, |(number, _)| *number).ok().map(|place| RECORDS[place].1)
}

/// Returns the number of a kind of records.
pub(crate) fn record_kind(word: &[u8]) -> Option<u16> {
    RECORDS.iter().find(|(_, name)| name.as_bytes() == word).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_together() {
        assert!(RECORDS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!((record_name(1300), record_name(1320), record_name(1301)), (Some("SYSCALL"), Some("EOE"), None));
        assert_eq!(
            (pair("auid", "obj_uid"), pair("obj_uid", "auid"), pair("sgid", "fsgid")),
            (Some(5), Some(5), Some(25))
        );
        assert_eq!((perm("wa"), perm("rwxa"), perm("z"), perm("")), (Some(10), Some(15), None, None));
    }

    #[test]
    fn values_in_their_ways_of_writing() {
        assert_eq!(value(Kind::User, "unset"), Some(u32::MAX));
        assert_eq!(value(Kind::User, "-1"), Some(u32::MAX));
        assert_eq!(value(Kind::Exit, "-EACCES"), Some((-13_i32).cast_unsigned()));
        assert_eq!(value(Kind::Number, "0x10"), Some(16));
        assert_eq!(value(Kind::MessageType, "PROCTITLE"), Some(1327));
        assert_eq!(value(Kind::Number, "many"), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_by_their_arch() {
        assert_eq!(
            (call("open", None), call("openat", arch("b64")), call("open", arch("b32"))),
            (Some(2), Some(257), Some(5))
        );
        assert_eq!((call("59", None), call("opne", None)), (Some(59), None));
    }
}
