//! Files that a user names, as with `--export-json`, are written as a shell writes them.
//!
//! `>` opens the file that a path leads to: /dev/null stays a device, also if root names it, and a
//! link stays a link. Here, too, nothing but a regular file is ever replaced:
//!
//! 1. [`Destination::check`] says before anything is measured that a path cannot be written. It
//!    leaves nothing behind, empties nothing, and opens nothing but regular files and the terminal:
//!    opening a named pipe waits for its reader, and opening some devices does something.
//! 2. [`Destination::write`] follows the path again. A regular file, if it is one of this user's
//!    under one name, and a new file are written beside their place and renamed, so that their
//!    readers see the old one or the whole new one. Everything else is opened and written.
//!
//! `-` is stdout. So are its other names, which a shell would open anew: a file would then be
//! emptied under what the tool prints.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use super::make::{options, program_options};
use super::regular::special_kind;
use super::strangers::{MAX_LINKS, check_author, check_links, real_folder, too_many_links};
use super::whole::{check_new_file, replace};

/// The names of stdout and stderr, which hold without /proc.
const STREAMS: [(&str, StandardStream); 7] = [
    ("-", StandardStream::Out),
    ("/dev/stdout", StandardStream::Out),
    ("/dev/fd/1", StandardStream::Out),
    ("/proc/self/fd/1", StandardStream::Out),
    ("/dev/stderr", StandardStream::Err),
    ("/dev/fd/2", StandardStream::Err),
    ("/proc/self/fd/2", StandardStream::Err),
];

/// /dev/tty, which can be opened only by a process that has a terminal.
const TERMINAL_DEVICE: (u32, u32) = (5, 0);

/// A path that a user named, to be written.
#[derive(Debug, Clone)]
pub struct Destination {
    name: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StandardStream {
    Out,
    Err,
}

/// The file that a path leads to.
#[derive(Debug)]
enum Target {
    StandardStream(StandardStream),
    /// Nothing yet, in a directory that is there.
    New(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A device, a named pipe, or an open file that a link in /proc stands for.
    Opened(PathBuf),
}

/// What distinguishes a file from others.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// The path of a new file, without links.
    Path(PathBuf),
    /// The device and inode of one that is there.
    Inode(u64, u64),
}

impl Target {
    /// The place of a regular file or a new one; `None` for a stream, a device or a pipe.
    fn place(&self) -> Option<Place> {
        let inode = |metadata: &Metadata| Place::Inode(metadata.dev(), metadata.ino());
        match self {
            Target::StandardStream(_) => None,
            Target::New(path) => Some(Place::Path(path.clone())),
            Target::Regular(_, metadata) => Some(inode(metadata)),
            Target::Opened(path) => {
                fs::metadata(path).ok().filter(Metadata::is_file).as_ref().map(inode)
            }
        }
    }
}

impl Destination {
    /// Checks that a path can be written, without writing there.
    ///
    /// # Errors
    /// It cannot be written: a directory of it is missing, or it is one, or this user may not write
    /// there.
    pub fn check(name: &Path) -> io::Result<Destination> {
        match resolve_target(name)? {
            Target::StandardStream(_) => {}
            Target::New(path) => {
                let folder = path.parent().unwrap_or(Path::new("/"));
                rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?;
                // Root has the right to write where the kernel makes no files, as in /sys.
                check_new_file(&path)?;
            }
            // To open it for writing also fails while it is executed, or on a read-only disk.
            Target::Regular(path, metadata) => {
                check_kernel_file(&path, &metadata)?;
                drop(open_for_writing(&path, OFlags::NOFOLLOW)?);
            }
            Target::Opened(path) => {
                rustix::fs::access(&path, Access::WRITE_OK)?;
                if is_terminal_device(&path) {
                    open_for_writing(&path, OFlags::empty())?;
                }
            }
        }
        Ok(Destination { name: name.to_path_buf() })
    }

    /// The path as it was named.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// True if this is stdout.
    pub fn is_stdout(&self) -> bool {
        matches!(resolve_target(&self.name), Ok(Target::StandardStream(StandardStream::Out)))
    }

