//! Files that were cut anywhere: what is read of one has the whole file's figures and no others,
//! whatever is left of the number at its end.
#![cfg(test)]

extern crate unixmark_interop as interop;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use catalogue::Catalogue;
use journal::Journal;

/// Cuts of a file; a small one is cut at every byte.
const CUTS: u64 = 120;

/// Tools whose figures are made of many lines: of fewer, they are others.
const SUMMARIES: [&str; 5] = ["cyclictest", "rtla", "rt-app", "MangoHud", "PresentMon"];

/// The values of each figure by its label and unit.
type Figures = BTreeMap<(String, String), BTreeSet<String>>;

fn figures(journals: &[Journal]) -> Figures {
    let mut figures = Figures::new();
    for journal in journals {
        for trial in &journal.trials {
            let cell = &journal.cells[trial.cell];
            let name = (cell.label.clone(), cell.unit.clone());
            let value = trial.score.as_ref().map(|score| score.value.to_string());
            figures.entry(name).or_default().extend(value);
        }
    }
    figures
}

/// The values of a figure. Go's names have their package where the text has several.
fn known_values(whole: &Figures, (label, unit): &(String, String)) -> BTreeSet<String> {
    let with_package = format!(".{label}");
    let is_same = |known: &str| known == label || known.ends_with(&with_package);
    let known = whole.iter().filter(|((known, its), _)| is_same(known) && its == unit);
    known.flat_map(|(_, values)| values.clone()).collect()
}

fn files() -> Vec<PathBuf> {
    let folders = ["tests/cases/imports", "tests/cases/figures", "tests/vectors/imports"];
    let entries =
        folders.iter().flat_map(|folder| std::fs::read_dir(testing::file(folder)).unwrap());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn no_cut_file_has_a_figure_that_the_whole_has_not() {
    let catalogue = Catalogue::load().unwrap();
    let mut compared = 0;
    for file in files() {
        let bytes = std::fs::read(&file).unwrap();
        let Ok(whole) = interop::import("x", &bytes, &catalogue) else { continue };
        if whole.iter().any(|journal| SUMMARIES.iter().any(|one| journal.run.tool.starts_with(one)))
        {
            continue;
        }
        let whole = figures(&whole);
        let step = (bytes.len() as u64 / testing::simulated(CUTS)).max(1) as usize;
        for length in (1..bytes.len()).step_by(step) {
            let Ok(cut) = interop::import("x", &bytes[..length], &catalogue) else { continue };
            for (name, values) in figures(&cut) {
                let known = known_values(&whole, &name);
                assert!(
                    values.is_subset(&known),
                    "{} cut at {length}: {name:?} is {values:?}, not among {known:?}",
                    file.display()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}
