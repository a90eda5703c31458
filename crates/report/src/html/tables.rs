//! The tables: scores per level of copies, other indexes, gains, facts.

use super::charts::is_index;
use super::words::{clean, end, number, times, window};
use crate::{Footnotes, copies, details, plus_minus};
use analysis::{Index, Missing, Results, Row, named};
use catalogue::Arithmetic;
use journal::Cell;

/// The scores at one level of copies.
pub(super) struct Level {
    /// `1 copy`.
    pub(super) copies: String,
    /// The rows with scores.
    pub(super) rows: Vec<Score>,
    /// The rows with reasons.
    pub(super) missing: Vec<Reason>,
    /// The index that the last column adds up to.
    pub(super) total: Option<Total>,
    /// Indexes that have no column there.
    pub(super) others: Vec<Other>,
}

/// One score.
pub(super) struct Score {
    pub(super) label: String,
    pub(super) notes: Vec<usize>,
    pub(super) score: String,
    pub(super) unit: String,
    pub(super) plus_minus: String,
    pub(super) low: String,
    pub(super) high: String,
    pub(super) trials: usize,
    pub(super) window: String,
    pub(super) baseline: String,
    pub(super) index: String,
}

/// A test without a score.
pub(super) struct Reason {
    pub(super) label: String,
    pub(super) kind: &'static str,
    pub(super) reason: String,
}

/// An index below its tests.
pub(super) struct Total {
    pub(super) label: String,
    pub(super) plus_minus: String,
    pub(super) low: String,
    pub(super) high: String,
    pub(super) index: String,
}

/// An index with a table of its own.
pub(super) struct Other {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
    pub(super) total: Total,
    /// BYTE 3.11 prints the sum as well.
    pub(super) sum: Option<String>,
}

/// One test of such an index.
pub(super) struct Part {
    pub(super) label: String,
    pub(super) score: String,
    pub(super) baseline: String,
    pub(super) index: String,
    pub(super) plus_minus: String,
}

/// One gain.
pub(super) struct Gain {
    pub(super) label: String,
    pub(super) strong: bool,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) gain: String,
    pub(super) plus_minus: String,
    pub(super) low: String,
    pub(super) high: String,
}

/// What tests told beside their scores, by cell.
pub(super) struct Sheet {
    pub(super) title: &'static str,
    pub(super) caption: &'static str,
    pub(super) head: &'static [&'static str],
    pub(super) lines: Vec<SheetLine>,
}

/// One cell of it.
pub(super) struct SheetLine {
    pub(super) label: String,
    pub(super) copies: u32,
    pub(super) fields: Vec<String>,
    pub(super) notes: Vec<usize>,
}

/// Facts of one kind.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) facts: Vec<(String, String)>,
}

/// Returns a cell's name, with what ran beside it or was switched on.
pub(super) fn label(cell: &Cell) -> String {
    name(&cell.label, &cell.key.load, &cell.key.condition)
}

fn name(label: &str, load: &str, condition: &str) -> String {
    clean(&named(label, load, condition))
}

/// Returns the tables of all levels; their footnotes are added to `notes`.
pub(super) fn levels(results: &Results, notes: &mut Footnotes) -> Vec<Level> {
    results.lists().into_iter().map(|copies| level(results, copies, notes)).collect()
}

/// Returns the tables of what tests told beside their scores; their footnotes are added to `notes`.
pub(super) fn sheets(results: &Results, notes: &mut Footnotes) -> Vec<Sheet> {
    let mut line = |line: details::Line| SheetLine {
        label: clean(&line.label),
        copies: line.copies,
        fields: line.fields.iter().map(|field| clean(field)).collect(),
        notes: line.note.iter().map(|note| notes.number(note)).collect(),
    };
    let mut sheet = |sheet: details::Sheet| Sheet {
        title: sheet.title,
        caption: sheet.caption,
        head: sheet.head,
        lines: sheet.lines.into_iter().map(&mut line).collect(),
    };
    details::sheets(results).into_iter().map(&mut sheet).collect()
}