    /// True if writing may wait for somebody who reads.
    pub fn may_wait(&self) -> bool {
        matches!(resolve_target(&self.name), Ok(Target::StandardStream(_) | Target::Opened(_)))
    }

    /// True if this and another path lead to one file, where the second output would replace the
    /// first. A stream or a device, which takes both outputs, is no file in this sense, and neither
    /// is a path that leads nowhere.
    pub fn is_same_file(&self, other: &Destination) -> bool {
        let (Ok(target), Ok(other)) = (resolve_target(&self.name), resolve_target(&other.name))
        else {
            return false;
        };

        let place = target.place();
        place.is_some() && place == other.place()
    }

    /// Writes the file, in place of an older one. At a named pipe this waits until somebody reads
    /// it.
    ///
    /// # Errors
    /// It cannot be written, also since whoever read it has gone away.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.write_noting_wait(bytes, &|| {})
    }

    /// [`Destination::write`], which calls `note_wait` before it waits for the reader of a named
    /// pipe.
    ///
    /// # Errors
    /// As [`Destination::write`].
    pub fn write_noting_wait(&self, bytes: &[u8], note_wait: &dyn Fn()) -> io::Result<()> {
        self.write_with(bytes, &options(), |mode| mode, note_wait)
    }

    /// Writes a program, which whoever may read it may execute.
    ///
    /// # Errors
    /// As [`Destination::write`].
    pub fn write_program(&self, bytes: &[u8]) -> io::Result<()> {
        self.write_with(bytes, &program_options(), |mode| mode | (mode & 0o444) >> 2, &|| {})
    }

    /// Writes the file: with `options` if it is new, and if it replaces an older one, with the mode
    /// that `new_mode` computes from the older one's.
    fn write_with(
        &self,
        bytes: &[u8],
        options: &OpenOptions,
        new_mode: impl Fn(u32) -> u32,
        note_wait: &dyn Fn(),
    ) -> io::Result<()> {
        let written = match resolve_target(&self.name)? {
            Target::StandardStream(StandardStream::Out) => write_stream(io::stdout().lock(), bytes),
            Target::StandardStream(StandardStream::Err) => write_stream(io::stderr().lock(), bytes),
            Target::New(path) => replace(&path, bytes, options, |_| Ok(())),
            Target::Regular(path, metadata) if is_replaceable(&path, &metadata) => {
                let mode = new_mode(metadata.permissions().mode() & 0o777);
                match replace_with_mode(&path, bytes, mode) {
                    Err(error) if is_replacement_refused(&error) => {
                        truncate_and_write(&path, OFlags::NOFOLLOW, bytes)
                    }
                    replaced => replaced,
                }
            }
            Target::Regular(path, _) => truncate_and_write(&path, OFlags::NOFOLLOW, bytes),
            Target::Opened(path) => write_opened(&path, bytes, note_wait),
        };
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => io::Error::other("its reader has closed it"),
            _ => error,
        })
    }
}

/// Puts a file in the place of another, with these permissions: nobody who may not read it in the
/// end may read it meanwhile.
fn replace_with_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut private = options();
    private.mode(0o600);
    replace(path, bytes, &private, |file| file.set_permissions(fs::Permissions::from_mode(mode)))
}

