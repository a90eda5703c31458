//! The stdin and stdout of commands, in hyperfine's words.

use std::fs::Metadata;
use std::io::{ErrorKind, IsTerminal, copy, sink};
use std::os::fd::{AsFd, IntoRawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::values::utf8;
use crate::terminal::say;
use catalogue::Output;
use files::Destination;

/// The files of a process that a path may name, by their numbers.
const STANDARD: [&str; 3] = ["stdin", "stdout", "stderr"];

/// The directories of a process's open files.
const DESCRIPTORS: [&str; 3] = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];

/// The most links that lead to an open file, as Linux has it for any path.
const MAX_LINKS: usize = 40;

/// A reader of a named pipe that is started with the tool has opened it within this time.
const READER_GRACE: Duration = Duration::from_secs(1);

/// The time between looks whether a named pipe has a reader.
const READER_LOOK: Duration = Duration::from_millis(10);

/// The places where commands print. A file descriptor that is handed on is the same for all
/// commands.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// The tool's own file descriptors that were handed on.
    inherited: Vec<Inherited>,
    /// The end of the pipe that commands write to.
    pipe: Option<i32>,
    /// The longest wait for the reader of a named pipe; `None` for any time.
    patience: Option<Duration>,
}

/// A file descriptor of the tool, by its number here and in the programs that inherit it.
#[derive(Debug)]
struct Inherited {
    own: i32,
    handed: i32,
}

impl Outputs {
    pub(super) fn with_patience(patience: Option<Duration>) -> Outputs {
        Outputs { patience, ..Outputs::default() }
    }

    /// The stdout that a word of --output names; `None` for /dev/null.
    ///
    /// # Errors
    /// The word is neither known nor a path, the place cannot be written, or it is a named pipe
    /// that nobody reads.
    pub(super) fn find(&mut self, place: &Path) -> Result<Option<Output>> {
        match place.to_str() {
            Some("null") => return Ok(None),
            Some("pipe") => return self.pipe().map(Some),
            Some("inherit") => return self.inherit(1).map(Some),
            _ => {}
        }
        let is_path = place.as_os_str().as_encoded_bytes().contains(&b'/');
        ensure!(
            is_path,
            "'{0}' is not an output; try null, pipe, inherit, or ./{0} for a file",
            place.display()
        );
        if let Some(own) = own_descriptor(place) {
            return self.inherit(own).map(Some);
        }
        Destination::check(place).with_context(|| describe_unwritable(place))?;
        if place.metadata().is_ok_and(|file| file.file_type().is_fifo()) {
            return Ok(Some(Output::Inherited(self.await_reader(place)?)));
        }
        utf8(place.as_os_str())?;
        Ok(Some(Output::File(place.to_path_buf())))
    }

    /// Opens a named pipe for every program that is started from now on, once somebody reads it.
    /// It stays open until the tool ends, so that its reader does not see an end before.
    fn await_reader(&self, place: &Path) -> Result<i32> {
        let began = Instant::now();
        let mut is_said = false;
        loop {
            let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
            match rustix::fs::open(place, flags, Mode::empty()) {
                Err(Errno::NXIO) => {}
                pipe => {
                    let pipe = pipe.with_context(|| describe_unwritable(place))?;
                    rustix::io::ioctl_fionbio(&pipe, false)?;
                    return Ok(pipe.into_raw_fd());
                }
            }

            if let Some(patience) = self.patience.filter(|patience| began.elapsed() >= *patience) {
                bail!(
                    "{} cannot be written: it is a named pipe that nobody has opened to read within \
                     {patience:?} (--timeout); start its reader, or try another --output",
                    place.display()
                );
            }
            if !is_said && began.elapsed() >= READER_GRACE {
                say(&format!("waiting until somebody reads {}, a named pipe", place.display()));
                is_said = true;
            }
            std::thread::sleep(READER_LOOK);
        }
    }

    /// The tool's own file descriptor of this number, as the programs inherit it.
    fn inherit(&mut self, own: i32) -> Result<Output> {
        if let Some(inherited) = self.inherited.iter().find(|inherited| inherited.own == own) {
            return Ok(Output::Inherited(inherited.handed));
        }
        let handed = match own {
            1 => hand_on(std::io::stdout())?,
            2 => hand_on(std::io::stderr())?,
            3.. => reopen(own, OFlags::WRONLY).with_context(|| {
                format!("the file descriptor {own} cannot be written; try another --output")
            })?,
            _ => bail!(
                "commands cannot write to the file descriptor {own}; try --output inherit, or a file"
            ),
        };
        self.inherited.push(Inherited { own, handed });
        Ok(Output::Inherited(handed))
    }

