//! The kernel's log, which has the records that no process receives. The tool and its auditd
//! receive everybody's, so they pass on those of others.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use machine::Machine;

use crate::audit::kernel::MESSAGE;
use crate::audit::record;

/// The file that is written to.
const DEVICE: &str = "/dev/kmsg";

/// The longest text that the kernel takes.
const MAX_TEXT_BYTES: usize = 1000;

/// The maximum number of records of a trial that are passed on; the kernel itself prints ten in
/// five seconds.
const MAX_PASSED_ON: u32 = 100;

#[derive(Debug)]
pub(crate) struct KernelLog {
    path: PathBuf,
    /// Records that may still be passed on.
    left: u32,
}

impl KernelLog {
    /// Opens the log.
    ///
    /// # Errors
    /// The log cannot be written to, so others' records would be lost.
    pub(crate) fn open(machine: &Machine) -> Result<KernelLog, String> {
        let log = KernelLog { path: machine.path(DEVICE), left: MAX_PASSED_ON };
        log.open_device().map_err(|error| {
            format!("{DEVICE} cannot be written to ({error}), so audit records of other processes would be lost")
        })?;
        Ok(log)
    }

    /// Writes a record that is not the measured programs', as the kernel does, unless it only
    /// serves the trail.
    pub(crate) fn pass_on(&mut self, kind: u16, record: &[u8]) {
        if self.left == 0 || [record::END, record::REPLACE, MESSAGE].contains(&kind) {
            return;
        }

        self.left -= 1;

        let mut line = format!("<5>audit: type={kind} ").into_bytes();
        line.extend(record.iter().take(MAX_TEXT_BYTES - line.len()));
        // A line without an end is not shown before the next one.
        line.push(b'\n');
        // If the log takes nothing more, it would have had no place for the kernel's line either.
        let _ = self.open_device().and_then(|mut file| file.write(&line));
    }

    /// Opens the device anew for each line: of lines that come through one that stays open, the
    /// kernel drops what exceeds ten in five seconds.
    fn open_device(&self) -> std::io::Result<File> {
        files::options().append(true).open(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_bounded_length_and_their_number_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::at(root.path());
        let why = KernelLog::open(&machine).unwrap_err();
        assert!(why.contains("/dev/kmsg cannot be written to"), "{why}");
        crate::audit::tests::fake::write(root.path(), DEVICE, "");
        let mut log = KernelLog::open(&machine).unwrap();
        let written = || std::fs::read_to_string(root.path().join("dev/kmsg")).unwrap();
        [record::END, record::REPLACE, MESSAGE]
            .iter()
            .for_each(|kind| log.pass_on(*kind, b"audit(1.2:3): x"));
        assert_eq!(written(), "");
        log.pass_on(1400, b"audit(1.2:3): apparmor=\"DENIED\"");
        assert_eq!(written(), "<5>audit: type=1400 audit(1.2:3): apparmor=\"DENIED\"\n");
        log.pass_on(1309, &[b'x'; 9000]);
        assert_eq!(written().len(), 53 + MAX_TEXT_BYTES);
        (0..2 * MAX_PASSED_ON).for_each(|_| log.pass_on(1400, b"audit(1.2:3): x"));
        assert_eq!(written().matches("<5>audit: ").count(), MAX_PASSED_ON as usize);
    }
}
