//! The reference collection in `reference/`, which is part of the binary: an entry is a journal
//! with scores in place of trials, and a sum over its lines.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::hash;
use analysis::Results;
use catalogue::Catalogue;
use journal::{Fact, Journal, Procedure};

include!(concat!(env!("OUT_DIR"), "/reference.rs"));

/// The fact that has the sum.
const SUM_FACT: &str = "reference.sum";

/// The longest entry that is taken.
const MAX_ENTRY_BYTES: usize = 32 << 10;

/// The results of every entry, by their names.
pub fn entries(catalogue: &Catalogue) -> Vec<Results> {
    // Their tests show that each can be read.
    let readable = ENTRIES
        .iter()
        .filter_map(|text| journal::parse(text.as_bytes(), Path::new("reference")).ok());
    readable.map(|journal| Results::new(&journal, catalogue, None)).collect()
}

/// The lines of an entry, its sum among them.
///
/// # Errors
/// It cannot be encoded.
pub fn lines(entry: &Journal) -> Result<String> {
    let mut entry = entry.clone();
    let value = sum(&entry)?;
    entry.facts.push(Fact::new([SUM_FACT, "Sum", "Reference"], value, None));
    encode_entry(&entry)
}

/// Checks the lines of an entry that somebody sends.
///
/// # Errors
/// It is no entry, or says whose machine it was, or was not measured by a procedure that is known,
/// or its sum is another.
pub fn check(text: &str, catalogue: &Catalogue) -> Result<Results> {
    if text.len() > MAX_ENTRY_BYTES {
        bail!(
            "it has {} bytes, and an entry has at most {MAX_ENTRY_BYTES}: measure fewer tests",
            text.len()
        );
    }
    let mut entry = journal::parse(text.as_bytes(), Path::new("the entry"))?;
    check_owner(&entry)?;
    match entry.run.procedure {
        Procedure::Standard | Procedure::Classic => {}
        Procedure::Imported if entry.facts.value("imported.source").is_some() => {}
        Procedure::Imported => {
            bail!(
                "it is imported, but does not say where from; try `reference add RUN --source TEXT`"
            )
        }
        procedure => bail!(
            "its procedure is {procedure}; an entry is measured by the standard or the classic one"
        ),
    }
    if entry.trials.is_empty() || entry.trials.iter().any(|trial| trial.score.is_none()) {
        bail!("it is a run, not an entry; `unixmark reference add RUN` makes one of it");
    }

    let stated_sum = entry.facts.value(SUM_FACT).unwrap_or_default().to_owned();
    entry.facts.remove(SUM_FACT);
    if stated_sum != sum(&entry)? {
        bail!(
            "its sum is '{stated_sum}', which is not that of its lines: it was changed; make it again from the run"
        );
    }
    Ok(Results::new(&entry, catalogue, None))
}

/// Checks that an entry names no host, user or path.
fn check_owner(entry: &Journal) -> Result<()> {
    if !entry.run.host.is_empty() {
        bail!("it names the host '{}'; `unixmark reference add RUN` leaves it out", entry.run.host);
    }

    let mut redacted = entry.clone();
    redacted.redact();
    redacted.run.host.clear();
    if redacted != *entry || !entry.run.arguments.is_empty() || entry.run.fleet.is_some() {
        bail!(
            "it names a user, a directory, a node or a command line; `unixmark reference add RUN` leaves these out"
        );
    }
    Ok(())
}

fn sum(entry: &Journal) -> Result<String> {
    Ok(format!("{:016x}", hash(&encode_entry(entry)?)))
}

fn encode_entry(entry: &Journal) -> Result<String> {
    let line =
        |record| Ok(serde_json::to_string(&record).context("an entry cannot be encoded")? + "\n");
    entry.records().into_iter().map(line).collect()
}

#[cfg(test)]
mod tests;
