//! Reads a journal: whole, cut short at any byte, or of a later minor version.
//!
//! The writer appends lines whole, so a last line without its end is one that was cut, and does not
//! count. Lines before the first that is a run are a banner, such as a login prints into a pipe;
//! they are skipped with a warning, as are lines of types that this version does not know. Any
//! other damage is an error.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::bounds::{MAX_JOURNAL_BYTES, Tally};
use super::line::{Line, parse_kind};
use super::{FILE, FORMAT, Journal, Record, Run, Warning};
use files::open_regular;

/// Bytes before a journal that may be something else, such as a login banner.
const MAX_BANNER_BYTES: u64 = 256 << 10;

/// Characters of a line that a message quotes.
const MAX_QUOTED_CHARACTERS: usize = 60;

/// Bytes that are read from a file at once.
const BUFFER_BYTES: usize = 1 << 20;

/// The journal that a path names: itself, or that of a run's directory.
pub fn journal_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE) } else { path.to_path_buf() }
}

/// Reads the journal of the run in `directory` (or the journal file itself). A journal that ends in
/// the middle of a line is a shorter run.
///
/// # Errors
/// There is no journal, no line is a run, its format is a later one, a line other than the last is
/// damaged, or it has more than a journal may have.
pub fn read(directory: &Path) -> Result<Journal> {
    let path = journal_file(directory);
    let file = open_regular(&path).with_context(|| match path.exists() {
        true => format!("the journal {} cannot be read", path.display()),
        false => {
            format!("there is no run at {}; `unixmark list runs` shows them", directory.display())
        }
    })?;
    parse(BufReader::with_capacity(BUFFER_BYTES, file), &path)
}

/// Reads a journal from any input; errors name it by `path`, and are those of [`read`].
///
/// # Errors
/// No line is a run, its format is a later one, a line other than the last is damaged, or it has
/// more than a journal may have.
pub fn parse(mut input: impl BufRead, path: &Path) -> Result<Journal> {
    let mut journal = Journal::default();
    let mut tally = Tally::default();
    let mut banner = Banner::default();
    let mut unknown_lines = 0_usize;
    let mut number = 0_usize;
    let mut line = Vec::new();
    while next_line(&mut input, &mut line)
        .with_context(|| format!("{}, line {}: it cannot be read", path.display(), number + 1))?
    {
        number += 1;
        let has_begun = !journal.run.format.is_empty();
        match Line::read(&line) {
            Ok(Line::Known(record)) => {
                tally
                    .add(&record)
                    .and_then(|()| journal.add(record))
                    .with_context(|| format!("{}, line {number}", path.display()))?;
            }
            Ok(Line::Unknown) if has_begun => unknown_lines += 1,
            Err(error) if has_begun || is_run(&line) => {
                bail!("{}, line {number}: a damaged line: {error}", path.display());
            }
            Ok(Line::Unknown) => {
                banner.add(&line, "it is a line of a kind unknown to this version")
            }
            Err(error) => banner.add(&line, &error.to_string()),
        }

        if banner.bytes > MAX_BANNER_BYTES {
            break;
        }
    }

    if journal.run.format.is_empty() {
        if banner.lines == 0 {
            bail!("{} holds no run: it has no whole line", path.display());
        }
        bail!("{}, line 1: this is not a unixmark run: {}", path.display(), banner.error);
    }
    if banner.lines > 0 {
        journal.warnings.push(Warning { cell: None, text: banner.sentence() });
    }
    if unknown_lines > 0 {
        let text = match unknown_lines {
            1 => "1 line of a kind unknown to this version was ignored".to_owned(),
            _ => format!("{unknown_lines} lines of kinds unknown to this version were ignored"),
        };
        journal.warnings.push(Warning { cell: None, text });
    }
    Ok(journal)
}

/// Text before a journal.
#[derive(Default)]
struct Banner {
    lines: usize,
    bytes: u64,
    /// The first line, as a message quotes it.
    first_line: String,
    /// Why the first line is not a record.
    error: String,
}

impl Banner {
    fn add(&mut self, line: &[u8], error: &str) {
        if self.lines == 0 {
            self.first_line = quote(line);
            error.clone_into(&mut self.error);
        }
        self.lines += 1;
        self.bytes += line.len() as u64;
    }

    fn sentence(&self) -> String {
        format!(
            "{} before the journal skipped, beginning with '{}'",
            words::count(self.lines, "line"),
            self.first_line
        )
    }
}

/// The beginning of a line, as a message quotes it.
fn quote(line: &[u8]) -> String {
    words::beginning(&words::clean(String::from_utf8_lossy(line).trim()), MAX_QUOTED_CHARACTERS)
}

