//! One test over many runs.

use analysis::{Change, Latest, Point, Series, Trend};
use serde_json::json;
use stats::Estimate;
use words::{copies, shortened};

use super::shared::name;
use crate::document::{Block, Column, Columns, Document, Field, Show, Table};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-trend/2";

/// The fewest runs before the latest for a word on chance.
const ENOUGH: usize = 4;

/// Returns the trend: a table per cell with a row for each run, and what became of the latest.
pub fn trend(trend: &Trend) -> Document {
    let mut document = Document::new(FORMAT, "unixmark trend", &trend.test, &["points"]);
    document.blocks.push(Block::Data("test", trend.test.as_str().into()));
    for series in &trend.series {
        let latest = series.latest.as_ref().map(|latest| sentence(latest, series));
        let latest = latest.unwrap_or_else(|| "One run: there is nothing to compare it with.".to_owned());
        let lead = Block::Lead(vec![latest]);
        document.extend([Block::Section(heading(series)), lead, Block::Table(points(series))]);
    }
    document.table(latest(&trend.series));
    document
}

fn heading(series: &Series) -> String {
    let unit = if series.unit.is_empty() { String::new() } else { format!(", {}", series.unit) };
    let direction = if series.lower_is_better { "; lower is better" } else { "" };
    format!("{}, {}{unit}{direction}", name(&series.label, &series.key), copies(series.key.copies))
}

fn points(series: &Series) -> Table {
    let most =
        series.points.iter().map(|point| score(point).value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let changes = |point: &Point| {
        let change = |change: &Change| format!("{}: {} -> {}", change.name, change.before, change.after);
        Field::Words(point.changed.iter().map(change).collect())
    };
    Columns::new()
        .with(Column::words("started", "Started"), |point: &Point| {
            let shown: String = point.started.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect();
            Field::Worded(shown, point.started.as_str().into())
        })
        .data(|_| json!(series.key))
        .data(|_| json!({"label": series.label, "unit": series.unit}))
        .with(Column::words("", ""), move |point| Field::Bar(score(point).value / most))
        .with(Column::number("value", "Score").main().wide(12), |point| Field::Estimate(score(point), words::score))
        .with(Column::number("", "±").wide(7), |point| Field::Spread(score(point)))
        .with(Column::words("", "Run").shown(Show::Narrow), |point| Field::text(shortened(&point.run, 20)))
        .with(Column::words("run", "Run").shown(Show::Wide), |point| Field::text(&point.run))
        .with(Column::data("host"), |point| Field::text(&point.host))
        .with(Column::words("changed", "Changed since the run before"), changes)
        .of(&series.points)
        .keyed("points")
}

fn score(point: &Point) -> Estimate {
    point.score
}

/// The latest run of each cell beside those before it, for programs.
fn latest(series: &[Series]) -> Table {
    let latest = |series: &Series| {
        let of = |value: fn(&Latest) -> f64| series.latest.as_ref().map(value);
        json!({
            "label": series.label, "unit": series.unit, "lower_is_better": series.lower_is_better,
            "before": series.latest.as_ref().map(|latest| latest.before), "median": of(|latest| latest.median),
            "delta": of(|latest| latest.delta), "p": of(|latest| latest.p),
        })
    };
    Columns::new().keyed(|series: &Series| &series.key).data(latest).of(series).keyed("series").shown(Show::Data)
}

/// The latest against those before it.
fn sentence(latest: &Latest, series: &Series) -> String {
    let Latest { before, delta, p, .. } = *latest;
    let runs = if before == 1 { "run".to_owned() } else { format!("median of the {before} runs") };
    let size = format!("{:.1} %", delta.abs());
    let judged = if (delta < 0.0) == series.lower_is_better { "better" } else { "worse" };
    let place = if size == "0.0 %" {
        format!("The latest run equals the {runs} before it")
    } else {
        let way = if delta < 0.0 { "lower" } else { "higher" };
        format!("The latest run is {size} {way} ({judged}) than the {runs} before it")
    };
    let chance = if before < ENOUGH {
        "too few runs to say whether that is chance".to_owned()
    } else {
        format!("if only chance were at work, {:.0} % of runs would lie this far out (p = {p:.2})", p * 100.0)
    };
    let changed: Vec<&str> =
        series.points.last().into_iter().flat_map(|point| &point.changed).map(|change| change.name.as_str()).collect();
    let changed =
        if changed.is_empty() { String::new() } else { format!(" Changed before it: {}.", changed.join(", ")) };
    format!("{place}; {chance}.{changed}")
}
