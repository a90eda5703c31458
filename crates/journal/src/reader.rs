//! Reading a journal: whole, cut short at any byte, or of a later minor version.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::bounds::{MOST_BYTES, Tally};
use super::line::{Line, kind};
use super::{FILE, FORMAT, Journal, Record, Run, Warning};
use files::open_regular;

/// Bytes before a journal that may be something else, such as a login banner.
const BANNER: u64 = 256 << 10;

/// Characters of a line that a message quotes.
const QUOTED: usize = 60;

/// Returns the journal that a path names: itself, or that of a run's directory.
pub fn journal_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE) } else { path.to_path_buf() }
}

/// Reads the journal of the run in `directory` (or the journal file itself).
///
/// A journal that ends in the middle of a line is a shorter run. Lines before the first that is a run, such as a login
/// banner, and records of a type this version does not know are skipped with a warning.
///
/// # Errors
/// There is no journal, no line is a run, its format is a later one, a line other than the last is damaged, or it has
/// more than a journal may have.
pub fn read(directory: &Path) -> Result<Journal> {
    let path = journal_file(directory);
    let file = open_regular(&path).with_context(|| match path.exists() {
        true => format!("the journal {} cannot be read", path.display()),
        false => format!("there is no run at {}; `unixmark list runs` shows them", directory.display()),
    })?;
    parse(BufReader::with_capacity(1 << 20, file), &path)
}

/// Reads a journal; errors name it by `path`.
///
/// # Errors
/// As [`read`].
pub fn parse(mut input: impl BufRead, path: &Path) -> Result<Journal> {
    let mut journal = Journal::default();
    let mut tally = Tally::default();
    let mut line = Vec::new();
    let (mut number, mut unknown) = (0_usize, 0_usize);
    let mut banner = Banner::default();
    // A record counts once its line is complete: the writer appends lines whole.
    while next_line(&mut input, &mut line)
        .with_context(|| format!("{}, line {}: it cannot be read", path.display(), number + 1))?
    {
        number += 1;
        let begun = !journal.run.format.is_empty();
        match Line::read(&line) {
            Ok(Line::Known(record)) => {
                let placed = tally.add(&record).and_then(|()| add(record, &mut journal));
                placed.with_context(|| format!("{}, line {number}", path.display()))?;
            }
            Ok(Line::Unknown) if begun => unknown += 1,
            Err(error) if begun || is_run(&line) => {
                bail!("{}, line {number}: a damaged line: {error}", path.display());
            }
            Ok(Line::Unknown) => banner.add(&line, "it is a line of a kind unknown to this version"),
            Err(error) => banner.add(&line, &error.to_string()),
        }
        if banner.bytes > BANNER {
            break;
        }
    }
    match (journal.run.format.is_empty(), banner.lines) {
        (true, 0) => bail!("{} holds no run: it has no whole line", path.display()),
        (true, _) => bail!("{}, line 1: this is not a unixmark run: {}", path.display(), banner.error),
        (false, 0) => {}
        (false, _) => journal.warnings.push(Warning { cell: None, text: banner.sentence() }),
    }
    if unknown > 0 {
        journal.warnings.push(Warning {
            cell: None,
            text: match unknown {
                1 => "1 line of a kind unknown to this version was ignored".to_owned(),
                _ => format!("{unknown} lines of kinds unknown to this version were ignored"),
            },
        });
    }
    Ok(journal)
}

/// Text that stands before a journal.
#[derive(Default)]
struct Banner {
    lines: usize,
    bytes: u64,
    /// Its first line.
    first: String,
    /// Why that is not a record.
    error: String,
}

impl Banner {
    fn add(&mut self, line: &[u8], error: &str) {
        if self.lines == 0 {
            self.first = quoted(line);
            error.clone_into(&mut self.error);
        }
        self.lines += 1;
        self.bytes += line.len() as u64;
    }

    fn sentence(&self) -> String {
        format!("{} before the journal skipped, beginning with '{}'", words::count(self.lines, "line"), self.first)
    }
}

