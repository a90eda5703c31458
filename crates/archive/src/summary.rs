//! The summary beside a journal: a cache that anyone may delete.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use anyhow::{Context, Result};

use analysis::{Results, Summary};
use catalogue::Catalogue;
use files::{open_regular, read_regular, write_atomically};
use journal::MAX_JOURNAL_BYTES;

/// The first bytes of a summary.
const SUMMARY_BEGIN: &[u8] = br#"{"format":"unixmark-summary/"#;

/// The summary of the run with this journal file: the one that is kept beside it, or one that is
/// made from the journal and kept.
///
/// # Errors
/// The file cannot be read, or is not a journal. It is not an error if the summary cannot be kept.
pub fn summary(journal: &Path, catalogue: &Catalogue) -> Result<Summary> {
    let bytes = journal_bytes(journal)?;
    let kept = read_regular(&journal.with_extension("json"), MAX_JOURNAL_BYTES).ok();
    if let Some(summary) = kept.and_then(|kept| serde_json::from_slice::<Summary>(&kept).ok())
        && summary.is_of(bytes)
    {
        return Ok(summary);
    }

    let summary = Summary::new(&journal::read(journal)?, catalogue, bytes);
    // A results directory that can only be read will do: its summaries are made each time.
    let _ = write(&summary, journal);
    Ok(summary)
}

/// Keeps the summary of a journal beside it.
///
/// # Errors
/// The journal is not there, or the summary cannot be written.
pub fn keep(results: &Results, journal: &Path) -> Result<()> {
    write(&Summary::from_results(results, journal_bytes(journal)?), journal)
}

/// Writes a summary beside its journal, unless another file has its name: a journal may lie
/// anywhere, and `x.json` beside `x.jsonl` may be the user's.
fn write(summary: &Summary, journal: &Path) -> Result<()> {
    let target = journal.with_extension("json");
    if !is_missing_or_summary(&target) {
        return Ok(());
    }

    let bytes = serde_json::to_vec(summary).context("a summary cannot be encoded")?;
    let why =
        || format!("{} cannot be written; make room or try another directory", target.display());
    write_atomically(&target, &bytes).with_context(why)
}

/// True if there is no file at `target`, or it begins as summaries do.
fn is_missing_or_summary(target: &Path) -> bool {
    let mut start = Vec::new();
    match open_regular(target) {
        Ok(file) => {
            file.take(SUMMARY_BEGIN.len() as u64).read_to_end(&mut start).is_ok()
                && start == SUMMARY_BEGIN
        }
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

fn journal_bytes(journal: &Path) -> Result<u64> {
    let metadata = fs::metadata(journal).with_context(|| {
        format!("there is no run at {}; `unixmark list runs` shows them", journal.display())
    })?;
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A summary is believed, unless another analysis made it.
    #[test]
    fn a_changed_analysis_computes_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("run.jsonl");
        fs::copy(testing::recorded("index").join("run.jsonl"), &journal).unwrap();
        let catalogue = Catalogue::load().unwrap();
        let computed = summary(&journal, &catalogue).unwrap();
        assert!(!computed.figures.is_empty());
        let kept = Summary { figures: Vec::new(), ..computed.clone() };
        let (made, hash) = computed.made_by.rsplit_once(' ').unwrap();
        assert!(made.starts_with("unixmark ") && hash.len() == 16, "{}", computed.made_by);
        for (made_by, believed) in
            [(computed.made_by.clone(), true), (format!("{made} 0123456789abcdef"), false)]
        {
            write(&Summary { made_by, ..kept.clone() }, &journal).unwrap();
            assert_eq!(summary(&journal, &catalogue).unwrap().figures.is_empty(), believed);
        }
    }
}
