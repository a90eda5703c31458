//! Runs compared cell by cell: what differs, what all come to, and what a gate makes of it.

use analysis::{
    Bar, Comparison, Comparisons, Gate, GeometricMean, Measure, NotCompared, Outcome, RATE, Second, Suspect, Thesis,
    ThesisRow, Total, Unseen, Verdict,
};
use journal::{Key, Run};
use serde_json::{Value, json};
use words::Unique;

use super::compared::{differences, runs, runs_data};
use super::comparisons::{self, Line};
use super::shared::{coordinates, to_post};
use super::totals::{self, Mean};
use super::{counts, systems, why};
use crate::charts::forest::Forest;
use crate::document::{Block, Column, Columns, Document, Field, Readers, Table};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-comparison/3";

/// Returns the report of a comparison, with what became of a `gate` for programs.
pub fn compare(all: &Comparisons, gate: Option<&Gate>) -> Document {
    let letters = letters(all);
    let mut document = Document::new(FORMAT, "unixmark compare", "Comparison", &["comparisons", "missing"]);
    let machines =
        all.runs.iter().map(|run| run.results.facts.machine()).filter(|machine| !machine.is_empty()).unique();
    document.about = machines.join("; ");
    let lead = letters.iter().map(|letter| sentence(all, letter)).collect();
    document.extend([Block::Lead(lead), runs(all, true)]);
    let text = |lead: &str, text: String| Block::Text(Readers::PEOPLE, lead.to_owned(), text);
    document.extend(directions(all).map(|directions| text("Deltas are of ", directions)));
    document.extend(all.warnings.iter().map(|warning| text("Warning: ", warning.clone())));
    document.extend(all.why.iter().flat_map(why::blocks));
    document.extend(data(all, gate));
    document.table(columns(all).table(&lines(all)).keyed("comparisons").shown(Readers::PROGRAM));
    document.extend(letters.iter().flat_map(|letter| of_run(all, letter)));
    document.table(missing(all));
    document.extend(not_compared(all));
    document.extend(means(all));
    document.extend(counts::compared(all));
    document.extend(differences(all));
    document.extend(all.thesis.iter().flat_map(thesis));
    document.extend([Block::section("How to read the comparison"), Block::notes(notes(all))]);
    let runs: Vec<&Run> = all.runs.iter().map(|run| &run.results.run).collect();
    document.extend(to_post(&runs, "unixmark compare …"));
    document
}

/// Returns the letter of the side that is judged, of runs in turn.
fn judged(all: &Comparisons) -> &'static str {
    if all.against() == "B" { "A" } else { "B" }
}

/// Returns the letters of the compared sides: of rounds one side, else every run but the first.
fn letters(all: &Comparisons) -> Vec<&str> {
    if all.asked.is_paired() {
        vec![judged(all)]
    } else {
        all.runs.iter().skip(1).map(|run| run.letter.as_str()).collect()
    }
}

/// A test for a kind of verdicts.
type Kind = fn(&Verdict) -> bool;

/// The result in a sentence: `B against A: 2 slower or worse (syscall -79.7%), 1 the same within 1 %, 5 undecided.`
fn sentence(all: &Comparisons, letter: &str) -> String {
    let own = || all.comparisons.iter().filter(|one| one.run == letter);
    if own().next().is_none() {
        return format!("{}: they have nothing in common that could be compared.", contest(letter, all));
    }
    let same = format!("the same within {} %", all.asked.threshold);
    let kinds: [(Kind, &str); 5] = [
        (|verdict| *verdict == Verdict::Differs, "differ between the runs"),
        (Verdict::is_loss, "slower or worse"),
        (|verdict| matches!(verdict, Verdict::Faster | Verdict::Better), "faster or better"),
        (|verdict| matches!(verdict, Verdict::Same(_)), &same),
        (|verdict| matches!(verdict, Verdict::Undecided(_)), "undecided"),
    ];
    let part = |(place, (of, what)): (usize, &(Kind, &str))| {
        let found: Vec<&Comparison> = own().filter(|one| of(&one.verdict)).collect();
        let worst = found.iter().min_by(|a, b| a.delta.value.total_cmp(&b.delta.value)).filter(|_| place < 2);
        let worst = worst.map(|one| line(one, all)).map(|line| format!(" ({} {})", line.id(), line.delta().words()));
        let what = if found.len() == 1 { what.replace("differ ", "differs ") } else { (*what).to_owned() };
        (!found.is_empty()).then(|| format!("{} {what}{}", found.len(), worst.unwrap_or_default()))
    };
    let parts: Vec<String> = kinds.iter().enumerate().filter_map(part).collect();
    let is_changed = own().any(|one| kinds[..3].iter().any(|(of, _)| of(&one.verdict)));
    let lead = if is_changed { "" } else { "no significant change; " };
    let counts = all.counts().into_iter().filter(|(run, ..)| *run == letter);
    let counts = counts
        .filter_map(|(_, own, base)| Some(format!("; {} {}", own.cell.label, counts::change_in_words(own, base)?)));
    format!("{}: {lead}{}{}.", contest(letter, all), parts.join(", "), counts.collect::<String>())
}

