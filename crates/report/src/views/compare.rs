//! Runs compared cell by cell: what differs, the means over all cells, and what a gate makes of it.

use analysis::{
    Bar, ComparedCounts, Comparison, Comparisons, Gate, GeometricMean, Measure, NotCompared,
    Outcome, RATE, Second, Suspect, Thesis, ThesisRow, Total, Unseen, Verdict,
};
use journal::{Key, Run};
use serde_json::{Value, json};
use words::Unique;

use super::compared::{differences, runs, runs_data};
use super::comparisons::{self, Line};
use super::shared::{coordinates, to_post};
use super::totals::{self, Mean};
use super::{counts, machines, systems, why};
use crate::charts::forest::Forest;
use crate::document::{Block, Column, Columns, Document, Field, Readers, Table};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-comparison/4";

/// The report of a comparison, with the outcome of a `gate` for programs.
pub fn compare(all: &Comparisons, gate: Option<&Gate>) -> Document {
    let mut document =
        Document::new(FORMAT, "unixmark compare", "Comparison", &["comparisons", "missing"]);
    let systems = all
        .runs
        .iter()
        .map(|run| run.results.facts.machine())
        .filter(|machine| !machine.is_empty())
        .unique();
    document.about = systems.join("; ");
    document.question = machines::question(all);

    let letters = letters(all);
    let lead = match all.machines.is_empty() {
        true => letters.iter().map(|letter| sentence(all, letter)).collect(),
        false => all.machines.iter().map(machines::sentence).collect(),
    };
    document.extend([Block::Lead(lead)]);
    document.extend(machines::tables(all));
    document.extend([runs(all, true)]);
    document.extend(directions(all).map(|directions| text("Deltas are of ", directions)));
    document.extend(all.warnings.iter().map(|warning| text("Warning: ", warning.clone())));
    document.extend(all.why.iter().flat_map(why::blocks));

    document.extend(data(all, gate));
    document.table(columns(all).table(&lines(all)).keyed("comparisons").shown(Readers::PROGRAM));
    document.extend(letters.iter().flat_map(|letter| run_blocks(all, letter)));
    document.table(missing_data(all));
    document.extend(not_compared(all));
    document.extend(means(all));
    document.extend(counts::compared(all));
    document.extend(differences(all));
    document.extend(all.thesis.iter().flat_map(thesis));
    document.extend([Block::fold("How to read the comparison"), Block::notes(notes(all))]);
    let runs: Vec<&Run> = all.runs.iter().map(|run| &run.results.run).collect();
    document.extend(to_post(&runs, "unixmark compare …"));
    document
}

fn text(lead: &str, text: String) -> Block {
    Block::Text(Readers::PEOPLE, lead.to_owned(), text)
}

/// The letter of the side that is judged, of runs that alternated.
fn judged_side(all: &Comparisons) -> &'static str {
    if all.against() == "B" { "A" } else { "B" }
}

/// The letters of the compared sides: of rounds one side, else every run but the first.
fn letters(all: &Comparisons) -> Vec<&str> {
    if all.asked.is_paired() {
        vec![judged_side(all)]
    } else {
        all.runs.iter().skip(1).map(|run| run.letter.as_str()).collect()
    }
}

/// Verdicts that the sentence counts together.
struct VerdictGroup {
    holds: fn(&Verdict) -> bool,
    /// The words after their number.
    words: String,
    /// True if the worst of them is named.
    names_worst: bool,
    /// True if they say that something changed.
    is_change: bool,
}

/// The groups of verdicts, in the order of the sentence.
fn verdict_groups(threshold: f64) -> [VerdictGroup; 6] {
    let changes = |holds, words: &str, names_worst| VerdictGroup {
        holds,
        words: words.to_owned(),
        names_worst,
        is_change: true,
    };
    let others = |holds, words| VerdictGroup { holds, words, names_worst: false, is_change: false };
    [
        changes(|verdict| *verdict == Verdict::Differs, "differ between the runs", true),
        changes(Verdict::is_loss, "slower or worse", true),
        changes(
            |verdict| matches!(verdict, Verdict::Faster | Verdict::Better),
            "faster or better",
            false,
        ),
        changes(
            |verdict| *verdict == Verdict::Undirected,
            "differ without a verdict (see --better)",
            false,
        ),
        others(
            |verdict| matches!(verdict, Verdict::Same(_)),
            format!("the same within {threshold} %"),
        ),
        others(|verdict| matches!(verdict, Verdict::Undecided(_)), "undecided".to_owned()),
    ]
}

