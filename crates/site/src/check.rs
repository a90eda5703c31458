//! Checks a journal from somebody else that is to go into a site: it is whole, its cells are scored
//! as in the catalogue, its trials can have been measured, and no text in it could be taken for
//! anything but text.

use std::path::Path;

use crate::texts::unsafe_text;
use catalogue::{Catalogue, Condition};
use journal::{Cell, Ended, Journal, Line, MAX_JOURNAL_BYTES, Procedure, Trial};

/// The maximum number of complaints about one file that are named.
const MAX_COMPLAINTS: usize = 8;

/// The complaints about a submitted journal; none if it is good.
pub fn check(path: &Path, catalogue: &Catalogue) -> Vec<String> {
    let text = match files::read_text(path, MAX_JOURNAL_BYTES) {
        Ok(text) => text,
        Err(error) => return vec![format!("it cannot be read: {error}")],
    };
    let journal = match journal::parse(text.as_bytes(), path) {
        Ok(journal) => journal,
        Err(error) => return vec![format!("{error:#}")],
    };
    let mut complaints = incompleteness(&journal, &text);
    for (number, line) in text.lines().enumerate() {
        if let Some(why) = unsafe_text(line) {
            complaints.push(format!("line {}: {why}", number + 1));
        }
    }

    // A run that was imported from another suite has no counts to check.
    if journal.run.procedure != Procedure::Imported {
        complaints
            .extend(journal.cells.iter().filter_map(|cell| catalogue_difference(cell, catalogue)));
        for (number, trial) in journal.trials.iter().enumerate() {
            let cell = &journal.cells[trial.cell];
            if let Some(why) = trial_error(trial, cell, catalogue) {
                complaints.push(format!("trial {} ({}): {why}", number + 1, cell.key.test));
            }
        }
    }
    complaints.truncate(MAX_COMPLAINTS);
    complaints
}

/// The complaints about a journal that is not whole, or has foreign lines.
fn incompleteness(journal: &Journal, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    match journal.end.as_ref().map(|end| end.reason) {
        Some(Ended::Complete | Ended::Budget) => {}
        Some(reason) => {
            complaints.push(format!("the run was not finished: {reason}", reason = reason.name()))
        }
        None => complaints.push("the run was cut short: its last line is missing".to_owned()),
    }
    // The reader passes over a banner, and over lines of kinds that it does not know.
    let foreign =
        text.lines().position(|line| !matches!(Line::read(line.as_bytes()), Ok(Line::Known(_))));
    complaints
        .extend(foreign.map(|number| format!("line {} is not part of a journal", number + 1)));
    complaints
}

/// The complaint about a cell that the catalogue would score otherwise.
fn catalogue_difference(cell: &Cell, catalogue: &Catalogue) -> Option<String> {
    let name = &cell.key.test;
    let tests = catalogue.expand(std::slice::from_ref(name)).unwrap_or_default();
    let [test] = &tests[..] else {
        return Some(format!("the catalogue has no test '{name}'"));
    };

    let expected = Cell::new(0, test, 1, None, &Condition::none());
    let Cell { metric, unit, timebase, scale, value, truncate, .. } = &expected;
    let differs = (cell.metric, &cell.unit, cell.timebase, cell.scale, &cell.value, cell.truncate)
        != (*metric, unit, *timebase, *scale, value, *truncate);
    differs.then(|| format!("{name} is not scored as in the catalogue"))
}

/// Why a trial with a result cannot have been measured: a score in place of counts, a wrong number
/// of copies, slices out of order, a wrong check value. `None` for one that failed or was skipped.
fn trial_error(trial: &Trial, cell: &Cell, catalogue: &Catalogue) -> Option<String> {
    if trial.error.is_some() || trial.skip.is_some() {
        return None;
    }
    if trial.score.is_some() {
        return Some("it has a score instead of counts".to_owned());
    }
    if trial.copies.len() != cell.key.copies as usize {
        return Some(format!(
            "it has {} of {}",
            trial.copies.len(),
            words::copies(cell.key.copies)
        ));
    }
    let tests = catalogue.expand(std::slice::from_ref(&cell.key.test)).unwrap_or_default();
    for copy in &trial.copies {
        let mut last = 0;
        for slice in &copy.slices {
            if slice.start < last || slice.length() == 0 {
                return Some("its slices overlap or run backwards".to_owned());
            }

            last = slice.end;
        }

        let checks = tests.iter().flat_map(|test| &test.checks);
        for (name, right) in checks {
            if !copy.checks.get(name).is_some_and(|answer| right.accepts(*answer)) {
                return Some(format!("its check value '{name}' is wrong or missing"));
            }
        }
    }

    None
}
