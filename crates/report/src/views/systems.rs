//! Several systems in one table: a column each, best and worst marked, ranks as ranges.

use analysis::{Across, Comparisons, Mark, Measure, Sorted, Standing};
use serde_json::{Value, json};

use super::comparisons::{measured, words_of};
use super::shared::to_post;
use super::{compared, why};
use crate::document::{Block, Column, Columns, Document, Field, Readers, Table, Tone};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-systems/1";

/// Columns of a system in text.
pub(crate) const SYSTEM: usize = 11;

/// The meaning of the marks.
pub(crate) const MARKS: &str = "* marks the best and ! the worst, only where the 95 % interval overlaps no other.";

/// The meaning of ranks.
const RANKS: &str = "A rank is the \
    range of places that a figure's interval allows; a figure without an interval, like most imported ones, could have \
    any place. -: not measured there.";

/// Returns the table of all systems, its rows in the order asked for.
pub fn systems(all: &Comparisons, by: Sorted) -> Document {
    let rows = all.sorted_side_by_side(by);
    let indexes = all.indexes_side_by_side();
    let mut document = Document::new(FORMAT, "unixmark compare", "Systems side by side", &["systems"]);
    document.extend([Block::Lead(vec![lead(all, &rows)]), compared::runs(all, false)]);
    document.extend(all.warnings.iter().map(|text| Block::Text(Readers::PEOPLE, "Warning: ".to_owned(), text.clone())));
    document.extend(compared::differences(all));
    document.extend(all.why.iter().flat_map(why::blocks));
    document.extend([
        Block::Data("runs", compared::runs_data(all)),
        Block::Data("comparable", json!(all.unlike.is_empty())),
        Block::Data("warnings", json!(all.warnings)),
    ]);
    for (title, rows) in [("Indexes", &indexes), ("Figures", &rows)] {
        document.extend((!rows.is_empty()).then(|| Block::section(title)));
        document.table(figures(all, rows));
    }
    let all_rows: Vec<Across> = indexes.into_iter().chain(rows).collect();
    document.extend([Block::section("Ranks")]);
    document.table(ranks(all, &all_rows));
    document.table(data(all).table(&all_rows).keyed("systems").shown(Readers::PROGRAM));
    document.extend([Block::section("How to read the table"), Block::notes(vec![format!("{MARKS} {RANKS}")])]);
    let runs: Vec<&journal::Run> = all.runs.iter().map(|run| &run.results.run).collect();
    document.extend(to_post(&runs, "unixmark compare --side-by-side …"));
    document
}

/// `3 systems, 12 figures: A is best in 5, C is best in 2, 5 without a clear best.`
fn lead(all: &Comparisons, rows: &[Across]) -> String {
    let tests: Vec<&Across> = rows.iter().filter(|row| row.measure == Measure::Score).collect();
    let best = |system: usize| {
        let is_best = |row: &&&Across| row.standings[system].is_some_and(|one| one.mark == Some(Mark::Best));
        tests.iter().filter(is_best).count()
    };
    let bests = all.runs.iter().enumerate().map(|(place, run)| (best(place), run.letter.as_str()));
    let bests: Vec<(usize, &str)> = bests.filter(|(count, _)| *count > 0).collect();
    let open = tests.len() - bests.iter().map(|(count, _)| count).sum::<usize>();
    let mut parts: Vec<String> = bests.iter().map(|(count, letter)| format!("{letter} is best in {count}")).collect();
    parts.extend((open > 0).then(|| format!("{open} without a clear best")));
    let figures = words::count(tests.len(), "figure");
    format!("{} systems, {figures}: {}.", all.runs.len(), parts.join(", "))
}

/// The columns before the systems.
fn named<'a>() -> Columns<'a, Across> {
    let unit = |row: &Across| if row.unit.is_empty() { String::new() } else { format!(", {}", row.unit) };
    Columns::new()
        .with(Column::words("test"), move |row: &Across| {
            let narrow = format!("{}{}", measured(&row.key.test, &row.key, row.measure), unit(row));
            Field::text(measured(&row.label, &row.key, row.measure)).narrow(narrow)
        })
        .with(Column::words("unit").shown(Readers::PAGE), |row| Field::text(&row.unit))
}

fn figures(all: &Comparisons, rows: &[Across]) -> Table {
    let mut columns = named();
    for (place, run) in all.runs.iter().enumerate() {
        let column = Column::number(&run.letter).main().wide(SYSTEM);
        columns = columns.with(column, move |row| {
            row.standings[place].as_ref().map_or(Field::Missing, |one| figure(one, words_of(row.measure)))
        });
    }
    columns.table(rows).shown(Readers::PEOPLE)
}

/// Returns the sign of a mark in text.
pub(crate) fn sign(mark: Option<Mark>) -> char {
    match mark {
        Some(Mark::Best) => '*',
        Some(Mark::Worst) => '!',
        None => ' ',
    }
}

/// A figure with its mark, and its interval where a page has room for it.
fn figure(standing: &Standing, words: fn(f64) -> String) -> Field {
    let Standing { score, rank, mark } = standing;
    let tone = match mark {
        Some(Mark::Best) => 3,
        Some(Mark::Worst) => -3,
        None => 0,
    };
    let interval = Field::Interval(*score, words).words();
    let more = rank.map_or(interval.clone(), |place| format!("{interval}, rank {}", self::rank(place)));
    let text = format!("{}{}", words(score.value), sign(*mark));
    Field::Toned(Box::new(Field::text(text)), Tone(tone), more)
}

fn ranks(all: &Comparisons, rows: &[Across]) -> Table {
    let mut columns = named();
    for (place, run) in all.runs.iter().enumerate() {
        columns = columns.with(Column::number(&run.letter).wide(7), move |row| {
            let own = row.standings[place].as_ref().and_then(|one| one.rank);
            own.map_or(Field::Missing, |own| Field::text(rank(own)))
        });
    }
    columns.table(rows).shown(Readers::PEOPLE)
}

/// Returns a range of ranks, `3–7`; one that is certain is one number.
pub fn rank((best, worst): (usize, usize)) -> String {
    if best == worst { best.to_string() } else { format!("{best}–{worst}") }
}

/// Returns a row for programs: under `scores` a figure for each letter, or null.
pub(super) fn data(all: &Comparisons) -> Columns<'_, Across> {
    let standing = |one: &Standing| {
        let Standing { score, rank, mark } = one;
        json!({"value": score.value, "low": score.low, "high": score.high, "rank": rank, "mark": mark})
    };
    Columns::new().keyed(|row: &Across| &row.key).data(move |row| {
        let figures = row.standings.iter().map(|one| one.as_ref().map_or(Value::Null, standing));
        let scores: Value = all.runs.iter().map(|run| run.letter.as_str()).zip(figures).collect();
        json!({"label": row.label, "measure": row.measure, "unit": row.unit, "lower_is_better": row.lower_is_better, "scores": scores})
    })
}
