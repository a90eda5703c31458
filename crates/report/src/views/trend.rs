//! One test over many runs.

use analysis::{Change, Latest, Others, Point, Series, Step, Trend};
use serde_json::json;
use stats::Estimate;
use words::{copies, shortened};

use super::shared::name;
use crate::document::{Block, Column, Columns, Document, Field, Readers, Table};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-trend/3";

/// The width of a run's name in 80 columns.
const RUN_WIDTH: usize = 20;

/// The trend: a table per cell with a row for each run, and what became of the latest.
pub fn trend(trend: &Trend) -> Document {
    let mut document = Document::new(FORMAT, "unixmark trend", &trend.test, &["points"]);
    document.blocks.push(Block::Data("test", trend.test.as_str().into()));
    for series in &trend.series {
        document.extend(series_blocks(series, &trend.series));
    }
    document.table(table_of_latest(&trend.series));
    document
}

fn series_blocks(series: &Series, all: &[Series]) -> Vec<Block> {
    let readable = with_readable_unit(series);
    let unit = &readable.as_ref().unwrap_or(series).unit;

    let mut sentences: Vec<String> =
        series.steps.iter().map(|step| describe_step(step, series)).collect();
    sentences.push(match (&series.total, &series.latest) {
        (Some(total), _) => describe_total(*total, series),
        (None, Some(latest)) => describe_latest(latest, series),
        (None, None) => "One run: there is nothing to compare it with.".to_owned(),
    });

    let mut blocks = vec![Block::Section(heading(series, unit, all)), Block::Lead(sentences)];
    match &readable {
        Some(readable) => {
            blocks.push(Block::Table(table_of_points(readable).shown(Readers::PEOPLE)));
            blocks.push(Block::Table(table_of_points(series).shown(Readers::PROGRAM)));
        }
        None => blocks.push(Block::Table(table_of_points(series))),
    }
    blocks
}

/// The series in the unit in which people read its small times; `None` if its own suits them.
fn with_readable_unit(series: &Series) -> Option<Series> {
    let (unit, factor) = words::suited_unit(largest_score(series), &series.unit)?;
    let mut readable = Series { unit, ..series.clone() };
    for point in &mut readable.points {
        point.score = point.score.scaled(factor);
    }
    Some(readable)
}

fn largest_score(series: &Series) -> f64 {
    let scores = series.points.iter().map(|point| point.score.value);
    scores.filter(|score| score.is_finite()).fold(0.0, f64::max)
}

/// Names the series with its unit, and with what distinguishes it from others of the same cell.
fn heading(series: &Series, unit: &str, all: &[Series]) -> String {
    let same_cell: Vec<&Series> =
        all.iter().filter(|other| other.key == series.key && other.unit == series.unit).collect();
    let common = &series.common;

    let mut heading =
        format!("{}, {}", name(&series.label, &series.key), copies(series.key.copies));
    if !unit.is_empty() {
        heading += &format!(", {unit}");
    }
    if series.is_undirected {
        heading += "; the better direction is unknown";
    } else if series.lower_is_better {
        heading += "; lower is better";
    }
    if same_cell.iter().any(|other| other.common.host != common.host) {
        heading += &format!(", on {}", common.host);
    }
    if same_cell.iter().any(|other| other.common.procedure != common.procedure) {
        heading += &format!(", procedure {}", common.procedure);
    }
    if same_cell.iter().any(|other| other.common.build != common.build) {
        heading += &format!(", build {}", common.build);
    }
    heading
}

fn table_of_points(series: &Series) -> Table {
    let largest = largest_score(series);
    let mut columns = Columns::new()
        .with(Column::words("Started").keyed("started"), |point: &Point| {
            Field::Worded(format_moment(&point.started), point.started.as_str().into())
        })
        .data(|_| json!(series.key))
        .data(|_| json!({"label": series.label, "unit": series.unit}))
        .with(Column::words(""), move |point| Field::Bar(point.score.value / largest))
        .with(Column::number("Score").keyed("value").main().wide(12), |point| {
            Field::Estimate(point.score, words::score)
        })
        .with(Column::number("±").wide(7), |point| Field::Spread(point.score))
        .with(Column::words("Run").keyed("run"), |point| {
            Field::text(&point.run).narrow(shortened(&point.run, RUN_WIDTH))
        })
        .with(Column::data("host"), |point| Field::text(&point.host))
        .with(Column::words("Changed since the run before").keyed("changed"), |point| {
            Field::Words(point.changed.iter().map(format_change).collect())
        });
    let is_chain = series.total.is_some();
    if is_chain {
        columns = columns.and(chain_columns());
    }
    columns.table(&series.points).keyed("points")
}

