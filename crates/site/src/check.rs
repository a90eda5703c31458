//! The checks of a journal from somebody else that is to go into a site: whole, true to its own arithmetic, and without
//! text that could be more than text.

use std::path::Path;

use crate::texts::unsafe_text;
use catalogue::{Catalogue, Condition};
use journal::{Cell, Ended, Journal, Line, MOST_BYTES, Procedure, Trial};

/// Complaints that are named of one file.
const FEW: usize = 8;

/// Returns what speaks against a submitted journal; nothing if it is good.
pub fn check(path: &Path, catalogue: &Catalogue) -> Vec<String> {
    let text = match files::read_text(path, MOST_BYTES) {
        Ok(text) => text,
        Err(error) => return vec![format!("it cannot be read: {error}")],
    };
    let journal = match journal::parse(text.as_bytes(), path) {
        Ok(journal) => journal,
        Err(error) => return vec![format!("{error:#}")],
    };
    let mut found = whole(&journal, &text);
    let lines = text.lines().enumerate();
    found.extend(lines.filter_map(|(number, line)| Some(format!("line {}: {}", number + 1, unsafe_text(line)?))));
    // What another suite printed has no counts to check.
    if journal.run.procedure != Procedure::Imported {
        found.extend(journal.cells.iter().filter_map(|cell| changed(cell, catalogue)));
        let trials = journal.trials.iter().enumerate();
        found.extend(trials.filter_map(|(number, trial)| {
            let cell = &journal.cells[trial.cell];
            wrong(trial, cell, catalogue).map(|why| format!("trial {} ({}): {why}", number + 1, cell.key.test))
        }));
    }
    found.truncate(FEW);
    found
}

/// Returns the complaints about a journal that is not whole, or has foreign lines.
fn whole(journal: &Journal, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    match journal.end.as_ref().map(|end| end.reason) {
        Some(Ended::Complete | Ended::Budget) => {}
        Some(reason) => found.push(format!("the run was not finished: {reason}", reason = reason.name())),
        None => found.push("the run was cut short: its last line is missing".to_owned()),
    }
    // The reader passes over a banner, and over lines of kinds that it does not know.
    let foreign = text.lines().position(|line| !matches!(Line::read(line.as_bytes()), Ok(Line::Known(_))));
    found.extend(foreign.map(|number| format!("line {} is not part of a journal", number + 1)));
    found
}

/// Returns the complaint about a cell that is not as the catalogue has it, so that its scores would differ.
fn changed(cell: &Cell, catalogue: &Catalogue) -> Option<String> {
    let name = &cell.key.test;
    let tests = catalogue.expand(std::slice::from_ref(name)).unwrap_or_default();
    let [test] = &tests[..] else { return Some(format!("the catalogue has no test '{name}'")) };
    let like = Cell::new(0, test, 1, None, &Condition::none());
    let differs = (cell.metric, &cell.unit, cell.timebase, cell.scale, &cell.value)
        != (like.metric, &like.unit, like.timebase, like.scale, &like.value);
    differs.then(|| format!("{name} is not scored as in the catalogue"))
}

/// Returns the reason why a trial cannot have been measured.
fn wrong(trial: &Trial, cell: &Cell, catalogue: &Catalogue) -> Option<String> {
    if trial.error.is_some() || trial.skip.is_some() {
        return None;
    }
    if trial.score.is_some() {
        return Some("it has a score instead of counts".to_owned());
    }
    if trial.copies.len() != cell.key.copies as usize {
        return Some(format!("it has {} of {}", trial.copies.len(), words::copies(cell.key.copies)));
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
