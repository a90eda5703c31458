//! Figures that commands print. What an execution prints is kept in a file, which is read and
//! removed here when its trial is over.

use std::collections::BTreeSet;
use std::fs::{File, remove_file};
use std::path::Path;

use anyhow::{Context, Result};

use journal::{Copy, MAX_PRINTED_FIGURES, Printed, Trial};

/// An execution may print this much.
const MAX_PRINTED_BYTES: u64 = 32 << 20;

/// Reads the figures in the output of an execution, given the number of its round.
pub type Figures<'a> = dyn Fn(&[u8], u64) -> Result<Vec<Printed>> + 'a;

/// The note on figures beyond those that a journal may have.
const TOO_MANY_NAMES: &str = "\
    it printed figures under too many different names, so new ones are left out; keep process numbers \
    and addresses out of the names";

/// The names of a run's figures, as many as a journal may have.
#[derive(Debug, Default)]
pub(super) struct FigureNames(BTreeSet<String>);

impl FigureNames {
    /// True if a figure of this name may be kept: the name is known, or there is room for another.
    fn admit(&mut self, name: &str) -> bool {
        if self.0.len() < MAX_PRINTED_FIGURES {
            self.0.insert(name.to_owned());
        }
        self.0.contains(name)
    }
}

/// Adds the figures of each execution of a trial, from the files in `folder`, and removes the
/// files. `names` are the commands' names; `known` are the figures' names so far.
///
/// # Errors
/// The output of an execution has no figures that can be read; the message names its command.
pub(super) fn add(
    trial: &mut Trial,
    folder: &Path,
    names: &[&str],
    figures: &Figures<'_>,
    known: &mut FigureNames,
) -> Result<(), String> {
    for (arm, copy) in trial.copies.iter_mut().enumerate() {
        // The controls are the first commands again.
        let command = names.get(arm % names.len().max(1)).copied().unwrap_or_default();
        let rounds: Vec<u64> = copy.executions.iter().map(|execution| execution.round).collect();
        for round in rounds {
            let path = folder.join(format!("{round}-{arm}"));
            let printed = read_figures(&path, round, figures)
                .map_err(|why| format!("what '{command}' printed cannot be used: {why:#}"))?;
            for figure in printed {
                if known.admit(&figure.name) {
                    add_rounds(figure, &mut copy.printed);
                } else {
                    note_once(copy, TOO_MANY_NAMES);
                }
            }
        }
    }
    Ok(())
}

fn read_figures(path: &Path, round: u64, figures: &Figures<'_>) -> Result<Vec<Printed>> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let bytes = files::read_at_most(file, MAX_PRINTED_BYTES)
        .context("it is longer than any report of figures");

    // A file that stays is removed with its directory, at the end of the run.
    let _ = remove_file(path);
    figures(&bytes?, round)
}

/// Adds a figure to those of other rounds.
fn add_rounds(figure: Printed, figures: &mut Vec<Printed>) {
    match figures.iter_mut().find(|known| known.is_like(&figure)) {
        Some(known) => {
            known.rounds.extend(figure.rounds);
            known.gaps.extend(figure.gaps);
        }
        None => figures.push(figure),
    }
}

fn note_once(copy: &mut Copy, note: &str) {
    if !copy.notes.iter().any(|known| known == note) {
        copy.notes.push(note.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use catalogue::Metric;
    use journal::Execution;

    fn figures(bytes: &[u8], round: u64) -> Result<Vec<Printed>> {
        let text = std::str::from_utf8(bytes)?;
        let Ok(value) = text.parse() else { bail!("'{text}' is no number") };
        Ok(vec![Printed {
            name: "a".into(),
            unit: String::new(),
            metric: Metric::Time,
            rounds: vec![(round, value)],
            ..Printed::default()
        }])
    }

    fn trial() -> Trial {
        let executed = |rounds: &[u64]| {
            rounds.iter().map(|round| Execution { round: *round, ..Execution::default() }).collect()
        };
        let copy = |rounds: &[u64]| Copy { executions: executed(rounds), ..Copy::default() };
        Trial { copies: vec![copy(&[0, 1]), copy(&[0, 1]), copy(&[1])], ..Trial::default() }
    }

    #[test]
    fn each_execution_adds_its_round_and_its_file_goes() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("0-0", "1"), ("1-0", "2"), ("0-1", "3"), ("1-1", "4"), ("1-2", "5")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut trial = trial();
        add(&mut trial, folder.path(), &["old", "new"], &figures, &mut FigureNames::default())
            .unwrap();
        let rounds: Vec<&[(u64, f64)]> =
            trial.copies.iter().map(|copy| &copy.printed[0].rounds[..]).collect();
        assert_eq!(rounds, [&[(0, 1.0), (1, 2.0)][..], &[(0, 3.0), (1, 4.0)], &[(1, 5.0)]]);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn names_beyond_those_of_a_journal_are_left_out_and_known_ones_stay() {
        let mut names = FigureNames::default();
        assert!((0..MAX_PRINTED_FIGURES).all(|number| names.admit(&number.to_string())));
        assert!(!names.admit("another"));
        assert!(names.admit("7"));
    }

    #[test]
    fn the_command_is_named_whose_figures_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["0-0", "1-0", "0-1", "1-1"] {
            std::fs::write(folder.path().join(name), "1").unwrap();
        }
        std::fs::write(folder.path().join("1-2"), "x").unwrap();
        let refused = |folder: &Path| {
            let names = &mut FigureNames::default();
            add(&mut trial(), folder, &["old", "new"], &figures, names).unwrap_err()
        };
        assert_eq!(refused(folder.path()), "what 'old' printed cannot be used: 'x' is no number");
        let why = refused(folder.path());
        assert!(
            why.starts_with("what 'old' printed cannot be used: ")
                && why.contains("0-0 cannot be read"),
            "{why}"
        );
    }
}