/// Returns the whole comparison for programs.
fn data(all: &Comparisons, gate: Option<&Gate>) -> Vec<Block> {
    let total = |Total { run, mean: GeometricMean { rates, delta, worst } }: &Total| {
        json!({
            "run": run, "against": all.against(), "rates": rates, "delta": delta.value, "low": delta.low,
            "high": delta.high, "worst": worst.label, "worst_delta": worst.delta,
        })
    };
    vec![
        Block::Data("paired", json!(all.asked.is_paired())),
        Block::Data("comparable", json!(all.unlike.is_empty())),
        Block::Data("unlike", json!(all.unlike)),
        Block::Data("conditions", json!(all.asked.conditions)),
        Block::Data("threshold", json!(all.asked.threshold)),
        Block::Data("false_discovery_rate", json!(RATE)),
        Block::Data("runs", runs_data(all)),
        Block::Data("systems", several(all)),
        Block::Data("totals", all.totals.iter().map(total).collect()),
        Block::Data("thesis", all.thesis.as_ref().map_or(Value::Null, |tables| thesis_data(tables, all))),
        Block::Data("gate", gate.map_or(Value::Null, |gate| gate_data(gate, all))),
        Block::Data("warnings", json!(all.warnings)),
        Block::Data("notes", json!(all.notes)),
    ]
}

/// One table of all systems, where there are more than two.
fn several(all: &Comparisons) -> Value {
    if !all.is_of_several() {
        return Value::Array(Vec::new());
    }
    let columns = systems::data(all);
    all.side_by_side().iter().map(|row| Value::Object(columns.object(row))).collect()
}

/// Returns the directions of deltas between runs in turn: `A1 against B1, A2 against B2`.
fn directions(all: &Comparisons) -> Option<String> {
    let base = usize::from(all.against() == "B");
    let rounds = all.runs.chunks_exact(2).map(|two| format!("{} against {}", two[1 - base].letter, two[base].letter));
    let rounds = rounds.collect::<Vec<String>>().join(", ");
    let (judged, against) = (judged(all), all.against());
    let text = format!("{rounds}: {judged} is what was changed, {against} what it is measured against.");
    all.asked.is_paired().then_some(text)
}

fn line<'a>(comparison: &'a Comparison, all: &'a Comparisons) -> Line<'a> {
    let key = &comparison.cell.key;
    let against = all.against();
    Line { comparison, effect: None, against, shown: key.clone(), key: key.under(all.condition(&key.condition)) }
}

/// Returns the comparisons, each at its place in the matrix.
pub(crate) fn lines(all: &Comparisons) -> Vec<Line<'_>> {
    all.comparisons.iter().map(|one| line(one, all)).collect()
}

/// The columns for programs: of rounds with the thesis's deltas.
fn columns(all: &Comparisons) -> Columns<'_, Line<'_>> {
    let mut columns = comparisons::columns(["A", "B"]);
    let Some(tables) = &all.thesis else { return columns };
    let row = |line: &Line<'_>| tables.rows.iter().find(|row| row.is(line.comparison));
    for (place, heading) in headings(tables.rounds).iter().enumerate() {
        let key = heading.to_lowercase().replace('-', "");
        columns = columns.with(Column::data(&key), move |line| {
            Field::maybe(row(line).and_then(|row| deltas(row).get(place).copied().flatten()), words::millionths)
        });
    }
    columns
}

