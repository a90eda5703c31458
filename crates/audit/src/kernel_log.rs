//! The kernel's log, which has the records that no process receives. The tool and its auditd
//! receive everybody's, so they pass on those of others; the kernel then keeps or drops them by the
//! same limits as its own.

use std::fs::File;
use std::io::Write;

use machine::Machine;

use crate::kernel::MESSAGE;
use crate::record;

/// The file that is written to.
const DEVICE: &str = "/dev/kmsg";

/// The longest text that the kernel takes.
const LONGEST: usize = 1000;

/// The kernel's log.
#[derive(Debug)]
pub(crate) struct KernelLog(File);

impl KernelLog {
    /// Opens it.
    ///
    /// # Errors
    /// It cannot be written to, so others' records would be lost.
    pub(crate) fn open(machine: &Machine) -> Result<KernelLog, String> {
        let file = File::options().append(true).open(machine.path(DEVICE));
        file.map(KernelLog).map_err(|error| {
            format!("{DEVICE} cannot be written to ({error}), so audit records of other processes would be lost")
        })
    }

    /// Writes a record that is not the measured programs', as the kernel does, unless it only
    /// serves the trail.
    pub(crate) fn pass_on(&mut self, kind: u16, record: &[u8]) {
        if [record::END, record::REPLACE, MESSAGE].contains(&kind) {
            return;
        }
        let mut line = format!("<5>audit: type={kind} ").into_bytes();
        line.extend(record.iter().take(LONGEST - line.len()));
        // Whatever the kernel drops here, it would have dropped there.
        let _ = self.0.write(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_bounded_length() {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::at(root.path());
        let why = KernelLog::open(&machine).unwrap_err();
        assert!(why.contains("/dev/kmsg cannot be written to"), "{why}");
        crate::fake::write(root.path(), DEVICE, "");
        let mut log = KernelLog::open(&machine).unwrap();
        let written = || std::fs::read_to_string(root.path().join("dev/kmsg")).unwrap();
        [record::END, record::REPLACE, MESSAGE].iter().for_each(|kind| log.pass_on(*kind, b"audit(1.2:3): x"));
        assert_eq!(written(), "");
        log.pass_on(1400, b"audit(1.2:3): apparmor=\"DENIED\"");
        assert_eq!(written(), "<5>audit: type=1400 audit(1.2:3): apparmor=\"DENIED\"");
        log.pass_on(1309, &[b'x'; 9000]);
        assert_eq!(written().len(), 51 + LONGEST);
    }
}