/// The beginning of a file.
#[derive(Debug)]
pub enum Head {
    /// The run of a journal, `None` if its first line is of a version that this one cannot read;
    /// and how many other lines, such as a login banner, come before it.
    Run(Option<Box<Run>>, usize),
    /// The first line, quoted, of something that is not a journal; empty if all its lines are.
    Other(String),
}

/// Reads the beginning of a file.
///
/// # Errors
/// The file cannot be read.
pub fn head(path: &Path) -> std::io::Result<Head> {
    let mut input = BufReader::new(open_regular(path)?.take(MAX_BANNER_BYTES));
    let mut first_line = String::new();
    let mut lines = 0;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Ok(Line::Known(Record::Run(run))) = Line::read(&line) {
            return Ok(Head::Run(Some(run), lines));
        }
        if is_run(&line) {
            return Ok(Head::Run(None, lines));
        }

        if first_line.is_empty() {
            first_line = quote(&line);
        }
        lines += 1;
        line.clear();
    }

    Ok(Head::Other(first_line))
}

/// True if a journal has a trial that ran, failed or not, or a second of a burn-in; not if
/// it cannot be read.
pub fn has_trials(path: &Path) -> bool {
    let Ok(file) = open_regular(path) else {
        return false;
    };

    let mut input = BufReader::new(file);
    let mut line = Vec::new();
    while next_line(&mut input, &mut line).is_ok_and(|is_whole| is_whole) {
        match Line::read(&line) {
            Ok(Line::Known(Record::Trial(trial))) if trial.skip.is_none() => return true,
            Ok(Line::Known(Record::Sample(_))) => return true,
            _ => {}
        }
    }

    false
}

/// Reads the next line into `line`; false if there is no whole one.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let length = input.take(MAX_JOURNAL_BYTES + 1).read_until(b'\n', line)?;
    let is_whole = line.last() == Some(&b'\n');
    if length as u64 > MAX_JOURNAL_BYTES && !is_whole {
        let limit = words::bytes(MAX_JOURNAL_BYTES);
        return Err(Error::new(
            ErrorKind::InvalidData,
            format!("the line is longer than {limit}, the most for any"),
        ));
    }

    Ok(is_whole)
}

/// True if a line begins as the first of a journal does, in any serialisation; it may be cut, or of
/// a later version.
fn is_run(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = br#"{"type":"run","#;

    let begins_like_run =
        line.iter().filter(|byte| !byte.is_ascii_whitespace()).take(BEGINNING.len()).eq(BEGINNING);
    begins_like_run || parse_kind(line).is_ok_and(|kind| kind == "run")
}

impl Journal {
    /// Adds the record of the next line.
    ///
    /// # Errors
    /// The record is of a cell that has not come, does not follow those before it, or is not one
    /// that this version can read.
    fn add(&mut self, record: Record) -> Result<()> {
        match record {
            Record::Run(run) => {
                ensure!(self.run.format.is_empty(), "a second run in one journal");
                let format = &run.format;
                ensure!(
                    format == FORMAT,
                    "the format is '{format}' and this version reads '{FORMAT}'; try a newer unixmark"
                );
                self.run = *run;
            }
            _ if self.run.format.is_empty() => bail!("the first line is not a run"),
            Record::Fact(fact) => self.facts.push(fact),
            Record::Cell(cell) => {
                ensure!(cell.id == self.cells.len(), "cell {} is out of order", cell.id);
                self.cells.push(*cell);
            }
            Record::Trial(mut trial) => {
                self.check_cell(trial.cell, "a trial")?;
                // Serde makes room for four, and most trials have one.
                trial.copies.shrink_to_fit();
                self.trials.push(*trial);
            }
            Record::Counts(counts) => {
                self.check_cell(counts.cell, "counts")?;
                self.counts.push(counts);
            }
            Record::Profile(profile) => {
                self.check_cell(profile.cell, "a profile")?;
                profile.check()?;
                self.profiles.push(*profile);
            }
            Record::BurnIn(burnin) => self.burnin = Some(*burnin),
            Record::Sample(sample) => self.samples.push(*sample),
            Record::Fault(fault) => self.faults.push(*fault),
            Record::Pass(pass) => self.passes.push(pass),
            Record::Warning(warning) => self.warnings.push(warning),
            Record::End(end) => self.end = Some(end),
        }

        Ok(())
    }

    /// Checks that there is a cell of this number, which `what` belongs to.
    fn check_cell(&self, cell: usize, what: &str) -> Result<()> {
        ensure!(cell < self.cells.len(), "{what} of cell {cell}, which is not in the journal");
        Ok(())
    }
}