/// `2026-11-28 16:10` of `2026-11-28T16:10:11Z`.
fn format_moment(started: &str) -> String {
    started.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// What each run of a chain has found.
fn chain_columns<'a>() -> Columns<'a, Point> {
    Columns::new()
        .with(Column::number("Change, %").keyed("change"), |point| {
            Field::Number(change_of(point).value, words::signed_fine)
        })
        .with(Column::number("95 %"), |point| Field::Interval(change_of(point), words::signed_fine))
}

/// The change that a run has found, NaN without one.
fn change_of(point: &Point) -> Estimate {
    point.change.unwrap_or_else(|| Estimate::alone(f64::NAN))
}

/// The latest run of each cell next to those before it, for programs.
fn table_of_latest(series: &[Series]) -> Table {
    Columns::new()
        .keyed(|series: &Series| &series.key)
        .data(|series| {
            let latest = series.latest.as_ref();
            json!({
                "label": series.label,
                "common": series.common,
                "unit": series.unit,
                "lower_is_better": series.lower_is_better,
                "steps": series.steps,
                "before": latest.map(|latest| latest.before),
                "mean": latest.map(|latest| latest.mean),
                "delta": latest.map(|latest| latest.delta),
                "usual": latest.and_then(|latest| latest.usual),
                "p": latest.and_then(|latest| latest.p),
            })
        })
        .table(series)
        .keyed("series")
        .shown(Readers::PROGRAM)
}

/// The sum of all runs of a chain.
fn describe_total(total: Estimate, series: &Series) -> String {
    let runs = words::count(series.points.len(), "run");
    let [value, low, high] = [total.value, total.low, total.high].map(words::signed_fine);
    let excludes_zero = total.low > 0.0 || total.high < 0.0;
    let verdict = if excludes_zero { judge(total.value, series) } else { "which may be chance" };
    format!(
        "From the first base to the last head, over {runs}: {value} % ({verdict}; 95 %: \
         {low}..{high} %)."
    )
}

/// Better or worse, of a change.
fn judge(delta: f64, series: &Series) -> &'static str {
    if series.is_undirected {
        return "its better direction is not known";
    }
    let is_lower = delta < 0.0;
    if is_lower == series.lower_is_better { "better" } else { "worse" }
}

fn format_change(change: &Change) -> String {
    format!("{}: {} -> {}", change.name, change.before, change.after)
}

/// What changed, after a lead; empty for nothing.
fn list_changes(lead: &str, changed: &[Change]) -> String {
    if changed.is_empty() {
        return String::new();
    }
    let changes: Vec<String> = changed
        .iter()
        .map(|change| format!("{} {} -> {}", change.name, change.before, change.after))
        .collect();
    format!(" {lead}: {}.", changes.join("; "))
}

/// A lasting change, and what changed with it.
fn describe_step(step: &Step, series: &Series) -> String {
    let Step { run, change: Estimate { value, low, high }, changed, others, .. } = step;
    let way = if *value < 0.0 { "lower" } else { "higher" };
    let size = value.abs();
    let verdict = judge(*value, series);
    let [low, high] = [*low, *high].map(words::signed);

    let changed = list_changes("Changed there", changed);
    let others = others.as_ref().map(describe_others).unwrap_or_default();
    format!(
        "Since {run} the level is {size:.1} % {way} ({verdict}; 95 %: {low}..{high} \
         %).{changed}{others}"
    )
}

/// The change of the other tests there: whether it is the machine that changed.
fn describe_others(others: &Others) -> String {
    let Others { tests, change: Estimate { value, low, high }, alike } = others;
    let tests = if *tests == 1 { "test".to_owned() } else { format!("{tests} tests together") };

    let mut change = format!("{} %", words::signed(*value));
    // Equal figures have no interval.
    if high.is_finite() {
        change += &format!(" ({}..{})", words::signed(*low), words::signed(*high));
    }
    let conclusion = match alike {
        true => "the machine changed, not this test alone",
        false => "this test changed rather than the machine",
    };
    format!(" The other {tests}: {change}, so {conclusion}.")
}

/// The latest run against those before it at its level.
fn describe_latest(latest: &Latest, series: &Series) -> String {
    let Latest { before, delta, usual, p, .. } = *latest;
    let since = if series.steps.is_empty() { "" } else { " since the last change of level" };
    let earlier = match before {
        1 => format!("run{since} before it"),
        _ => format!("mean of the {before} runs{since} before it"),
    };

    let size = format!("{:.1} %", delta.abs());
    let comparison = if size == "0.0 %" {
        format!("equals the {earlier}")
    } else {
        let way = if delta < 0.0 { "lower" } else { "higher" };
        format!("is {size} {way} ({}) than the {earlier}", judge(delta, series))
    };
    let chance = match (usual, p) {
        (Some(usual), Some(p)) => format!(
            "by chance alone, one run in twenty would be more than {usual:.1} % away (p = {})",
            words::figure(p)
        ),
        _ => "too few runs to say whether that is chance".to_owned(),
    };
    let changed = series.points.last().map_or(&[][..], |point| &point.changed);
    let changed = list_changes("Changed before it", changed);
    format!("The latest run {comparison}; {chance}.{changed}")
}
