//! A trail in a file, flushed to the disk as auditd flushes its log: lines as auditd writes them,
//! at the same moments ([`Flush`]), so that its cost is alike. After a failure nothing more is
//! written; [`TrailFile::finish`] reports it.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use rustix::fs::OFlags;

use crate::audit::Flush;
use crate::audit::names;

/// Bytes that are written at once if nothing has to be flushed.
const BUFFER_BYTES: usize = 256 * 1024;

/// Records between flushes, as in the auditd.conf that comes with auditd.
const FLUSH_INTERVAL_RECORDS: u32 = 50;

#[derive(Debug)]
pub(crate) struct TrailFile {
    file: File,
    flush: Flush,
    max_bytes: u64,
    /// The size of the file.
    written_bytes: u64,
    /// Lines that are not in the file yet.
    buffer: Vec<u8>,
    buffered_records: u32,
    flusher: Option<Flusher>,
    /// Why nothing more is written.
    failure: Option<String>,
}

/// A thread that flushes a file whenever it is woken.
#[derive(Debug)]
struct Flusher {
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl TrailFile {
    /// Creates the file; it is started over whenever it would grow beyond `max_bytes`.
    pub(crate) fn create(path: &Path, flush: Flush, max_bytes: u64) -> Result<TrailFile, String> {
        let failed = |error: std::io::Error| {
            format!("the trail {} cannot be made ({error})", path.display())
        };
        let flags = match flush {
            Flush::Data => OFlags::DSYNC,
            Flush::Sync => OFlags::SYNC,
            Flush::None | Flush::Incremental | Flush::IncrementalAsync => OFlags::empty(),
        };
        let file = files::options()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(failed)?;
        let flusher = match flush {
            Flush::IncrementalAsync => Some(Flusher::start(&file).map_err(failed)?),
            _ => None,
        };

        Ok(TrailFile {
            file,
            flush,
            max_bytes,
            written_bytes: 0,
            buffer: Vec::with_capacity(2 * BUFFER_BYTES),
            buffered_records: 0,
            flusher,
            failure: None,
        })
    }

    /// Writes a record, or keeps it for a larger write.
    pub(crate) fn add(&mut self, kind: u16, record: &[u8]) {
        if self.failure.is_some() {
            return;
        }

        write_prefix(kind, |bytes| self.buffer.extend_from_slice(bytes));
        self.buffer.extend_from_slice(record);
        self.buffer.push(b'\n');
        self.buffered_records += 1;

        let is_due = match self.flush {
            Flush::None => self.buffer.len() >= BUFFER_BYTES,
            Flush::Incremental | Flush::IncrementalAsync => {
                self.buffered_records >= FLUSH_INTERVAL_RECORDS
            }
            Flush::Data | Flush::Sync => true,
        };
        if is_due {
            self.write();
        }
    }

    /// Writes the lines that are not in the file yet.
    pub(crate) fn write(&mut self) {
        if self.buffer.is_empty() || self.failure.is_some() {
            return;
        }

        if let Err(error) = self.try_write() {
            self.failure = Some(format!("the trail could not be written: {error}"));
        }
        self.buffer.clear();
        self.buffered_records = 0;
    }

    fn try_write(&mut self) -> std::io::Result<()> {
        if self.written_bytes + self.buffer.len() as u64 > self.max_bytes {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.written_bytes = 0;
        }
        self.file.write_all(&self.buffer)?;
        self.written_bytes += self.buffer.len() as u64;

        match (&self.flusher, self.flush) {
            // While it is busy with the last flush, the next one includes these records.
            (Some(flusher), _) => drop(flusher.wake.try_send(())),
            (None, Flush::Incremental) => self.file.sync_data()?,
            // Never, or by the flags with which the file was opened.
            (None, _) => {}
        }
        Ok(())
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// Not everything was written.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        self.write();
        if let Some(Flusher { wake, thread }) = self.flusher.take() {
            // The thread ends when nobody can wake it.
            drop(wake);
            let _ = thread.join();
        }
        self.failure.map_or(Ok(()), Err)
    }
}

impl Flusher {
    fn start(file: &File) -> std::io::Result<Flusher> {
        let file = file.try_clone()?;
        let (wake, wakes) = sync_channel(1);
        let thread = std::thread::Builder::new().name("flush".to_owned()).spawn(move || {
            for () in wakes {
                // An error of the disk is met again by the next write.
                let _ = file.sync_data();
            }
        })?;
        Ok(Flusher { wake, thread })
    }
}

/// Writes the beginning of a trail's line, before the record.
fn write_prefix(kind: u16, mut write: impl FnMut(&[u8])) {
    write(b"type=");
    match names::record_name(kind) {
        Some(name) => write(name.as_bytes()),
        None => write(format!("UNKNOWN[{kind}]").as_bytes()),
    }
    write(b" msg=");
}

/// The number of bytes of a record as a line of a trail.
pub(crate) fn line_length(kind: u16, record: &[u8]) -> usize {
    let mut length = record.len() + 1;
    write_prefix(kind, |bytes| length += bytes.len());
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &[u8] = b"audit(1.002:3): cwd=\"/\"";

    #[test]
    fn lines_as_they_stand_in_a_trail() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trail.log");
        for flush in
            [Flush::None, Flush::Incremental, Flush::IncrementalAsync, Flush::Data, Flush::Sync]
        {
            let mut trail = TrailFile::create(&path, flush, 1 << 20).unwrap();
            (0..120).for_each(|_| trail.add(1307, RECORD));
            trail.add(1390, RECORD);
            trail.finish().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().next(), Some("type=CWD msg=audit(1.002:3): cwd=\"/\""));
            assert_eq!(
                text.lines().last(),
                Some("type=UNKNOWN[1390] msg=audit(1.002:3): cwd=\"/\"")
            );
            assert_eq!(
                text.len(),
                120 * line_length(1307, RECORD) + line_length(1390, RECORD),
                "{flush:?}"
            );
        }
    }

    #[test]
    fn a_full_file_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trail.log");
        let mut trail = TrailFile::create(&path, Flush::Data, 1000).unwrap();
        (0..100).for_each(|_| {
            trail.add(1307, RECORD);
            assert!(std::fs::metadata(&path).unwrap().len() <= 1000);
        });
        trail.finish().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() > 0);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut trail = TrailFile::create(Path::new("/dev/full"), Flush::None, 1 << 20).unwrap();
        trail.add(1307, RECORD);
        let why = trail.finish().unwrap_err();
        assert!(why.starts_with("the trail could not be written: "), "{why}");
    }
}
