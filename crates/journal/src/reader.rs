//! Reading a journal: whole, cut short at any byte, or of a later minor version.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{FILE, FORMAT, Journal, Record, Warning};

/// Reads the journal of the run in `directory` (or the journal file itself).
///
/// A journal that ends in the middle of a line is a shorter run. Records of a type this version does
/// not know are passed over with a warning, so that old tools read new journals.
///
/// # Errors
/// There is no journal, its first line is not a run, its format is a later one, or a line other than
/// the last is damaged.
pub fn read(directory: &Path) -> Result<Journal> {
    let path = if directory.is_dir() { directory.join(FILE) } else { directory.to_path_buf() };
    let file = File::open(&path)
        .with_context(|| format!("there is no run at {}; `unixmark list runs` shows them", directory.display()))?;
    parse(BufReader::with_capacity(1 << 20, file), &path)
}

/// Reads a journal of which errors say that it is at `path`.
///
/// # Errors
/// As [`read`].
pub fn parse(mut input: impl BufRead, path: &Path) -> Result<Journal> {
    let mut journal = Journal::default();
    let mut line = Vec::new();
    let mut number = 0_usize;
    let mut unknown = 0_usize;
    loop {
        line.clear();
        let length = input
            .read_until(b'\n', &mut line)
            .with_context(|| format!("the journal {} cannot be read", path.display()))?;
        if length == 0 {
            break;
        }
        number += 1;
        // A record counts once its line is complete: the writer appends lines whole.
        if line.last() != Some(&b'\n') {
            break;
        }
        match serde_json::from_slice::<Record>(&line) {
            Ok(record) => {
                place(record, number, &mut journal).with_context(|| format!("{}, line {number}", path.display()))?
            }
            Err(_) if number > 1 && is_unknown(&line) => unknown += 1,
            Err(error) => bail!(
                "{}, line {number}: {}: {error}",
                path.display(),
                if number == 1 { "this is not a unixmark run" } else { "a damaged line" }
            ),
        }
    }
    if journal.run.format.is_empty() {
        bail!("{} holds no run: it was cut short before its first line was written", path.display());
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

fn place(record: Record, number: usize, journal: &mut Journal) -> Result<()> {
    match record {
        Record::Run(run) => {
            if number != 1 {
                bail!("a second run in one journal");
            }
            if run.format != FORMAT {
                bail!("the format is '{}' and this version reads '{FORMAT}'; try a newer unixmark", run.format);
            }
            journal.run = *run;
        }
        _ if number == 1 => bail!("the first line is not a run"),
        Record::Fact(fact) => journal.facts.push(fact),
        Record::Cell(mut cell) => {
            cell.first |= was_first(&cell.key.condition);
            if cell.id != journal.cells.len() {
                bail!("cell {} is out of order", cell.id);
            }
            journal.cells.push(*cell);
        }
        Record::Trial(trial) => {
            if trial.cell >= journal.cells.len() {
                bail!("a trial of cell {}, which is not in the journal", trial.cell);
            }
            journal.trials.push(*trial);
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

/// Whether a condition is one that could only be measured first when journals did not say so.
fn was_first(condition: &str) -> bool {
    condition.split('+').any(|part| part == "audit=never-on")
}

/// Whether the line is a JSON object with a `type` that this version does not know.
fn is_unknown(line: &[u8]) -> bool {
    const KNOWN: [&str; 10] = ["run", "fact", "cell", "trial", "burnin", "sample", "fault", "pass", "warning", "end"];
    serde_json::from_slice::<serde_json::Value>(line)
        .ok()
        .and_then(|value| value.get("type").and_then(|kind| kind.as_str().map(str::to_owned)))
        .is_some_and(|kind| !KNOWN.contains(&kind.as_str()))
}