fn write_stream(mut stream: impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

/// Follows a path to the file that would be written.
fn resolve_target(name: &Path) -> io::Result<Target> {
    if let Some((_, stream)) = STREAMS.iter().find(|(known, _)| name == Path::new(known)) {
        return Ok(Target::StandardStream(*stream));
    }
    if name.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the path is empty"));
    }

    let mut path = name.to_path_buf();
    for _ in 0..=MAX_LINKS {
        let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
            return Err(directory_error());
        };

        check_links(folder)?;
        let folder = real_folder(folder).map_err(|error| name_missing(folder, error))?;
        let real_path = folder.join(file);
        let metadata = match fs::symlink_metadata(&real_path) {
            // A descriptor that is not open, such as /dev/fd/9: nothing can be made in /proc.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && folder.starts_with("/proc") =>
            {
                return Err(io::Error::new(io::ErrorKind::NotFound, "nothing is open there"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_folder = path.as_os_str().as_bytes().ends_with(b"/");
                return if is_folder { Err(directory_error()) } else { Ok(Target::New(real_path)) };
            }
            metadata => metadata?,
        };

        if !metadata.is_symlink() {
            return existing_target(&folder, real_path, metadata);
        }
        // Such a link stands for an open file, and its text is no path.
        if folder.starts_with("/proc") {
            return descriptor_target(&folder, real_path);
        }

        check_author(&folder, &real_path, &metadata)?;
        path = folder.join(fs::read_link(&real_path)?);
    }

    Err(too_many_links())
}

/// The error about a directory that cannot be found, which says what is missing of its path.
fn name_missing(folder: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let parts = folder.ancestors().filter(|part| !part.as_os_str().is_empty());
    let missing = parts.filter(|part| fs::symlink_metadata(part).is_err()).last();
    let missing = missing.unwrap_or(folder).display();
    io::Error::new(error.kind(), format!("the directory {missing} does not exist"))
}

/// Checks that a file in /proc can be written by its mode: root could open the others, too.
///
/// # Errors
/// Nobody can write it.
fn check_kernel_file(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if path.starts_with("/proc") && metadata.permissions().mode() & 0o222 == 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the kernel only lets it be read",
        ));
    }
    Ok(())
}

/// True if a path is /dev/tty, the terminal of whichever process opens it.
fn is_terminal_device(path: &Path) -> bool {
    let (major, minor) = TERMINAL_DEVICE;
    rustix::fs::stat(path).is_ok_and(|found| found.st_rdev == rustix::fs::makedev(major, minor))
}

fn directory_error() -> io::Error {
    io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")
}

/// The target at `path` in `folder`, which is there and is no link.
///
/// # Errors
/// It cannot be written, or another user may have put it there.
fn existing_target(folder: &Path, path: PathBuf, metadata: Metadata) -> io::Result<Target> {
    if metadata.is_dir() {
        return Err(directory_error());
    }
    if metadata.is_file() {
        check_author(folder, &path, &metadata)?;
        return Ok(Target::Regular(path, metadata));
    }

    let kind = metadata.file_type();
    if kind.is_socket() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a socket"));
    }
    if kind.is_fifo() {
        check_author(folder, &path, &metadata)?;
    }
    Ok(Target::Opened(path))
}

/// The target that a link in /proc stands for.
fn descriptor_target(folder: &Path, link: PathBuf) -> io::Result<Target> {
    let of_self = ["/proc/self/fd", "/proc/thread-self/fd"];
    let is_own = of_self.iter().any(|own| fs::canonicalize(own).is_ok_and(|own| own == folder));
    let is_named = |number: &str| link.file_name().is_some_and(|name| name == number);
    if is_own && is_named("1") {
        return Ok(Target::StandardStream(StandardStream::Out));
    }
    if is_own && is_named("2") {
        return Ok(Target::StandardStream(StandardStream::Err));
    }

    let found = fs::metadata(&link)?;
    match special_kind(&found) {
        Some("a directory") => Err(directory_error()),
        Some("a socket") => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a socket")),
        _ => Ok(Target::Opened(link)),
    }
}

/// True if nobody notices that a file becomes another: it belongs to this user and group, has one
/// name, and no access rights but those of its mode.
fn is_replaceable(path: &Path, metadata: &Metadata) -> bool {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    metadata.uid() == user.as_raw()
        && metadata.gid() == group.as_raw()
        && metadata.nlink() == 1
        && !has_access_list(path)
}

/// True of a file with access rights beyond those of its mode.
#[cfg(target_os = "linux")]
fn has_access_list(path: &Path) -> bool {
    rustix::fs::getxattr(path, "system.posix_acl_access", &mut [0_u8; 0][..]).is_ok()
}

/// Elsewhere such rights are not looked at, so that every file is written in its place.
#[cfg(not(target_os = "linux"))]
fn has_access_list(_: &Path) -> bool {
    true
}

