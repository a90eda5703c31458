//! Figures that commands print: the files that keep what each execution of a trial has printed.

use std::fs::{File, remove_file};
use std::path::Path;

use anyhow::{Context, Result};

use journal::{Printed, Trial};

/// Bytes that an execution may print.
const MOST_BYTES: u64 = 32 << 20;

/// Returns the figures that an execution of a round has printed.
pub type Figures<'a> = dyn Fn(&str, u64) -> Result<Vec<Printed>> + 'a;

/// Adds the figures that each execution of a trial has printed into `folder`, and removes the files. `names` are those
/// of the commands.
///
/// # Errors
/// The output of an execution has no figures that can be read; the message names the command and says why.
pub(super) fn add(trial: &mut Trial, folder: &Path, names: &[&str], figures: &Figures<'_>) -> Result<(), String> {
    for (place, copy) in trial.copies.iter_mut().enumerate() {
        for round in copy.executions.iter().map(|one| one.round) {
            let found = read(&folder.join(format!("{round}-{place}")), round, figures);
            // The control is the first command again.
            let name = names.get(place).or(names.first()).copied().unwrap_or_default();
            let why = |why| format!("what '{name}' printed cannot be used: {why:#}");
            found.map_err(why)?.into_iter().for_each(|one| put(one, &mut copy.printed));
        }
    }
    Ok(())
}

fn read(path: &Path, round: u64, figures: &Figures<'_>) -> Result<Vec<Printed>> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let bytes = files::read_at_most(file, MOST_BYTES).context("it is longer than any report of figures");
    // The directory goes at the end of the run, whatever is left in it.
    let _ = remove_file(path);
    figures(&String::from_utf8_lossy(&bytes?), round)
}

/// Adds the rounds of a figure to those that it has.
fn put(one: Printed, all: &mut Vec<Printed>) {
    match all.iter_mut().find(|known| known.name == one.name) {
        Some(known) => known.rounds.extend(one.rounds),
        None => all.push(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use catalogue::Metric;
    use journal::{Copy, Execution};

    fn figures(text: &str, round: u64) -> Result<Vec<Printed>> {
        let Ok(value) = text.parse() else { bail!("'{text}' is no number") };
        Ok(vec![Printed { name: "a".into(), unit: String::new(), metric: Metric::Time, rounds: vec![(round, value)] }])
    }

    fn trial() -> Trial {
        let executed =
            |rounds: &[u64]| rounds.iter().map(|round| Execution { round: *round, ..Execution::default() }).collect();
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
        add(&mut trial, folder.path(), &["old", "new"], &figures).unwrap();
        let rounds: Vec<&[(u64, f64)]> = trial.copies.iter().map(|copy| &copy.printed[0].rounds[..]).collect();
        assert_eq!(rounds, [&[(0, 1.0), (1, 2.0)][..], &[(0, 3.0), (1, 4.0)], &[(1, 5.0)]]);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn the_command_is_named_whose_figures_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["0-0", "1-0", "0-1", "1-1"] {
            std::fs::write(folder.path().join(name), "1").unwrap();
        }
        std::fs::write(folder.path().join("1-2"), "x").unwrap();
        let refused = |folder: &Path| add(&mut trial(), folder, &["old", "new"], &figures).unwrap_err();
        assert_eq!(refused(folder.path()), "what 'old' printed cannot be used: 'x' is no number");
        let why = refused(folder.path());
        assert!(why.starts_with("what 'old' printed cannot be used: ") && why.contains("0-0 cannot be read"), "{why}");
    }
}
