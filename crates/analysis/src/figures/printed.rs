//! Figures that commands print, such as the results of a benchmark harness: each becomes a cell of
//! its own, in place of its command's cell.
//!
//! 1. The figures of a command are collected from its trials by name and copies
//!    ([`collect_figures`]).
//! 2. Each gets a cell in the unit of the first command that has it, so that commands can be
//!    compared ([`Figures::add`]). A figure whose unit cannot be converted to that is a figure of
//!    its own.
//! 3. The trials of the cell hold the figure's values in the cell's unit ([`new_trial`]).
//!
//! *Strays* are left out: figures that only one of many executions printed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::Remark;
use catalogue::unit::{are_alike, convert};
use journal::{Cell, Copy, Journal, NoValue, Printed, Trial, Warning};
use stats::median;

/// The name of the value that is the score of a figure's cell.
const VALUE: &str = "printed";

/// Fewest executions of a command of which a figure that only one of them printed is a stray: it
/// has the number of a process or an address in its name.
const MIN_EXECUTIONS_OF_STRAYS: usize = 10;

/// A warning names at most this many strays.
const MAX_NAMED_STRAYS: usize = 3;

/// True if a cell is of a figure that commands print.
pub fn is_printed(cell: &Cell) -> bool {
    cell.is_printed()
}

/// The name and the unit of a figure.
pub(crate) type Named = (String, String);

/// Maximum pairs of names that are compared; with more, no longer name is recognised.
const MAX_NAME_PAIRS: usize = 1 << 20;

/// The names by which `first` has figures of `own`. A name has its package (`hash.BenchmarkSum`) or
/// its mode (`parse (thrpt)`) only where its text has several, so the same figure may have a longer
/// name in one of two texts.
pub(crate) fn names_in_first(own: &[Named], first: &[Named]) -> BTreeMap<String, String> {
    let (own_only, first_only) = (figures_only_in(own, first), figures_only_in(first, own));
    if own_only.len().saturating_mul(first_only.len()) > MAX_NAME_PAIRS {
        return BTreeMap::new();
    }

    let mut names = BTreeMap::new();
    for figure in &own_only {
        // A match counts only if it is the only one from both sides.
        let mut candidates = first_only.iter().filter(|other| may_be_same(figure, other));
        let (Some(candidate), None) = (candidates.next(), candidates.next()) else { continue };
        if own_only.iter().filter(|other| may_be_same(other, candidate)).count() == 1 {
            names.insert(figure.0.clone(), candidate.0.clone());
        }
    }
    names
}

/// The figures whose names `others` do not have, each once.
fn figures_only_in<'a>(figures: &'a [Named], others: &[Named]) -> BTreeSet<&'a Named> {
    let known: BTreeSet<&String> = others.iter().map(|(name, _)| name).collect();
    figures.iter().filter(|(name, _)| !known.contains(name)).collect()
}

fn may_be_same((name, unit): &Named, (other, other_unit): &Named) -> bool {
    (is_longer_name(name, other) || is_longer_name(other, name)) && are_alike(unit, other_unit)
}

/// True if `long` is the name `short` with a package of Go or a mode.
fn is_longer_name(long: &str, short: &str) -> bool {
    let package = long.strip_suffix(short).filter(|_| short.starts_with("Benchmark"));
    let mode = long.strip_prefix(short);
    package.is_some_and(|package| package.ends_with('.'))
        || mode.is_some_and(|mode| mode.starts_with(" (") && mode.ends_with(')'))
}

/// The levels at which each figure was measured: the copies that its program reported.
#[derive(Default)]
pub(crate) struct Levels(BTreeMap<String, BTreeSet<u32>>);

impl FromIterator<(String, u32)> for Levels {
    fn from_iter<I: IntoIterator<Item = (String, u32)>>(figures: I) -> Levels {
        let mut levels = Levels::default();
        for (label, level) in figures {
            levels.0.entry(label).or_default().insert(level);
        }
        levels
    }
}

impl Levels {
    /// The level of a benchmark of Go in `first`, where both sides have one level of it and these
    /// differ. Go reports on how many processors it ran, which differs from machine to machine and
    /// matters to few benchmarks; the levels of other programs are loads of their own.
    pub(crate) fn counterpart(&self, label: &str, first: &Levels) -> Option<u32> {
        let is_of_go = label.split('.').any(|part| part.starts_with("Benchmark"));
        if !is_of_go {
            return None;
        }
        let own = self.only_level(label)?;
        let first = first.only_level(label)?;
        (own != first).then_some(first)
    }

    /// The level of a figure that has only one.
    fn only_level(&self, label: &str) -> Option<u32> {
        let levels = self.0.get(label)?;
        if levels.len() == 1 { levels.first().copied() } else { None }
    }
}

