//! The stdin and stdout of commands, in hyperfine's words.

use std::io::{copy, sink};
use std::os::fd::{AsFd, IntoRawFd};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::values::utf8;
use catalogue::Output;
use files::Destination;

/// The files of a process that a path may name, by their numbers.
const STANDARD: [&str; 3] = ["stdin", "stdout", "stderr"];

/// The places where commands print. A file descriptor that is handed on is the same for all
/// commands.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// The tool's own file descriptors that were handed on.
    inherited: Vec<Inherited>,
    /// The end of the pipe that commands write to.
    pipe: Option<i32>,
}

/// A file descriptor of the tool, by its number here and in the programs that inherit it.
#[derive(Debug)]
struct Inherited {
    own: i32,
    handed: i32,
}

impl Outputs {
    /// The stdout that a word of --output names; `None` for /dev/null.
    ///
    /// # Errors
    /// The word is neither known nor a path, or the place cannot be written.
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
        Destination::check(place).with_context(|| {
            format!("{} cannot be written; try another --output", place.display())
        })?;
        Ok(Some(Output::File(to_absolute(place)?)))
    }

    /// The tool's own file descriptor of this number, as the programs inherit it.
    fn inherit(&mut self, own: i32) -> Result<Output> {
        if let Some(inherited) = self.inherited.iter().find(|inherited| inherited.own == own) {
            return Ok(Output::Inherited(inherited.handed));
        }
        let handed = match own {
            1 => hand_on(std::io::stdout())?,
            2 => hand_on(std::io::stderr())?,
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
/// The file is not a regular one, which can be read again for each execution.
pub(super) fn find_input(place: &Path) -> Result<Option<PathBuf>> {
    if place == Path::new("null") {
        return Ok(None);
    }
    let input = to_absolute(place)?;
    let why = match input.metadata() {
        Ok(file) if file.is_file() => return Ok(Some(input)),
        Ok(_) => "it is not a regular file",
        Err(_) => "it does not exist",
    };
    bail!("{} cannot be the commands' input: {why}; try another --input", place.display())
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

/// The number of the tool's file descriptor that a path names, such as /dev/stdout or /dev/fd/1.
fn own_descriptor(place: &Path) -> Option<i32> {
    let place = place.to_str()?;
    for (number, name) in (0..).zip(STANDARD) {
        if place == format!("/dev/{name}") {
            return Some(number);
        }
    }
    place.strip_prefix("/dev/fd/")?.parse().ok()
}

fn to_absolute(path: &Path) -> Result<PathBuf> {
    let absolute =
        std::path::absolute(path).with_context(|| format!("{} cannot be used", path.display()))?;
    utf8(absolute.as_os_str())?;
    Ok(absolute)
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