    /// A pipe of which everything is read and forgotten.
    fn pipe(&mut self) -> Result<Output> {
        if let Some(handed) = self.pipe {
            return Ok(Output::Inherited(handed));
        }
        let (mut reader, writer) = std::io::pipe().context("a pipe cannot be made")?;
        let handed = hand_on(writer)?;
        std::thread::spawn(move || copy(&mut reader, &mut sink()));
        self.pipe = Some(handed);
        Ok(Output::Inherited(handed))
    }
}

/// The file that commands read; `None` for /dev/null.
///
/// # Errors
/// It cannot be read, or not again for each execution.
pub(super) fn find_input(place: &Path) -> Result<Option<PathBuf>> {
    if place == Path::new("null") {
        return Ok(None);
    }
    if let Err(why) = check_input(place) {
        bail!("{} cannot be the commands' input: {why}; try another --input", place.display());
    }

    let Some(own) = own_descriptor(place) else {
        utf8(place.as_os_str())?;
        return Ok(Some(place.to_path_buf()));
    };
    // The programs that execute commands have other files of these numbers.
    let handed = reopen(own, OFlags::RDONLY)
        .with_context(|| format!("{} cannot be handed on to commands", place.display()))?;
    Ok(Some(PathBuf::from(format!("/dev/fd/{handed}"))))
}

/// Checks that a place can be read anew by each execution.
///
/// # Errors
/// Why it cannot.
fn check_input(place: &Path) -> Result<(), String> {
    let found = place.metadata().map_err(|error| describe_unreadable(&error))?;
    if found.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !is_readable_again(&found) {
        return Err(
            "it is neither a regular file nor a device, and can be read only once".to_owned()
        );
    }

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(place, flags, Mode::empty())
        .map_err(|error| describe_unreadable(&error.into()))?;
    if file.is_terminal() {
        return Err("it is a terminal, which commands do not get".to_owned());
    }
    Ok(())
}

fn describe_unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "it does not exist".to_owned(),
        _ => format!("it cannot be read ({error})"),
    }
}

fn describe_unwritable(place: &Path) -> String {
    format!("{} cannot be written; try another --output", place.display())
}

/// True of a regular file or a device, which each execution can read anew; a pipe is read only
/// once.
fn is_readable_again(file: &Metadata) -> bool {
    let kind = file.file_type();
    kind.is_file() || kind.is_char_device() || kind.is_block_device()
}

/// The tool's stderr, for every program that is started from now on.
pub(super) fn hand_on_stderr() -> Result<i32> {
    hand_on(std::io::stderr())
}

/// Copies a file descriptor for every program that is started from now on.
fn hand_on(file: impl AsFd) -> Result<i32> {
    let handed = rustix::io::dup(file).context("the output cannot be handed on to commands")?;
    Ok(handed.into_raw_fd())
}

/// Opens a file of the tool's anew, by its number, for every program that is started from now on.
fn reopen(own: i32, flags: OFlags) -> Result<i32> {
    let file = rustix::fs::open(format!("/dev/fd/{own}"), flags | added_to(own), Mode::empty())?;
    Ok(file.into_raw_fd())
}

/// The flag of a file descriptor that is only added to, as a shell's `7>>log`.
fn added_to(own: i32) -> OFlags {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{own}")).unwrap_or_default();
    let octal = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = octal.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    flags.map_or(OFlags::empty(), OFlags::from_bits_retain) & OFlags::APPEND
}

/// The number of the tool's file descriptor that a path names, such as /dev/stdout or /dev/fd/1, or
/// that a link leads to.
fn own_descriptor(place: &Path) -> Option<i32> {
    let mut place = place.to_path_buf();
    for _ in 0..=MAX_LINKS {
        if let Some(number) = descriptor_number(&place) {
            return Some(number);
        }
        let target = place.read_link().ok()?;
        place = place.parent()?.join(target);
    }
    None
}

fn descriptor_number(place: &Path) -> Option<i32> {
    let place = place.to_str()?;
    for (number, name) in (0..).zip(STANDARD) {
        if place == format!("/dev/{name}") {
            return Some(number);
        }
    }
    DESCRIPTORS.iter().find_map(|folder| place.strip_prefix(folder)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths_of_outputs() {
        let mut outputs = Outputs::default();
        let mut find = |place: &str| outputs.find(Path::new(place));
        assert_eq!(find("null").unwrap(), None);
        assert_eq!(find("/tmp/x").unwrap(), Some(Output::File("/tmp/x".into())));
        assert_eq!(find("inherit").unwrap(), find("/dev/stdout").unwrap());
        assert_eq!(find("/dev/fd/1").unwrap(), find("inherit").unwrap());
        assert_ne!(find("/dev/stderr").unwrap(), find("inherit").unwrap());
        assert_eq!(find("pipe").unwrap(), find("pipe").unwrap());
        for (place, why) in [("pip", "./pip for a file"), ("/dev/fd/0", "file descriptor 0")] {
            assert!(find(place).unwrap_err().to_string().contains(why), "{place}");
        }
    }
}