/// The cells of printed figures, with the trials of each.
#[derive(Default)]
pub(crate) struct Figures {
    pub cells: Vec<Cell>,
    pub trials: Vec<Vec<Trial>>,
    /// The names of figures that a single execution printed.
    strays: Vec<String>,
    /// Warnings on cells.
    warnings: Vec<Warning>,
    /// The levels of the first command's figures.
    first_levels: Option<Levels>,
    /// The names and units of the first command's figures.
    first_names: Vec<Named>,
    /// The numbers of the cells by name and copies.
    places: BTreeMap<(String, u32), Vec<usize>>,
}

/// The figures that a trial printed.
fn printed(trial: &Trial) -> impl Iterator<Item = &Printed> {
    trial.copies.iter().flat_map(|copy| &copy.printed)
}

/// The journal with the cells of the figures that its commands print in place of the commands'
/// cells, if they print any.
pub(crate) fn by_figure(journal: &Journal) -> Cow<'_, Journal> {
    if journal.trials.iter().all(|trial| printed(trial).next().is_none()) {
        return Cow::Borrowed(journal);
    }
    let figures = cells(journal.cells.iter().zip(super::by_cell(journal)));
    let mut warnings = [&journal.warnings[..], &figures.warnings].concat();
    if !figures.strays.is_empty() {
        let count = words::count(figures.strays.len(), "figure");
        let names = words::listed(&figures.strays, MAX_NAMED_STRAYS);
        let text = format!(
            "{count} are left out, since each came from a single execution: {names}; keep process \
             numbers and addresses out of the names"
        );
        warnings.push(Warning { cell: None, text });
    }
    Cow::Owned(Journal {
        cells: figures.cells,
        trials: figures.trials.concat(),
        warnings,
        ..journal.clone()
    })
}

/// The cells of the figures that commands print, with their trials, in place of the commands' own.
/// A command that prints none keeps its cell. `family` are the commands with their trials, the one
/// that others are compared with first.
pub(crate) fn cells<'a>(family: impl IntoIterator<Item = (&'a Cell, Vec<&'a Trial>)>) -> Figures {
    let mut figures = Figures::default();
    for (command, trials) in family {
        let collected = collect_figures(&trials);
        if collected.is_empty() {
            figures.keep(command, &trials);
            continue;
        }

        let own_names: Vec<Named> = collected
            .iter()
            .map(|figure| (figure.first.name.clone(), figure.first.unit.clone()))
            .collect();
        let names = names_in_first(&own_names, &figures.first_names);
        let name_of = |printed: &Printed| names.get(&printed.name).unwrap_or(&printed.name).clone();
        let levels: Levels = collected
            .iter()
            .map(|figure| {
                let copies = figure.first.copies.unwrap_or(command.key.copies);
                (name_of(figure.first), copies)
            })
            .collect();
        let copies = trials.iter().flat_map(|trial| &trial.copies);
        let executions: usize = copies.map(|copy| copy.executions.len()).sum();
        let has_strays = executions >= MIN_EXECUTIONS_OF_STRAYS;
        for figure in collected {
            if has_strays && figure.executions() == 1 {
                figures.strays.push(figure.first.name.clone());
                continue;
            }
            let first = figures.first_levels.as_ref();
            let name = name_of(figure.first);
            let level = first.and_then(|first| levels.counterpart(&name, first));
            figures.add(command, &figure, name, level);
        }
        if figures.first_levels.is_none() {
            figures.first_levels = Some(levels);
            figures.first_names = own_names;
        }
    }
    figures
}

/// A figure of one command, as its trials printed it.
struct Collected<'a> {
    first: &'a Printed,
    all: Vec<(&'a Trial, &'a Printed)>,
}

impl Collected<'_> {
    /// The number of executions that printed it.
    fn executions(&self) -> usize {
        self.all.iter().map(|(_, printed)| printed.rounds.len() + printed.gaps.len()).sum()
    }
}

/// The figures that the trials of a command printed, in order of appearance. Those with one name
/// and number of copies are one figure if their units can be converted into each other.
fn collect_figures<'a>(trials: &[&'a Trial]) -> Vec<Collected<'a>> {
    let mut figures: Vec<Collected<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, Option<u32>), Vec<usize>> = BTreeMap::new();
    for trial in trials {
        for printed in printed(trial) {
            let known = places.entry((printed.name.as_str(), printed.copies)).or_default();
            let same =
                known.iter().find(|place| are_alike(&figures[**place].first.unit, &printed.unit));
            match same {
                Some(place) => figures[*place].all.push((trial, printed)),
                None => {
                    known.push(figures.len());
                    figures.push(Collected { first: printed, all: vec![(trial, printed)] });
                }
            }
        }
    }
    figures
}

impl Figures {
    /// Adds the cell of a command that prints no figures.
    fn keep(&mut self, command: &Cell, trials: &[&Trial]) {
        let id = self.cells.len();
        let trials = trials.iter().map(|trial| Trial { cell: id, ..(*trial).clone() });
        self.trials.push(trials.collect());
        self.cells.push(Cell { id, ..command.clone() });
    }

