//! Files of others: only regular ones are read, and only so much of them.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::make::options;

/// Opens a file to read it, without ever waiting for another process: opening a named pipe would.
/// Links are followed.
///
/// # Errors
/// It cannot be opened, or is no regular file: a directory, a named pipe, a socket or a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Looked at first, since opening alone does something to some devices; and again, since it may
    // be another by then.
    check_regular(&fs::metadata(path)?)?;
    let mut options = options();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = options.read(true).open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// The bytes of a regular file.
///
/// # Errors
/// As [`open_regular`], or it has more than `most` bytes.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }

    // It may have grown.
    read_at_most(file, most)
}

/// The bytes of a source, to its end.
///
/// # Errors
/// It cannot be read, or is more than `most` bytes.
pub fn read_at_most(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if length as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {}", words::bytes(most)))
}

/// The text of a regular file.
///
/// # Errors
/// As [`read_regular`], or it is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_regular(path, most)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    match special_kind(metadata) {
        None => Ok(()),
        Some(kind) => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}, not a file")))
        }
    }
}

/// The kind of a file that is not regular, in words; `None` for a regular one.
pub(crate) fn special_kind(metadata: &Metadata) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return Some("a named pipe");
        } else if kind.is_socket() {
            return Some("a socket");
        } else if kind.is_char_device() || kind.is_block_device() {
            return Some("a device");
        }
    }
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => None,
        (_, true) => Some("a directory"),
        _ => Some("something else"),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "12345").unwrap();
        symlink(path("file"), path("link")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_regular(&path(name), 5).unwrap(), b"12345", "{name}");
            let long = read_regular(&path(name), 4).unwrap_err();
            assert_eq!(
                (long.kind(), long.to_string().as_str()),
                (io::ErrorKind::FileTooLarge, "it has more than 4 bytes")
            );
        }

        let _socket = UnixListener::bind(path("socket")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RWXU).unwrap();
        symlink(path("pipe"), path("to-pipe")).unwrap();
        let refused = |path: &Path| open_regular(path).unwrap_err().to_string();
        for (name, kind) in [
            ("socket", "a socket"),
            ("pipe", "a named pipe"),
            ("to-pipe", "a named pipe"),
            ("", "a directory"),
        ] {
            assert_eq!(refused(&path(name)), format!("it is {kind}, not a file"), "{name}");
        }
        assert_eq!(refused(Path::new("/dev/null")), "it is a device, not a file");
        assert_eq!(open_regular(&path("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
