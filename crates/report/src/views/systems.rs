//! Several systems in one table: a column each, best and worst marked, ranks as ranges.

use analysis::{Across, Comparisons, Mark, Measure, Sorted, Standing};
use serde_json::{Value, json};

use super::comparisons::{measured, words_of};
use super::shared::to_post;
use super::{compared, why};
use crate::document::{Block, Column, Columns, Document, Field, Readers, Table, Tone, known};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-systems/1";

/// The width of a system's column in text.
pub(crate) const SYSTEM_WIDTH: usize = 11;

/// The tones of the best and the worst figure of a row.
const BEST_TONE: Tone = Tone(3);
const WORST_TONE: Tone = Tone(-3);

pub(crate) const MARKS_MEANING: &str =
    "* marks the best and ! the worst, only where the 95 % interval overlaps no other.";

const RANKS_MEANING: &str = "A rank is the range of places that a figure's interval allows; a \
figure without an interval, like most imported ones, could have any place. -: not measured there.";

/// The table of all systems, its rows in the order asked for.
pub fn systems(all: &Comparisons, by: Sorted) -> Document {
    let figures = all.sorted_side_by_side(by);
    let indexes = all.indexes_side_by_side();
    let readable: Vec<Across> = figures.iter().map(with_readable_unit).collect();

    let mut document =
        Document::new(FORMAT, "unixmark compare", "Systems side by side", &["systems"]);
    document.extend([Block::Lead(vec![lead(all, &figures)]), compared::runs(all, false)]);
    for warning in &all.warnings {
        let lead = "Warning: ".to_owned();
        document.extend([Block::Text(Readers::PEOPLE, lead, warning.clone())]);
    }
    document.extend(compared::differences(all));
    document.extend(all.why.iter().flat_map(why::blocks));
    document.extend([
        Block::Data("runs", compared::runs_data(all)),
        Block::Data("comparable", json!(all.unlike.is_empty())),
        Block::Data("warnings", json!(all.warnings)),
    ]);

    for (title, rows) in [("Indexes", &indexes), ("Figures", &readable)] {
        document.extend((!rows.is_empty()).then(|| Block::section(title)));
        document.table(table_of_figures(all, rows));
    }
    let rows: Vec<Across> = indexes.into_iter().chain(figures).collect();
    document.extend([Block::section("Ranks")]);
    document.table(table_of_ranks(all, &rows));
    document.table(data(all).table(&rows).keyed("systems").shown(Readers::PROGRAM));

    document.extend([
        Block::section("How to read the table"),
        Block::notes(vec![format!("{MARKS_MEANING} {RANKS_MEANING}")]),
    ]);
    let runs: Vec<&journal::Run> = all.runs.iter().map(|run| &run.results.run).collect();
    document.extend(to_post(&runs, "unixmark compare --side-by-side …"));
    document
}

/// `3 systems, 12 figures: A is best in 5, C is best in 2, 5 without a clear best.`
fn lead(all: &Comparisons, rows: &[Across]) -> String {
    let scores: Vec<&Across> = rows.iter().filter(|row| row.measure == Measure::Score).collect();

    let mut parts = Vec::new();
    let mut without_best = scores.len();
    for (system, run) in all.runs.iter().enumerate() {
        let count = scores.iter().filter(|row| is_best(row, system)).count();
        if count > 0 {
            parts.push(format!("{} is best in {count}", run.letter));
            without_best -= count;
        }
    }
    if without_best > 0 {
        parts.push(format!("{without_best} without a clear best"));
    }

    let (systems, figures) = (all.runs.len(), words::count(scores.len(), "figure"));
    format!("{systems} systems, {figures}: {}.", parts.join(", "))
}

fn is_best(row: &Across, system: usize) -> bool {
    row.standings[system].is_some_and(|standing| standing.mark == Some(Mark::Best))
}

