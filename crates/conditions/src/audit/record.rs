//! Records of a trail, as the kernel sends them and as auditd writes them to its log:
//!
//! ```text
//!                  audit(1700000000.123:4567): arch=c000003e syscall=110 … auid=1000 uid=0 …
//! type=SYSCALL msg=audit(1700000000.123:4567): arch=c000003e syscall=110 … auid=1000 uid=0 …
//! ```
//!
//! A stamp has seconds since 1970, milliseconds, and the serial number of the event. Several
//! records, of different kinds, make an event.

use crate::audit::names;

/// The moment of an event, and its number; all records of an event have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Milliseconds since 1970.
    pub ms: u64,
    /// The event's number since the machine started.
    pub serial: u64,
}

/// The kinds of records that end an event, and that check whether the receiver is alive.
pub(crate) const END: u16 = 1320;
pub(crate) const REPLACE: u16 = 1329;
/// The kinds that report changes of auditing.
const CONFIG_CHANGE: u16 = 1305;
const FEATURE_CHANGE: u16 = 1328;

/// True if records of a kind are about programs, rather than about auditing itself or from
/// services.
pub(crate) fn is_of_programs(kind: u16) -> bool {
    matches!(kind, 1300..=1599 | 1700..=1899)
        && !matches!(kind, CONFIG_CHANGE | FEATURE_CHANGE | REPLACE)
}

/// True if a record of a kind is never the first of its event: the first is the system call, or
/// the thing that stopped it.
pub(crate) fn is_detail(kind: u16) -> bool {
    matches!(kind, END | 1302 | 1306 | 1307 | 1309 | 1317 | 1327)
}

/// The stamp that a record begins with.
pub(crate) fn stamp(record: &[u8]) -> Option<Stamp> {
    let rest = record.strip_prefix(b"audit(")?;
    let (seconds, rest) = split_number(rest, b'.')?;
    let (ms, rest) = split_number(rest, b':')?;
    let (serial, _) = split_number(rest, b')')?;
    Some(Stamp { ms: seconds.checked_mul(1000)?.checked_add(ms)?, serial })
}

pub(crate) fn login_uid(record: &[u8]) -> Option<u32> {
    const KEY: &[u8] = b" auid=";

    let start = record.windows(KEY.len()).position(|bytes| bytes == KEY)? + KEY.len();
    let (uid, _) = split_number(&record[start..], b' ')?;
    u32::try_from(uid).ok()
}

/// The kind, 0 if it is unknown, and the record of a line of auditd's log; `None` for
/// auditd's own messages.
pub(crate) fn parse_line(line: &[u8]) -> Option<(u16, &[u8])> {
    let rest = line.strip_prefix(b"type=")?;
    let end = rest.iter().position(|byte| *byte == b' ')?;
    let (name, record) = (&rest[..end], rest[end..].strip_prefix(b" msg=")?);
    if name.starts_with(b"DAEMON_") {
        return None;
    }

    let kind = names::record_kind(name).or_else(|| parse_unknown(name)).unwrap_or(0);
    Some((kind, record))
}

/// The kind in `UNKNOWN[KIND]`, the name of one that auditd does not know.
fn parse_unknown(name: &[u8]) -> Option<u16> {
    let (kind, _) = split_number(name.strip_prefix(b"UNKNOWN[")?, b']')?;
    u16::try_from(kind).ok()
}

/// A number and what follows the byte that ends it.
fn split_number(bytes: &[u8], end: u8) -> Option<(u64, &[u8])> {
    let mut value: u64 = 0;
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?,
            byte if *byte == end && index > 0 => return Some((value, &bytes[index + 1..])),
            _ => return None,
        }
    }

    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSCALL: &[u8] =
        b"audit(1700000000.123:4567): arch=c000003e syscall=110 success=yes ppid=1 pid=2 auid=1000 uid=0";

    #[test]
    fn stamps() {
        assert_eq!(stamp(SYSCALL), Some(Stamp { ms: 1_700_000_000_123, serial: 4567 }));
        for cut in 0..26 {
            assert_eq!(stamp(&SYSCALL[..cut]), None);
        }

        assert_eq!(stamp(b"audit(.1:2)"), None);
        assert_eq!(stamp(b"audit(99999999999999999999.1:2)"), None);
    }

    #[test]
    fn whose_it_is() {
        assert_eq!(login_uid(SYSCALL), Some(1000));
        assert_eq!(login_uid(b"audit(1.2:3): cwd=\"/\""), None);
        assert!(is_of_programs(1300) && is_of_programs(1327) && is_of_programs(1701));
        assert!(
            !is_of_programs(1305)
                && !is_of_programs(1006)
                && !is_of_programs(1100)
                && !is_of_programs(1329)
        );
    }

    #[test]
    fn lines_of_a_log() {
        assert_eq!(
            parse_line(b"type=CWD msg=audit(1.2:3): cwd=\"/\""),
            Some((1307, &b"audit(1.2:3): cwd=\"/\""[..]))
        );
        assert_eq!(
            parse_line(b"type=UNKNOWN[1390] msg=audit(1.2:3): x").map(|it| it.0),
            Some(1390)
        );
        assert_eq!(parse_line(b"type=DAEMON_START msg=audit(1.2:3): x"), None);
        assert_eq!(parse_line(b"type=USER_LOGIN msg=audit(1.2:3): x").map(|it| it.0), Some(0));
        assert_eq!(parse_line(b"type=CWD"), None);
    }
}