/// Returns what one run is compared with, as its heading: `B against A`.
fn contest(letter: &str, all: &Comparisons) -> String {
    format!("{letter} against {}", all.against())
}

fn of_run(all: &Comparisons, letter: &str) -> Vec<Block> {
    let own: Vec<Line<'_>> = lines(all).into_iter().filter(|line| line.comparison.run == letter).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let other = if all.asked.is_paired() { "B" } else { letter };
    let table = comparisons::columns(["A", other]).table(&own).shown(Readers::PEOPLE);
    let label = format!(
        "{}: difference of each test with its interval, a loss to the left; the table has the figures",
        contest(letter, all)
    );
    let totals = all.totals.iter().filter(|total| total.run == letter);
    let plot = Forest {
        label,
        threshold: all.asked.threshold,
        rows: own.iter().map(comparisons::row).collect(),
        means: totals.map(|total| totals::row(&Mean { name: "Geometric mean".to_owned(), of: &total.mean })).collect(),
    };
    vec![Block::Section(contest(letter, all)), comparisons::chart(plot), Block::Table(table)]
}

fn means<'a>(all: &'a Comparisons) -> Vec<Block> {
    let mean = |total: &'a Total| Mean { name: contest(&total.run, all), of: &total.mean };
    let means: Vec<Mean<'_>> = all.totals.iter().map(mean).collect();
    vec![Block::section("All rates together"), Block::Table(totals::table(&means).titled("", ""))]
}

/// The columns of what could not be compared, for programs.
fn missing_columns<'a>() -> Columns<'a, (Key, &'a NotCompared)> {
    Columns::new().data(|row: &(Key, &'a NotCompared)| json!({"run": row.1.run})).keyed(|row| &row.0).data(
        |(_, gap)| {
            json!({
                "label": gap.cell.label, "measure": gap.measure.map(Measure::name), "lost": gap.lost,
                "verdict": "missing", "reason": gap.reason,
            })
        },
    )
}

/// Returns the place in the matrix of what could not be compared.
pub(crate) fn gap_key(gap: &NotCompared, all: &Comparisons) -> Key {
    gap.cell.key.under(all.condition(&gap.cell.key.condition))
}

fn gap<'a>(gap: &'a NotCompared, all: &Comparisons) -> (Key, &'a NotCompared) {
    (gap_key(gap, all), gap)
}

fn missing(all: &Comparisons) -> Table {
    let gaps: Vec<(Key, &NotCompared)> = all.missing.iter().map(|one| gap(one, all)).collect();
    missing_columns().table(&gaps).keyed("missing").shown(Readers::PROGRAM)
}

fn not_compared(all: &Comparisons) -> Vec<Block> {
    let several = all.is_of_several();
    let item = |gap: &NotCompared| {
        let measure = gap.measure.map_or(String::new(), |measure| format!(", {}", measure.name()));
        let run = if several { format!(" ({})", gap.run) } else { String::new() };
        format!("{}{}{measure}{run}: {}", gap.cell.key.test, coordinates(&gap.cell.key), gap.reason)
    };
    let items = all.missing.iter().map(item).collect();
    vec![Block::section("Not compared"), Block::items(items)]
}

/// The headings of the deltas: one for each round, and after those of two rounds Delta-3, of more the spread.
fn headings(rounds: usize) -> Vec<String> {
    let last = match rounds {
        0 | 1 => None,
        2 => Some("Delta-3".to_owned()),
        _ => Some("spread".to_owned()),
    };
    (1..=rounds).map(|round| format!("Delta-{round}")).chain(last).collect()
}

/// A row's deltas, and after those of several rounds Delta-3 or the spread.
fn deltas(row: &ThesisRow) -> Vec<Option<f64>> {
    let last = (row.deltas.len() > 1).then_some(row.delta3);
    row.deltas.iter().copied().chain(last).collect()
}