    /// Adds the cell of a figure, in the unit in which another command has it, and by the name and
    /// at the level at which the first command has it, if that is given.
    fn add(&mut self, command: &Cell, figure: &Collected<'_>, name: String, level: Option<u32>) {
        let id = self.cells.len();
        let mut cell = new_cell(id, command, figure.first, name);
        if let Some(first) = level {
            let text = Remark::OtherLevel { own: cell.key.copies, first }.to_string();
            self.warnings.push(Warning { cell: Some(id), text });
            cell.key.copies = first;
        }

        let known = self.places.entry((cell.key.test.clone(), cell.key.copies)).or_default();
        let others: Vec<&Cell> = known
            .iter()
            .map(|place| &self.cells[*place])
            .filter(|other| other.key.load == cell.key.load)
            .collect();
        if let Some(like) = others.iter().find(|other| are_alike(&other.unit, &cell.unit)) {
            cell.unit.clone_from(&like.unit);
            cell.metric = like.metric;
            cell.key.test.clone_from(&like.key.test);
        } else if !others.is_empty() {
            cell.key.test = format!("{} {}", cell.label, cell.unit);
        }
        known.push(id);

        let trials = figure.all.iter().map(|(trial, printed)| new_trial(&cell, trial, printed));
        self.trials.push(trials.collect());
        self.cells.push(cell);
    }
}

/// The cell of a figure in the unit in which it was printed.
fn new_cell(id: usize, command: &Cell, printed: &Printed, name: String) -> Cell {
    let mut cell = Cell {
        id,
        label: name,
        unit: printed.unit.clone(),
        metric: printed.metric,
        timebase: 0.0,
        scale: 1.0,
        limit: None,
        ..command.clone()
    };
    cell.key.test.clone_from(&cell.label);
    cell.key.copies = printed.copies.unwrap_or(cell.key.copies);
    cell.printed()
}

/// The trial of a figure's cell, in the cell's unit: its median, or why there is no value.
fn new_trial(cell: &Cell, trial: &Trial, printed: &Printed) -> Trial {
    let Trial { block, at, second, ref noise, .. } = *trial;
    if let (true, Some((_, gap))) = (printed.rounds.is_empty(), printed.gaps.first()) {
        return Trial { at, second, ..gap.to_trial(cell.id, block) };
    }

    let mut rounds: Vec<(u64, f64)> = printed.rounds.clone();
    for (_, value) in &mut rounds {
        *value = convert(*value, &printed.unit, &cell.unit).unwrap_or(*value);
    }
    let values: Vec<f64> = rounds.iter().map(|(_, value)| *value).collect();
    let notes = printed.gaps.iter().map(|(round, gap)| {
        // An execution may print several values of a figure.
        let has_value = printed.rounds.iter().any(|(other, _)| other == round);
        describe_gap(&printed.name, gap, has_value)
    });

    let first = trial.copies.first();
    let copy = Copy {
        slices: first.map(|copy| copy.slices.clone()).unwrap_or_default(),
        values: [(VALUE.to_owned(), (median(&values), cell.unit.clone()))].into(),
        notes: notes.collect(),
        units: first.map(|copy| copy.units.clone()).unwrap_or_default(),
        printed: vec![Printed { rounds, unit: cell.unit.clone(), ..printed.clone() }],
        ..Copy::default()
    };
    Trial {
        cell: cell.id,
        block,
        at,
        second,
        noise: noise.clone(),
        copies: vec![copy],
        ..Trial::default()
    }
}

/// Why an execution has no value of a figure, or not all; `has_value` if it printed another one.
fn describe_gap(name: &str, gap: &NoValue, has_value: bool) -> String {
    match gap {
        NoValue::Failed(reason) if has_value => {
            format!("a value of '{name}' that an execution printed is left out: {reason}")
        }
        NoValue::Failed(reason) => format!("an execution printed no value of '{name}': {reason}"),
        NoValue::Skipped(reason) => format!("an execution skipped '{name}': {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_name_is_the_same_figure_where_only_one_can_be() {
        let named = |names: &[(&str, &str)]| -> Vec<Named> {
            names.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect()
        };
        for (own, first, expected) in [
            (&[("a.BenchmarkX", "ns/op")][..], &[("BenchmarkX", "ns/op")][..], 1),
            (&[("BenchmarkX", "ns/op")], &[("a.BenchmarkX", "ns/op")], 1),
            // The unit decides which mode it is.
            (&[("m (thrpt)", "ops/s"), ("m (avgt)", "s/op")], &[("m", "ops/s")], 1),
            (
                &[("a.BenchmarkX", "ns/op"), ("b.BenchmarkX", "ns/op")],
                &[("BenchmarkX", "ns/op")],
                0,
            ),
            (
                &[("BenchmarkX", "ns/op")],
                &[("a.BenchmarkX", "ns/op"), ("b.BenchmarkX", "ns/op")],
                0,
            ),
            (&[("BenchmarkXX", "ns/op")], &[("BenchmarkX", "ns/op")], 0),
            (&[("a.parse", "ms")], &[("parse", "ms")], 0),
        ] {
            let names = names_in_first(&named(own), &named(first));
            assert_eq!(names.len(), expected, "{own:?} {first:?}");
        }
    }
}