/// The beginning of a line, as a message quotes it.
fn quoted(line: &[u8]) -> String {
    words::beginning(&words::clean(String::from_utf8_lossy(line).trim()), QUOTED)
}

/// The beginning of a file.
#[derive(Debug)]
pub enum Head {
    /// The run of a journal, `None` if its first line is of a version that this one cannot read; and how many other
    /// lines, such as a login banner, come before it.
    Run(Option<Box<Run>>, usize),
    /// The first line, quoted, of something that is not a journal; empty if all its lines are.
    Other(String),
}

/// Returns what a file begins with.
///
/// # Errors
/// It cannot be read.
pub fn head(path: &Path) -> std::io::Result<Head> {
    let mut input = BufReader::new(open_regular(path)?.take(BANNER));
    let mut line = Vec::new();
    let mut first = String::new();
    let mut lines = 0;
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Ok(Line::Known(Record::Run(run))) = Line::read(&line) {
            return Ok(Head::Run(Some(run), lines));
        }
        if is_run(&line) {
            return Ok(Head::Run(None, lines));
        }
        if first.is_empty() {
            first = quoted(&line);
        }
        lines += 1;
        line.clear();
    }
    Ok(Head::Other(first))
}

/// Returns true if a journal has a trial that ran, failed or not, or a second of a burn-in; not if it cannot be read.
pub fn has_trials(path: &Path) -> bool {
    let Ok(file) = open_regular(path) else { return false };
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

/// Reads the next line into `line`; returns whether there is a whole one.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let length = input.take(MOST_BYTES + 1).read_until(b'\n', line)?;
    let is_whole = line.last() == Some(&b'\n');
    if length as u64 > MOST_BYTES && !is_whole {
        let limit = words::bytes(MOST_BYTES);
        return Err(Error::new(ErrorKind::InvalidData, format!("the line is longer than {limit}, the most for any")));
    }
    Ok(is_whole)
}

/// Returns true if a line begins as the first of a journal does, in any serialisation; it may be cut, or of a later
/// version.
fn is_run(line: &[u8]) -> bool {
    let begins = |text: &[u8]| text.iter().filter(|c| !c.is_ascii_whitespace()).take(14).eq(br#"{"type":"run","#);
    begins(line) || kind(line).is_ok_and(|kind| kind == "run")
}

fn add(record: Record, journal: &mut Journal) -> Result<()> {
    match record {
        Record::Run(run) => {
            ensure!(journal.run.format.is_empty(), "a second run in one journal");
            let format = &run.format;
            ensure!(
                format == FORMAT,
                "the format is '{format}' and this version reads '{FORMAT}'; try a newer unixmark"
            );
            journal.run = *run;
        }
        _ if journal.run.format.is_empty() => bail!("the first line is not a run"),
        Record::Fact(fact) => journal.facts.push(fact),
        Record::Cell(mut cell) => {
            cell.first |= was_first(&cell.key.condition);
            ensure!(cell.id == journal.cells.len(), "cell {} is out of order", cell.id);
            journal.cells.push(*cell);
        }
        Record::Trial(mut trial) => {
            // Serde makes room for four, and most trials have one.
            trial.copies.shrink_to_fit();
            ensure!(trial.cell < journal.cells.len(), "a trial of cell {}, which is not in the journal", trial.cell);
            journal.trials.push(*trial);
        }
        Record::Counts(counts) => {
            ensure!(counts.cell < journal.cells.len(), "counts of cell {}, which is not in the journal", counts.cell);
            journal.counts.push(counts);
        }
        Record::BurnIn(burnin) => journal.burnin = Some(*burnin),
        Record::Sample(sample) => journal.samples.push(*sample),
        Record::Fault(fault) => journal.faults.push(*fault),
        Record::Pass(pass) => journal.passes.push(pass),
        Record::Warning(warning) => journal.warnings.push(warning),
        Record::End(end) => journal.end = Some(end),
    }
    Ok(())
}

/// Returns true if a condition is one that could only be measured first when journals did not say so.
fn was_first(condition: &str) -> bool {
    condition.split('+').any(|part| part == "audit=never-on")
}