/// The tables of the 1994 thesis: what a change costs in each round, and the tests that lose most.
fn thesis(tables: &Thesis) -> Vec<Block> {
    let name = |cell: &analysis::Place, measure: Measure| {
        let measure = if measure == Measure::Score { String::new() } else { format!(", {}", measure.name()) };
        Field::Text(format!("{}{}{measure}", cell.label, coordinates(&cell.key)))
    };
    let mut columns = Columns::new().with(Column::words("test"), |row: &ThesisRow| name(&row.cell, row.measure));
    for (place, heading) in headings(tables.rounds).iter().enumerate() {
        columns = columns.with(Column::number(heading).main().wide(12), move |row: &ThesisRow| {
            match (deltas(row).get(place).copied().flatten(), row.resolution) {
                // A change that the digits cannot show is not shown to be none.
                (Some(0.0), Some(resolution)) if place < row.deltas.len() => {
                    Field::Text(format!("0 ± {}", words::at_least(resolution)))
                }
                (delta, _) => Field::maybe(delta, words::millionths),
            }
        });
    }
    let rows = columns.table(&tables.rows).shown(Readers::PEOPLE);
    let largest = tables.figure4.first().map_or(f64::NAN, |bar| bar.loss);
    let bars = Columns::new()
        .with(Column::words("test"), |bar: &Bar| name(&bar.cell, bar.measure))
        .with(Column::number("loss of rate, %").narrow("loss").main(), |bar| Field::Number(bar.loss, words::millionths))
        .with(Column::number("time"), |bar| Field::Number(bar.time_factor, words::factor))
        .with(Column::words(""), move |bar| Field::Bar(bar.loss / largest))
        .table(&tables.figure4)
        .shown(Readers::PEOPLE)
        .titled("", "by the largest loss; loss of rate in %, and how many times as long the same work takes");
    let beyond = tables.beyond;
    let figure = match tables.figure4.is_empty() {
        true => Block::text(format!("Figure 4: no test loses more than {beyond} %.")),
        false => Block::Section(format!("Figure 4: tests that lose more than {beyond} % in any round")),
    };
    vec![Block::section("Rate of A less that of B, % of B"), Block::Table(rows), figure, Block::Table(bars)]
}

/// The tables for programs, with the conditions that were asked for.
fn thesis_data(tables: &Thesis, all: &Comparisons) -> Value {
    let mut tables = tables.clone();
    let rows = tables.rows.iter_mut().map(|row| &mut row.cell);
    rows.chain(tables.figure4.iter_mut().map(|bar| &mut bar.cell)).for_each(|cell| {
        cell.key.condition = all.condition(&cell.key.condition).to_owned();
    });
    json!(tables)
}

/// Returns what a gate makes of a comparison, for programs. `confirmed` is null without a second look, or if that
/// cannot tell.
fn gate_data(gate: &Gate, all: &Comparisons) -> Value {
    let object = |one: &Comparison| comparisons::columns(["A", "B"]).object(&line(one, all));
    let suspect = |suspect: &Suspect| {
        let mut first = object(&suspect.first);
        let (confirmed, second) = match &suspect.second {
            Some(Second::Again(second)) => (Some(true), Some(object(second))),
            Some(Second::Gone(second)) => (Some(false), Some(object(second))),
            Some(Second::Missing) | None => (None, None),
        };
        first.insert("confirmed".to_owned(), json!(confirmed));
        first.insert("second".to_owned(), json!(second));
        first.insert("closes".to_owned(), json!(suspect.stands()));
        Value::Object(first)
    };
    let lost = gate.lost.iter().map(|lost| Value::Object(missing_columns().object(&gap(lost, all))));
    json!({
        "open": gate.outcome() != Outcome::Failed,
        "suspects": gate.suspects.iter().map(suspect).collect::<Vec<Value>>(),
        "lost": lost.collect::<Vec<Value>>(),
        "counts": gate.counts.iter().map(|(_, sentence)| sentence).collect::<Vec<&String>>(),
        "cannot_tell": gate.unseen.map(|Unseen { count, of, below, .. }| {
            json!({"comparisons": count, "of": of, "blind_below": below})
        }),
    })
}

/// How to read the numbers, and what is known of single ones.
fn notes(all: &Comparisons) -> Vec<String> {
    let mut notes = vec![comparisons::reading(all.asked.threshold)];
    notes.extend(all.notes.iter().cloned());
    notes.extend(comparisons::remarks(&all.comparisons));
    notes
}