/// The result in a sentence: `B against A: 2 slower or worse (syscall -79.7%), 1 the same within 1
/// %, 5 undecided.`
fn sentence(all: &Comparisons, letter: &str) -> String {
    let comparisons: Vec<&Comparison> =
        all.comparisons.iter().filter(|comparison| comparison.run == letter).collect();
    if comparisons.is_empty() {
        return format!(
            "{}: they have nothing in common that could be compared.",
            contest(letter, all)
        );
    }

    let mut clauses = Vec::new();
    let mut lead = "no significant change; ";
    for group in verdict_groups(all.asked.threshold) {
        let members: Vec<&Comparison> = comparisons
            .iter()
            .copied()
            .filter(|comparison| (group.holds)(&comparison.verdict))
            .collect();
        if members.is_empty() {
            continue;
        }
        if group.is_change {
            lead = "";
        }
        clauses.push(clause(&group, &members, all));
    }

    let mut counts = String::new();
    for ComparedCounts { letter: run, counts: of_run, base } in all.counts() {
        let change = counts::change_in_words(of_run, base).filter(|_| run == letter);
        if let Some(change) = change {
            counts += &format!("; {} {change}", of_run.cell.label);
        }
    }
    format!("{}: {lead}{}{counts}.", contest(letter, all), clauses.join(", "))
}

/// How many comparisons have the group's verdicts, and which is the worst: `2 slower or worse
/// (syscall -79.7%)`.
fn clause(group: &VerdictGroup, members: &[&Comparison], all: &Comparisons) -> String {
    let words = match members.len() {
        1 => group.words.replace("differ ", "differs "),
        _ => group.words.clone(),
    };
    let worst = members.iter().min_by(|a, b| a.delta.value.total_cmp(&b.delta.value));
    match worst {
        Some(worst) if group.names_worst => {
            let worst = line(worst, all);
            format!("{} {words} ({} {})", members.len(), worst.id(), worst.delta().words())
        }
        _ => format!("{} {words}", members.len()),
    }
}

/// What programs get besides the tables of comparisons and of what is missing.
fn data(all: &Comparisons, gate: Option<&Gate>) -> Vec<Block> {
    vec![
        Block::Data("paired", json!(all.asked.is_paired())),
        Block::Data("comparable", json!(all.unlike.is_empty())),
        Block::Data("unlike", json!(all.unlike)),
        Block::Data("conditions", json!(all.asked.conditions)),
        Block::Data("threshold", json!(all.asked.threshold)),
        Block::Data("false_discovery_rate", json!(RATE)),
        Block::Data("runs", runs_data(all)),
        Block::Data("systems", systems_data(all)),
        Block::Data("machines", machines::data(all)),
        Block::Data("totals", all.totals.iter().map(|total| total_data(total, all)).collect()),
        Block::Data(
            "thesis",
            all.thesis.as_ref().map_or(Value::Null, |tables| thesis_data(tables, all)),
        ),
        Block::Data("gate", gate.map_or(Value::Null, |gate| gate_data(gate, all))),
        Block::Data("warnings", json!(all.warnings)),
        Block::Data("notes", json!(all.notes)),
    ]
}

fn total_data(Total { run, mean }: &Total, all: &Comparisons) -> Value {
    let GeometricMean { rates, worst, .. } = mean;
    let change = mean.change();
    json!({
        "run": run, "against": all.against(), "rates": rates, "delta": change.value, "low": change.low,
        "high": change.high, "worst": worst.label, "worst_delta": worst.change,
    })
}

/// One table of all systems, where there are more than two.
fn systems_data(all: &Comparisons) -> Value {
    if !all.is_of_several() {
        return Value::Array(Vec::new());
    }
    let columns = systems::data(all);
    all.side_by_side().iter().map(|row| Value::Object(columns.object(row))).collect()
}

/// The directions of deltas between runs that alternated: `A1 against B1, A2 against B2`.
fn directions(all: &Comparisons) -> Option<String> {
    if !all.asked.is_paired() {
        return None;
    }

    let (judged, against) = (judged_side(all), all.against());
    let base = usize::from(against == "B");
    let rounds: Vec<String> = all
        .runs
        .chunks_exact(2)
        .map(|two| format!("{} against {}", two[1 - base].letter, two[base].letter))
        .collect();
    Some(format!(
        "{}: {judged} is what was changed, {against} what it is measured against.",
        rounds.join(", ")
    ))
}