/// True if a file cannot be replaced but may still be writable in its place: its directory cannot
/// be written, or the file is a mount point.
fn is_replacement_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

fn open_for_writing(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = (flags | OFlags::NOCTTY).bits().cast_signed();
    options().write(true).custom_flags(flags).open(path)
}

/// Writes a device or a pipe; `note_wait` is called before this waits for a reader.
fn write_opened(path: &Path, bytes: &[u8], note_wait: &dyn Fn()) -> io::Result<()> {
    let is_pipe = fs::metadata(path)?.file_type().is_fifo();
    if is_pipe {
        // This one is written, not opened again: if it were closed first, its reader would see the
        // end.
        match open_for_writing(path, OFlags::NONBLOCK) {
            Ok(mut pipe) => {
                rustix::io::ioctl_fionbio(&pipe, false)?;
                return pipe.write_all(bytes);
            }
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => note_wait(),
            Err(error) => return Err(error),
        }
    }
    truncate_and_write(path, OFlags::empty(), bytes)
}

/// Writes an existing file in its place, emptied first; devices and pipes are not emptied by that.
fn truncate_and_write(path: &Path, flags: OFlags, bytes: &[u8]) -> io::Result<()> {
    open_for_writing(path, flags | OFlags::TRUNC)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn write(path: &Path, text: &str) {
        Destination::check(path).unwrap().write(text.as_bytes()).unwrap();
    }

    fn why_not(path: &Path) -> String {
        Destination::check(path).unwrap_err().to_string()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_keeps_its_mode_and_links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("target"), "old and long").unwrap();
        fs::set_permissions(path("target"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink("target", path("link")).unwrap();
        symlink("link", path("link-to-link")).unwrap();
        symlink("new", path("dangling")).unwrap();
        fs::hard_link(path("target"), path("twin")).unwrap();

        write(&path("link-to-link"), "1");
        assert_eq!(fs::read_to_string(path("target")).unwrap(), "1");
        assert_eq!(fs::read_to_string(path("twin")).unwrap(), "1");
        assert_eq!(mode(&path("target")), 0o600);

        fs::remove_file(path("twin")).unwrap();
        write(&path("link"), "2");
        assert_eq!(fs::read_to_string(path("target")).unwrap(), "2");
        assert_eq!(mode(&path("target")), 0o600);

        write(&path("dangling"), "3");
        assert_eq!(fs::read_to_string(path("new")).unwrap(), "3");
        for link in ["link", "link-to-link", "dangling"] {
            assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink(), "{link}");
        }
    }

    #[test]
    fn a_program_can_be_executed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("old"), "text").unwrap();
        fs::set_permissions(path("old"), fs::Permissions::from_mode(0o640)).unwrap();
        for name in ["old", "new"] {
            Destination::check(&path(name)).unwrap().write_program(b"#!/bin/sh\n").unwrap();
            assert_eq!(mode(&path(name)) & 0o100, 0o100, "{name}");
        }

        assert_eq!(mode(&path("old")), 0o750);
    }

    #[test]
    fn a_check_makes_nothing_and_empties_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "kept").unwrap();
        Destination::check(&path("file")).unwrap();
        Destination::check(&path("new")).unwrap();
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "kept");
        assert!(!path("new").exists());
    }

    #[test]
    fn hyperfine_306_what_cannot_be_written_is_said_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "kept").unwrap();
        symlink("none/file", path("to-none")).unwrap();
        symlink("turn", path("turn")).unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        let table = [
            ("none/file", "the directory "),
            ("to-none", "the directory "),
            ("file/below", "Not a directory"),
            (".", "it is a directory"),
            ("new/", "it is a directory"),
            ("..", "it is a directory"),
            ("socket", "it is a socket"),
            ("turn", "it leads through too many links"),
        ];
        for (name, why) in table {
            let found = why_not(&path(name));
            assert!(found.starts_with(why), "{name}: {found}");
        }

        let missing = format!("the directory {} does not exist", path("none").display());
        assert_eq!(why_not(&path("none/below/file")), missing);
        for kernel_file in ["/sys/x", "/proc/version", "/proc/x"] {
            assert!(Destination::check(Path::new(kernel_file)).is_err(), "{kernel_file}");
        }
        assert_eq!(why_not(Path::new("")), "the path is empty");
        assert_eq!(why_not(Path::new("/")), "it is a directory");
    }

    #[test]
    fn two_paths_lead_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("there"), "").unwrap();
        fs::hard_link(path("there"), path("twin")).unwrap();
        symlink("new", path("link")).unwrap();
        for (one, other, expected) in [
            (path("new"), path("new"), true),
            (path("new"), path("link"), true),
            (path("there"), path("twin"), true),
            (path("new"), path("there"), false),
            ("/dev/null".into(), "/dev/null".into(), false),
            ("-".into(), "-".into(), false),
        ] {
            let [one, other] = [one, other].map(|path| Destination::check(&path).unwrap());
            assert_eq!(one.is_same_file(&other), expected, "{one:?} {other:?}");
        }
    }

    #[test]
    fn devices_and_pipes_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        write(Path::new("/dev/null"), "text");

        // No reader is waited for yet.
        let destination = Destination::check(&pipe).unwrap();
        assert!(destination.may_wait());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).unwrap().read_to_string(&mut text).map(|_| text)
            }
        });
        destination.write(b"through").unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), "through");

        let full = Destination::check(Path::new("/dev/full")).unwrap().write(b"text");
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn descriptors_are_written_by_their_numbers() {
        use std::os::fd::AsRawFd;
        let (mut reader, writer) = io::pipe().unwrap();
        for folder in ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"] {
            write(&PathBuf::from(format!("{folder}/{}", writer.as_raw_fd())), "x");
        }

        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "xxx");
        for closed in ["/dev/fd/987654", "/proc/self/fd/987654"] {
            assert_eq!(why_not(Path::new(closed)), "nothing is open there");
        }
    }

    #[test]
    fn every_name_of_stdout_is_stdout() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/stdout", &link).unwrap();
        let own = format!("/proc/{}/fd/1", std::process::id());
        let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/self/../self/fd/1"];
        for name in names.map(Path::new).into_iter().chain([Path::new(&own), &link]) {
            assert!(Destination::check(name).unwrap().is_stdout(), "{}", name.display());
        }

        assert!(!Destination::check(&folder.path().join("-")).unwrap().is_stdout());
    }

    #[test]
    fn writing_fails_once_the_reader_has_gone_away() {
        use std::os::fd::AsRawFd;
        let (reader, writer) = io::pipe().unwrap();
        // As /dev/fd/N of a shell's `>(head -1)`.
        let destination =
            Destination::check(&PathBuf::from(format!("/dev/fd/{}", writer.as_raw_fd()))).unwrap();
        drop(reader);
        // Opening it fails where nobody reads, or writing does.
        assert!(destination.write(b"text").is_err());
    }

    /// Root alone can make a file of another's.
    #[test]
    fn what_another_user_left_in_a_directory_for_all_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return;
        }

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        fs::write(path("victim"), "kept").unwrap();
        symlink("victim", path("link")).unwrap();
        fs::write(path("file"), "theirs").unwrap();
        fs::create_dir(path("folder")).unwrap();
        symlink("folder", path("to-folder")).unwrap();
        symlink("to-folder", path("own-link")).unwrap();
        for name in ["link", "file", "to-folder"] {
            std::os::unix::fs::lchown(path(name), Some(65534), None).unwrap();
        }
        for name in ["link", "file", "to-folder/new", "own-link/new", "own-link/../new"] {
            assert!(why_not(&path(name)).contains("is another user's"), "{name}");
        }
        assert!(super::super::make_directories(path("to-folder/below")).is_err());
        // Elsewhere root writes what belongs to others, and it stays theirs.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        write(&path("file"), "new");
        assert_eq!(fs::metadata(path("file")).unwrap().uid(), 65534);
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "new");
    }
}