/// A row as people read it: small times in a smaller unit, in which the largest has figures.
pub(crate) fn with_readable_unit(row: &Across) -> Across {
    let mut row = row.clone();
    let scores = row.standings.iter().flatten().map(|standing| standing.score.value.abs());
    let largest = scores.fold(0.0, f64::max);
    if let Some((unit, factor)) = words::suited_unit(largest, &row.unit) {
        row.unit = unit;
        for standing in row.standings.iter_mut().flatten() {
            standing.score = standing.score.scaled(factor);
        }
    }
    row
}

/// The columns before the systems.
fn name_columns<'a>() -> Columns<'a, Across> {
    Columns::new()
        .with(Column::words("test"), |row: &Across| {
            let mut narrow = measured(&row.key.test, &row.key, row.measure);
            if !row.unit.is_empty() {
                narrow += &format!(", {}", row.unit);
            }
            Field::text(measured(&row.label, &row.key, row.measure)).narrow(narrow)
        })
        .with(Column::words("unit").shown(Readers::PAGE), |row| Field::text(&row.unit))
}

fn table_of_figures(all: &Comparisons, rows: &[Across]) -> Table {
    let mut columns = name_columns();
    for (system, run) in all.runs.iter().enumerate() {
        let column = Column::number(&run.letter).main().wide(SYSTEM_WIDTH);
        columns = columns.with(column, move |row| match &row.standings[system] {
            Some(standing) => marked_figure(standing, words_of(row.measure)),
            None => Field::Missing,
        });
    }
    columns.table(rows).shown(Readers::PEOPLE)
}

/// The sign of a mark in text, of the width of one column.
pub(crate) fn mark_sign(mark: Option<Mark>) -> char {
    match mark {
        Some(Mark::Best) => '*',
        Some(Mark::Worst) => '!',
        None => ' ',
    }
}

/// A figure with its mark, and its interval where a page has room for it.
fn marked_figure(standing: &Standing, words: fn(f64) -> String) -> Field {
    let Standing { score, rank: places, mark } = standing;
    let tone = match mark {
        Some(Mark::Best) => BEST_TONE,
        Some(Mark::Worst) => WORST_TONE,
        None => Tone::default(),
    };

    let mut more = Field::Interval(*score, words).words();
    if let Some(places) = places {
        more += &format!(", rank {}", rank(*places));
    }
    let text = format!("{}{}", known(score.value, score, words), mark_sign(*mark));
    Field::Toned(Box::new(Field::Text(text)), tone, more)
}

fn table_of_ranks(all: &Comparisons, rows: &[Across]) -> Table {
    let mut columns = name_columns();
    for (system, run) in all.runs.iter().enumerate() {
        columns = columns.with(Column::number(&run.letter).wide(7), move |row| {
            let places = row.standings[system].as_ref().and_then(|standing| standing.rank);
            places.map_or(Field::Missing, |places| Field::text(rank(places)))
        });
    }
    columns.table(rows).shown(Readers::PEOPLE)
}

/// A range of ranks, `3–7`; one that is certain is one number.
pub fn rank((best, worst): (usize, usize)) -> String {
    if best == worst { best.to_string() } else { format!("{best}–{worst}") }
}

/// The columns for programs: under `scores` a figure for each letter, or null.
pub(super) fn data(all: &Comparisons) -> Columns<'_, Across> {
    Columns::new().keyed(|row: &Across| &row.key).data(move |row| {
        let letters = all.runs.iter().map(|run| run.letter.as_str());
        let figures = row.standings.iter().map(|standing| standing_data(standing.as_ref()));
        let scores: Value = letters.zip(figures).collect();
        json!({
            "label": row.label,
            "measure": row.measure,
            "unit": row.unit,
            "lower_is_better": row.lower_is_better,
            "scores": scores,
        })
    })
}

fn standing_data(standing: Option<&Standing>) -> Value {
    let Some(Standing { score, rank, mark }) = standing else { return Value::Null };
    json!({
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "rank": rank,
        "mark": mark,
    })
}