fn line<'a>(comparison: &'a Comparison, all: &'a Comparisons) -> Line<'a> {
    let key = &comparison.cell.key;
    let against = all.against();
    Line {
        comparison,
        effect: None,
        against,
        shown: key.clone(),
        key: key.under(all.condition(&key.condition)),
        arm: None,
    }
}

/// The comparisons, each at its place in the matrix.
pub(crate) fn lines(all: &Comparisons) -> Vec<Line<'_>> {
    all.comparisons.iter().map(|comparison| line(comparison, all)).collect()
}

/// The columns for programs: of rounds with the thesis's deltas.
fn columns(all: &Comparisons) -> Columns<'_, Line<'_>> {
    let mut columns = comparisons::columns(["A", "B"]);
    let Some(tables) = &all.thesis else {
        return columns;
    };
    for (place, heading) in headings(tables.rounds).iter().enumerate() {
        let key = heading.to_lowercase().replace('-', "");
        columns = columns.with(Column::data(&key), move |line: &Line<'_>| {
            let row = tables.rows.iter().find(|row| row.is_of(line.comparison));
            let delta = row.and_then(|row| deltas(row).get(place).copied().flatten());
            Field::maybe(delta, words::millionths)
        });
    }
    columns
}

/// The heading of what compares one run with another: `B against A`.
fn contest(letter: &str, all: &Comparisons) -> String {
    format!("{letter} against {}", all.against())
}

/// The headings of two sides: what the user calls the runs, or else their letters.
fn heads(all: &Comparisons, letters: [&str; 2]) -> [String; 2] {
    let comments = letters.map(|letter| {
        let run = all.runs.iter().find(|run| run.letter == letter)?;
        let comment = run.results.run.comment.as_str();
        (!comment.is_empty() && run.condition.is_none()).then_some(comment)
    });
    match comments {
        [Some(a), Some(b)] if a != b => [a, b].map(comparisons::side_heading),
        _ => letters.map(str::to_owned),
    }
}

fn run_blocks(all: &Comparisons, letter: &str) -> Vec<Block> {
    let lines: Vec<Line<'_>> =
        lines(all).into_iter().filter(|line| line.comparison.run == letter).collect();
    if lines.is_empty() {
        return Vec::new();
    }

    let other_letter = if all.asked.is_paired() { "B" } else { letter };
    let [a, b] = heads(all, ["A", other_letter]);
    let table = comparisons::columns([&a, &b]).table(&lines).shown(Readers::PEOPLE);
    let totals = all.totals.iter().filter(|total| total.run == letter);
    let plot = Forest {
        label: format!(
            "{}: change of each test with its interval; the table has the figures",
            contest(letter, all)
        ),
        threshold: all.asked.threshold,
        rows: lines.iter().map(comparisons::row).collect(),
        means: totals
            .map(|total| totals::row(&Mean { name: "Geometric mean".to_owned(), of: &total.mean }))
            .collect(),
    };

    let mut blocks = vec![Block::Section(contest(letter, all))];
    blocks.extend(comparisons::charts(plot));
    blocks.push(Block::Table(table));
    blocks
}

