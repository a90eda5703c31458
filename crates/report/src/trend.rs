//! One test over many runs, in text and JSON.

use anyhow::Result;
use serde::Serialize;

use super::text::{line, score, wrapped};
use super::{copies, plus_minus};
use analysis::{Change, Latest, Point, Series, Trend, named};

/// The version of the JSON form's keys.
const FORMAT: &str = "unixmark-trend/1";

/// Columns of the longest bar.
const BAR: usize = 16;

/// Columns of a run's name.
const NAME: usize = 20;

/// The fewest runs before the latest for a word on chance.
const ENOUGH: usize = 4;

/// Returns the trend as JSON.
///
/// # Errors
/// None that is known: numbers that JSON cannot hold are null.
pub fn json(trend: &Trend) -> Result<String> {
    #[derive(Serialize)]
    struct Report<'a> {
        format: &'static str,
        #[serde(flatten)]
        trend: &'a Trend,
    }
    Ok(serde_json::to_string_pretty(&Report { format: FORMAT, trend })? + "\n")
}

/// Returns the trend in 80 columns: a line for each run, its bar as long as its figure, and what changed before it.
#[must_use]
pub fn text(trend: &Trend) -> String {
    let mut text = String::new();
    for (number, series) in trend.series.iter().enumerate() {
        if number > 0 {
            line(&mut text, "");
        }
        block(&mut text, series);
    }
    text
}

fn block(text: &mut String, series: &Series) {
    let unit = if series.unit.is_empty() { String::new() } else { format!(", {}", series.unit) };
    let name = named(&series.label, &series.key.load, &series.key.condition);
    let direction = if series.lower_is_better { "; lower is better" } else { "" };
    wrapped(text, "", &format!("{name}, {}{unit}{direction}", copies(series.key.copies)));
    line(text, "");
    let values = series.points.iter().map(|point| point.score.value).filter(|value| value.is_finite());
    let most = values.fold(0.0, f64::max);
    for point in &series.points {
        if !point.changed.is_empty() {
            let changes: Vec<String> = point.changed.iter().map(change).collect();
            wrapped(text, "  * ", &changes.join("; "));
        }
        line(text, &row(point, most));
    }
    line(text, "");
    match &series.latest {
        Some(latest) => wrapped(text, "", &sentence(latest, series)),
        None => line(text, "One run: there is nothing to hold it against."),
    }
}

fn row(point: &Point, most: f64) -> String {
    let estimate = point.score;
    // Whole and half columns.
    let halves = (estimate.value / most * 2.0 * BAR as f64).round().clamp(0.0, 2.0 * BAR as f64) as usize;
    let bar = "█".repeat(halves / 2) + if halves % 2 == 1 { "▌" } else { "" };
    let when: String = point.started.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect();
    let (value, spread) = (score(estimate.value), plus_minus(&estimate));
    format!("  {when:<16}  {bar:<BAR$} {value:>13} {spread:>7}  {}", short(&point.run))
}

/// The end of a long name, which tells runs of a host apart.
fn short(name: &str) -> String {
    let length = name.chars().count();
    if length <= NAME {
        name.to_owned()
    } else {
        format!("…{}", name.chars().skip(length + 1 - NAME).collect::<String>())
    }
}

fn change(Change { name, before, after }: &Change) -> String {
    format!("{name}: {before} -> {after}")
}

/// The latest against those before it.
fn sentence(latest: &Latest, series: &Series) -> String {
    let Latest { before, delta, p, .. } = *latest;
    let runs = if before == 1 { "run".to_owned() } else { format!("median of the {before} runs") };
    let size = format!("{:.1} %", delta.abs());
    let judged = if (delta < 0.0) == series.lower_is_better { "better" } else { "worse" };
    let place = if size == "0.0 %" {
        format!("The latest is as the {runs} before it")
    } else {
        format!(
            "The latest is {size} {} ({judged}) than the {runs} before it",
            if delta < 0.0 { "lower" } else { "higher" }
        )
    };
    let chance = if before < ENOUGH {
        "too few runs to say whether that is chance".to_owned()
    } else {
        format!("of runs that differ by chance alone, as many as {:.0} % are as far out (p = {p:.2})", p * 100.0)
    };
    let changed: Vec<&str> =
        series.points.last().into_iter().flat_map(|point| &point.changed).map(|c| c.name).collect();
    let changed = match &changed[..] {
        [] => String::new(),
        names => format!(" Before it changed: {}.", names.join(", ")),
    };
    format!("{place}; {chance}.{changed}")
}
