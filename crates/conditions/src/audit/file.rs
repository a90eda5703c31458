//! A trail in a file, flushed as auditd flushes its log.

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
const WRITE: usize = 256 * 1024;

/// Records between flushes, as in the auditd.conf that comes with auditd.
const FREQUENCY: u32 = 50;

/// A trail in a file.
#[derive(Debug)]
pub(crate) struct TrailFile {
    file: File,
    flush: Flush,
    limit: u64,
    written: u64,
    waiting: Vec<u8>,
    since: u32,
    flusher: Option<(SyncSender<()>, JoinHandle<()>)>,
    /// Why nothing more is written.
    failure: Option<String>,
}

impl TrailFile {
    /// Creates the file; it is started over whenever it would grow beyond `limit` bytes.
    pub(crate) fn create(path: &Path, flush: Flush, limit: u64) -> Result<TrailFile, String> {
        let failed = |error: std::io::Error| format!("the trail {} cannot be made ({error})", path.display());
        let flags = match flush {
            Flush::Data => OFlags::DSYNC,
            Flush::Sync => OFlags::SYNC,
            Flush::None | Flush::Incremental | Flush::IncrementalAsync => OFlags::empty(),
        };
        let flags = flags.bits().cast_signed();
        let file = File::options()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(flags)
            .open(path)
            .map_err(failed)?;
        let flusher = match flush {
            Flush::IncrementalAsync => Some(flusher(&file).map_err(failed)?),
            _ => None,
        };
        Ok(TrailFile {
            file,
            flush,
            limit,
            written: 0,
            waiting: Vec::with_capacity(2 * WRITE),
            since: 0,
            flusher,
            failure: None,
        })
    }

    /// Writes a record, or keeps it for a larger write.
    pub(crate) fn take(&mut self, kind: u16, record: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        prefix(kind, |bytes| self.waiting.extend_from_slice(bytes));
        self.waiting.extend_from_slice(record);
        self.waiting.push(b'\n');
        self.since += 1;
        let due = match self.flush {
            Flush::None => self.waiting.len() >= WRITE,
            Flush::Incremental | Flush::IncrementalAsync => self.since >= FREQUENCY,
            Flush::Data | Flush::Sync => true,
        };
        if due {
            self.write();
        }
    }

    /// Writes what waits.
    pub(crate) fn write(&mut self) {
        if self.waiting.is_empty() || self.failure.is_some() {
            return;
        }
        if let Err(error) = self.try_write() {
            self.failure = Some(format!("the trail could not be written: {error}"));
        }
        self.waiting.clear();
        self.since = 0;
    }

    fn try_write(&mut self) -> std::io::Result<()> {
        if self.written + self.waiting.len() as u64 > self.limit {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.written = 0;
        }
        self.file.write_all(&self.waiting)?;
        self.written += self.waiting.len() as u64;
        match (&self.flusher, self.flush) {
            // While it is busy with the last flush, the next one includes these records.
            (Some((wake, _)), _) => drop(wake.try_send(())),
            (None, Flush::Incremental) => self.file.sync_data()?,
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
        if let Some((wake, thread)) = self.flusher.take() {
            drop(wake);
            let _ = thread.join();
        }
        self.failure.map_or(Ok(()), Err)
    }
}

/// A thread that flushes a file whenever it is woken.
fn flusher(file: &File) -> std::io::Result<(SyncSender<()>, JoinHandle<()>)> {
    let file = file.try_clone()?;
    let (wake, wakes) = sync_channel(1);
    let thread = std::thread::Builder::new().name("flush".to_owned()).spawn(move || {
        // An error of the disk is met again by the next write.
        wakes.iter().for_each(|()| drop(file.sync_data()));
    })?;
    Ok((wake, thread))
}

/// Passes on what a line of a trail has before its record.
fn prefix(kind: u16, mut write: impl FnMut(&[u8])) {
    write(b"type=");
    match names::record_name(kind) {
        Some(name) => write(name.as_bytes()),
        None => write(format!("UNKNOWN[{kind}]").as_bytes()),
    }
    write(b" msg=");
}

/// Returns the bytes of a record as a line of a trail.
pub(crate) fn length(kind: u16, record: &[u8]) -> usize {
    let mut length = record.len() + 1;
    prefix(kind, |bytes| length += bytes.len());
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
        for flush in [Flush::None, Flush::Incremental, Flush::IncrementalAsync, Flush::Data, Flush::Sync] {
            let mut trail = TrailFile::create(&path, flush, 1 << 20).unwrap();
            (0..120).for_each(|_| trail.take(1307, RECORD));
            trail.take(1390, RECORD);
            trail.finish().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().next(), Some("type=CWD msg=audit(1.002:3): cwd=\"/\""));
            assert_eq!(text.lines().last(), Some("type=UNKNOWN[1390] msg=audit(1.002:3): cwd=\"/\""));
            assert_eq!(text.len(), 120 * length(1307, RECORD) + length(1390, RECORD), "{flush:?}");
        }
    }

    #[test]
    fn a_full_file_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trail.log");
        let mut trail = TrailFile::create(&path, Flush::Data, 1000).unwrap();
        (0..100).for_each(|_| {
            trail.take(1307, RECORD);
            assert!(std::fs::metadata(&path).unwrap().len() <= 1000);
        });
        trail.finish().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() > 0);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut trail = TrailFile::create(Path::new("/dev/full"), Flush::None, 1 << 20).unwrap();
        trail.take(1307, RECORD);
        let why = trail.finish().unwrap_err();
        assert!(why.starts_with("the trail could not be written: "), "{why}");
    }
}