fn means(all: &Comparisons) -> Vec<Block> {
    let means: Vec<Mean<'_>> = all
        .totals
        .iter()
        .map(|total| Mean { name: contest(&total.run, all), of: &total.mean })
        .collect();
    vec![Block::section("All together"), Block::Table(totals::table(&means).titled("", ""))]
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

/// The place in the matrix of what could not be compared.
pub(crate) fn gap_key(gap: &NotCompared, all: &Comparisons) -> Key {
    gap.cell.key.under(all.condition(&gap.cell.key.condition))
}

fn missing_data(all: &Comparisons) -> Table {
    let gaps: Vec<(Key, &NotCompared)> =
        all.missing.iter().map(|gap| (gap_key(gap, all), gap)).collect();
    missing_columns().table(&gaps).keyed("missing").shown(Readers::PROGRAM)
}

fn not_compared(all: &Comparisons) -> Vec<Block> {
    let mut items = Vec::new();
    for NotCompared { run, measure, cell, reason, .. } in &all.missing {
        let mut item = format!("{}{}", cell.key.test, coordinates(&cell.key));
        if let Some(measure) = measure {
            item += &format!(", {}", measure.name());
        }
        if all.is_of_several() {
            item += &format!(" ({run})");
        }
        items.push(format!("{item}: {reason}"));
    }
    vec![Block::section("Not compared"), Block::items(items)]
}

/// The headings of the deltas: one for each round, and after those of two rounds Delta-3, of more
/// the spread.
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
    let mut columns = Columns::new()
        .with(Column::words("test"), |row: &ThesisRow| thesis_label(&row.cell, row.measure));
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
        .with(Column::words("test"), |bar: &Bar| thesis_label(&bar.cell, bar.measure))
        .with(Column::number("loss of rate, %").narrow("loss").main(), |bar| Field::Number(bar.loss, words::millionths))
        .with(Column::number("time"), |bar| Field::Number(bar.time_factor, words::factor))
        .with(Column::words(""), move |bar| Field::Bar(bar.loss / largest))
        .table(&tables.figure4)
        .shown(Readers::PEOPLE)
        .titled("", "by the largest loss; loss of rate in %, and how many times as long the same work takes");
    let beyond = tables.beyond;
    let figure = match tables.figure4.is_empty() {
        true => Block::text(format!("Figure 4: no test loses more than {beyond} %.")),
        false => {
            Block::Section(format!("Figure 4: tests that lose more than {beyond} % in any round"))
        }
    };
    vec![
        Block::section("Rate of A less that of B, % of B"),
        Block::Table(rows),
        figure,
        Block::Table(bars),
    ]
}

fn thesis_label(cell: &analysis::Place, measure: Measure) -> Field {
    let measure = match measure {
        Measure::Score => String::new(),
        other => format!(", {}", other.name()),
    };
    Field::Text(format!("{}{}{measure}", cell.label, coordinates(&cell.key)))
}

/// The tables for programs, with the conditions that were asked for.
fn thesis_data(tables: &Thesis, all: &Comparisons) -> Value {
    let mut tables = tables.clone();
    let row_cells = tables.rows.iter_mut().map(|row| &mut row.cell);
    let bar_cells = tables.figure4.iter_mut().map(|bar| &mut bar.cell);
    for cell in row_cells.chain(bar_cells) {
        cell.key.condition = all.condition(&cell.key.condition).to_owned();
    }
    json!(tables)
}

/// The gate for programs.
fn gate_data(gate: &Gate, all: &Comparisons) -> Value {
    let lost = gate
        .lost
        .iter()
        .map(|gap| Value::Object(missing_columns().object(&(gap_key(gap, all), gap))));
    let suspects = gate.suspects.iter().map(|suspect| suspect_data(suspect, all));
    json!({
        "open": gate.outcome() != Outcome::Failed,
        "suspects": suspects.collect::<Vec<Value>>(),
        "lost": lost.collect::<Vec<Value>>(),
        "counts": gate.counts.iter().map(|(_, sentence)| sentence).collect::<Vec<&String>>(),
        "undirected": gate.undirected,
        "cannot_tell": gate.unseen.map(|Unseen { count, of, below, .. }| {
            json!({"comparisons": count, "of": of, "blind_below": below})
        }),
    })
}

/// A suspect as programs get it. `confirmed` is null without a second look, or if that shows
/// nothing; `closes` is true if the suspect fails the gate.
fn suspect_data(suspect: &Suspect, all: &Comparisons) -> Value {
    let to_object = |comparison| comparisons::columns(["A", "B"]).object(&line(comparison, all));
    let (confirmed, second) = match &suspect.second {
        Some(Second::Again(second)) => (Some(true), Some(to_object(second))),
        Some(Second::Gone(second)) => (Some(false), Some(to_object(second))),
        Some(Second::Missing) | None => (None, None),
    };

    let mut object = to_object(&suspect.first);
    object.insert("confirmed".to_owned(), json!(confirmed));
    object.insert("second".to_owned(), json!(second));
    object.insert("closes".to_owned(), json!(suspect.stands()));
    Value::Object(object)
}

/// How to read the numbers, and what is known of single ones.
fn notes(all: &Comparisons) -> Vec<String> {
    let mut notes = vec![comparisons::reading(all.asked.threshold)];
    notes.extend((!all.machines.is_empty()).then(machines::reading));
    notes.extend(all.notes.iter().cloned());
    notes.extend(comparisons::remarks(&all.comparisons));
    notes
}
