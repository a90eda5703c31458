//! Runs of one comparison on several machines: one answer, and how far machines are apart.

use analysis::{Pooled, PooledRow, PooledRun, Verdict};
use serde_json::json;
use words::{fine, signed_fine};

use crate::document::{Block, Column, Columns, Document, Field};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-pooled/1";

/// How the answer came about.
const HOW: &str = "\
    a machine's run is one value: the change is the mean over machines like these, by random effects, \
    with Hartung and Knapp's interval of as many values as there are runs. Machines that differ are \
    not made equal by dividing by their speed (docs/methodology.md)";

/// The answer of all runs, and what each of them found.
pub fn pooled(pooled: &Pooled) -> Document {
    let mut document = Document::new(FORMAT, "unixmark compare", "Several machines", &["pooled"]);
    document
        .blocks
        .push(Block::Lead(pooled.rows.iter().map(|row| sentence(row, pooled)).collect()));
    document.table(columns().table(&pooled.rows).keyed("pooled"));
    for row in &pooled.rows {
        document.extend([Block::section(format!("{}, by machine", name(row)))]);
        document.table(runs().table(&row.runs));
    }
    let mut notes = vec![HOW.to_owned()];
    if !pooled.rare.is_empty() {
        let rare = words::listed(&pooled.rare, 3);
        notes.push(format!("too few of these runs have an interval of {rare}"));
    }
    document.extend([
        Block::Data("against", json!(pooled.against)),
        Block::Data("runs", json!(pooled.runs)),
        Block::section("How to read this"),
        Block::notes(notes),
    ]);
    document
}

/// `head`; `memory of head`; `parse of head`.
fn name(row: &PooledRow) -> String {
    match (&*row.label, row.measure) {
        ("time", _) => row.key.condition.clone(),
        (label, _) => format!("{label} of {}", row.key.condition),
    }
}

/// `head is slower than base by 2.1 % (1.3 to 2.9), on 3 machines; machines differ by ±0.8 %; AMD
/// EPYC 7763 disagrees: +3.4 % (2.8 to 4.1).`
fn sentence(row: &PooledRow, pooled: &Pooled) -> String {
    let change = row.change;
    let size = fine(change.value.abs());
    let ends = format!("{} to {} %", signed_fine(change.low), signed_fine(change.high));
    let (name, against, count) = (name(row), &pooled.against, row.runs.len());
    let answer = match row.verdict {
        Verdict::Same(limit) => {
            format!("{name} is the same as {against} within {} %", words::at_least(limit))
        }
        Verdict::Undecided(_) | Verdict::Differs => {
            format!("undecided: {name} differs from {against} by {ends}")
        }
        Verdict::Undirected => format!("{name} differs from {against} by {size} % ({ends})"),
        decided => format!("{name} is {} than {against} by {size} % ({ends})", decided.word()),
    };

    let mut clauses = vec![format!("{answer}, on {}", words::count(count, "machine"))];
    if row.spread_percent > 0.0 {
        clauses.push(format!("machines differ by ±{} %", fine(row.spread_percent)));
    }
    if let Some(dissent) = &row.dissent {
        let processor = match &*dissent.processor {
            "" => "the machine whose processor is not known",
            processor => processor,
        };
        let own = dissent.change;
        clauses.push(format!(
            "{processor} disagrees: {} % ({} to {})",
            signed_fine(own.value),
            signed_fine(own.low),
            signed_fine(own.high)
        ));
    }
    if matches!(row.verdict, Verdict::Undecided(_)) {
        clauses.push("more machines would narrow this".to_owned());
    }
    format!("{}.", clauses.join("; "))
}

fn columns<'a>() -> Columns<'a, PooledRow> {
    Columns::new()
        .with(Column::words("figure"), |row: &PooledRow| Field::text(name(row)))
        .data(|row| json!(row.key))
        .data(|row| json!({"label": row.label, "measure": row.measure}))
        .with(Column::number("change, %").keyed("change"), |row| {
            Field::Estimate(row.change, signed_fine)
        })
        .with(Column::number("95 %"), |row| Field::Interval(row.change, signed_fine))
        .with(Column::number("machines ±%").keyed("spread_percent"), |row| {
            Field::maybe(Some(row.spread_percent), fine)
        })
        .with(Column::number("runs").keyed("n"), |row| Field::Count(row.runs.len() as u64))
        .with(Column::words("verdict").keyed("verdict").main(), |row| {
            Field::text(row.verdict.word())
        })
        .data(|row| json!({"p": row.p, "q": row.q, "dissent": row.dissent, "runs": row.runs}))
}

fn runs<'a>() -> Columns<'a, PooledRun> {
    Columns::new()
        .with(Column::words("run"), |run: &PooledRun| Field::text(&run.run))
        .with(Column::words("processor"), |run| Field::text(&run.processor))
        .with(Column::number("change, %").main(), |run| Field::Estimate(run.change, signed_fine))
        .with(Column::number("95 %"), |run| Field::Interval(run.change, signed_fine))
}