fn level(results: &Results, level: u32, notes: &mut Footnotes) -> Level {
    let indexes: Vec<&Index> = results.indexes().iter().filter(|index| index.copies == level).collect();
    let main = indexes.iter().copied().find(|index| index.arithmetic == Arithmetic::Geometric);
    let rows = results.listed().filter(|row| row.cell.key.copies == level);
    let of = |list: &[Missing], kind| -> Vec<Reason> {
        let here = |missing: &&Missing| missing.key.copies == level && !missing.latency && !results.run.is_scaling();
        let rates = list.iter().filter(here);
        rates.map(|missing| reason(missing, kind)).collect()
    };
    let mut missing = of(&results.skipped, "skipped");
    missing.extend(of(&results.errors, "error"));
    Level {
        copies: copies(level),
        rows: rows.map(|row| score(row, main, notes)).collect(),
        missing,
        total: main.map(total),
        others: indexes
            .iter()
            .copied()
            .filter(|index| main.is_none_or(|main| main.id != index.id))
            .map(other)
            .collect(),
    }
}

fn score(row: &Row, index: Option<&Index>, notes: &mut Footnotes) -> Score {
    let cell = &row.cell;
    // An index describes the machine as it was found.
    let plain = cell.key.load == "none" && cell.key.condition == "none";
    let part = index.filter(|_| plain).and_then(|index| index.parts.iter().find(|part| part.test == cell.key.test));
    Score {
        label: label(cell),
        notes: row.warnings.iter().map(|warning| notes.number(&warning.to_string())).collect(),
        score: number(row.score.value),
        unit: clean(&cell.unit),
        plus_minus: plus_minus(&row.score),
        low: end(row.score.low),
        high: end(row.score.high),
        trials: row.n,
        window: window(row.seconds),
        baseline: part.map(|part| number(part.baseline)).unwrap_or_default(),
        index: part.map(|part| number(part.index.value)).unwrap_or_default(),
    }
}

fn reason(missing: &Missing, kind: &'static str) -> Reason {
    Reason {
        label: name(&missing.label, &missing.key.load, &missing.key.condition),
        kind,
        reason: clean(&missing.reason),
    }
}

fn total(index: &Index) -> Total {
    Total {
        label: clean(&index.title()),
        plus_minus: plus_minus(&index.score),
        low: end(index.score.low),
        high: end(index.score.high),
        index: number(index.score.value),
    }
}

fn other(index: &Index) -> Other {
    let parts = index.parts.iter().map(|part| Part {
        label: clean(&part.label),
        score: number(part.score),
        baseline: number(part.baseline),
        index: number(part.index.value),
        plus_minus: plus_minus(&part.index),
    });
    Other {
        name: clean(&index.name),
        parts: parts.collect(),
        total: total(index),
        sum: (index.arithmetic == Arithmetic::Arithmetic).then(|| number(index.sum)),
    }
}

/// Returns the rows of the table of gains, indexes first as in the chart.
pub(super) fn gains(results: &Results) -> Vec<Gain> {
    let row = |gain: &analysis::Gain| Gain {
        label: clean(&gain.label),
        strong: is_index(results, gain),
        from: gain.from,
        to: gain.to,
        gain: times(gain.gain.value),
        plus_minus: plus_minus(&gain.gain),
        low: end(gain.gain.low),
        high: end(gain.gain.high),
    };
    let mut gains: Vec<Gain> = results.gains().iter().map(row).collect();
    gains.sort_by_key(|gain| !gain.strong);
    gains
}

/// Returns the facts by group, both in the order of the run.
pub(super) fn facts(results: &Results) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for fact in &results.facts {
        let (name, pair) = (clean(&fact.group), (clean(&fact.label), clean(&fact.value)));
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.facts.push(pair),
            None => groups.push(Group { name, facts: vec![pair] }),
        }
    }
    groups
}
