//! One test over many runs.

use analysis::{Change, Latest, Others, Point, Series, Step, Trend};
use serde_json::json;
use stats::Estimate;
use words::{copies, shortened};

use super::shared::name;
use crate::document::{Block, Column, Columns, Document, Field, Readers, Table};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-trend/3";

/// Returns the trend: a table per cell with a row for each run, and what became of the latest.
pub fn trend(trend: &Trend) -> Document {
    let mut document = Document::new(FORMAT, "unixmark trend", &trend.test, &["points"]);
    document.blocks.push(Block::Data("test", trend.test.as_str().into()));
    for series in &trend.series {
        let latest = match (&series.total, &series.latest) {
            (Some(total), _) => chained(*total, series),
            (None, Some(latest)) => sentence(latest, series),
            (None, None) => "One run: there is nothing to compare it with.".to_owned(),
        };
        let lead = Block::Lead(series.steps.iter().map(|step| change(step, series)).chain([latest]).collect());
        document.extend([Block::Section(heading(series, &trend.series)), lead, Block::Table(points(series))]);
    }
    document.table(latest(&trend.series));
    document
}

/// Names the series, with what tells it from others of the same cell.
fn heading(series: &Series, all: &[Series]) -> String {
    let same = |other: &&Series| other.key == series.key && other.unit == series.unit;
    let part = |word: &str, of: fn(&Series) -> &str| {
        let differs = all.iter().filter(same).any(|other| of(other) != of(series));
        if differs { format!(", {word} {}", of(series)) } else { String::new() }
    };
    let common = [
        part("on", |series| &series.common.host),
        part("procedure", |series| &series.common.procedure),
        part("build", |series| &series.common.build),
    ]
    .concat();
    let unit = if series.unit.is_empty() { String::new() } else { format!(", {}", series.unit) };
    let direction = if series.lower_is_better { "; lower is better" } else { "" };
    format!("{}, {}{unit}{direction}{common}", name(&series.label, &series.key), copies(series.key.copies))
}

fn points(series: &Series) -> Table {
    let most =
        series.points.iter().map(|point| point.score.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let changes = |point: &Point| {
        let change = |change: &Change| format!("{}: {} -> {}", change.name, change.before, change.after);
        Field::Words(point.changed.iter().map(change).collect())
    };
    let columns = Columns::new()
        .with(Column::words("Started").keyed("started"), |point: &Point| {
            let shown: String = point.started.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect();
            Field::Worded(shown, point.started.as_str().into())
        })
        .data(|_| json!(series.key))
        .data(|_| json!({"label": series.label, "unit": series.unit}))
        .with(Column::words(""), move |point| Field::Bar(point.score.value / most))
        .with(Column::number("Score").keyed("value").main().wide(12), |point| {
            Field::Estimate(point.score, words::score)
        })
        .with(Column::number("±").wide(7), |point| Field::Spread(point.score))
        .with(Column::words("Run").keyed("run"), |point| Field::text(&point.run).narrow(shortened(&point.run, 20)))
        .with(Column::data("host"), |point| Field::text(&point.host))
        .with(Column::words("Changed since the run before").keyed("changed"), changes);
    let columns = if series.total.is_some() { with_change(columns) } else { columns };
    columns.table(&series.points).keyed("points")
}

/// Adds what each run of a chain has found.
fn with_change<'a>(columns: Columns<'a, Point>) -> Columns<'a, Point> {
    let change = |point: &Point| point.change.unwrap_or_else(|| Estimate::alone(f64::NAN));
    columns
        .with(Column::number("Change, %").keyed("change"), move |point: &Point| {
            Field::Number(change(point).value, words::signed_fine)
        })
        .with(Column::number("95 %"), move |point| Field::Interval(change(point), words::signed_fine))
}

/// The latest run of each cell beside those before it, for programs.
fn latest(series: &[Series]) -> Table {
    let latest = |series: &Series| {
        let of = |value: fn(&Latest) -> f64| series.latest.as_ref().map(value);
        json!({
            "label": series.label, "common": series.common, "unit": series.unit, "lower_is_better": series.lower_is_better,
            "steps": series.steps, "before": series.latest.as_ref().map(|latest| latest.before),
            "mean": of(|latest| latest.mean), "delta": of(|latest| latest.delta),
            "usual": series.latest.as_ref().and_then(|latest| latest.usual),
            "p": series.latest.as_ref().and_then(|latest| latest.p),
        })
    };
    Columns::new()
        .keyed(|series: &Series| &series.key)
        .data(latest)
        .table(series)
        .keyed("series")
        .shown(Readers::PROGRAM)
}

/// The sum of all runs of a chain.
fn chained(total: Estimate, series: &Series) -> String {
    let runs = words::count(series.points.len(), "run");
    let [value, low, high] = [total.value, total.low, total.high].map(words::signed_fine);
    let is_known = total.low > 0.0 || total.high < 0.0;
    let word = if is_known { judged(total.value, series) } else { "which may be chance" };
    format!("From the first base to the last head, over {runs}: {value} % ({word}; 95 %: {low}..{high} %).")
}

/// Better or worse, of a change in per cent.
fn judged(delta: f64, series: &Series) -> &'static str {
    if (delta < 0.0) == series.lower_is_better { "better" } else { "worse" }
}

fn listed(changed: &[Change], what: &str) -> String {
    let change = |change: &Change| format!("{} {} -> {}", change.name, change.before, change.after);
    let changes: Vec<String> = changed.iter().map(change).collect();
    if changes.is_empty() { String::new() } else { format!(" {what}: {}.", changes.join("; ")) }
}

/// A lasting change, and what changed with it.
fn change(step: &Step, series: &Series) -> String {
    let Step { run, change: Estimate { value, low, high }, changed, others, .. } = step;
    let way = if *value < 0.0 { "lower" } else { "higher" };
    let (size, judged, [low, high]) = (value.abs(), judged(*value, series), [*low, *high].map(words::signed));
    let (changed, others) = (listed(changed, "Changed there"), others.as_ref().map(beside).unwrap_or_default());
    format!("Since {run} the level is {size:.1} % {way} ({judged}; 95 %: {low}..{high} %).{changed}{others}")
}

/// Returns the change of the other tests there: whether it is the machine that changed.
fn beside(others: &Others) -> String {
    let Others { tests, change: Estimate { value, low, high }, alike } = others;
    // Equal figures have no interval.
    let range = format!(" ({}..{})", words::signed(*low), words::signed(*high));
    let range = if high.is_finite() { range } else { String::new() };
    let change = format!("{} %{range}", words::signed(*value));
    let what =
        if *alike { "the machine changed, not this test alone" } else { "this test changed rather than the machine" };
    let tests = if *tests == 1 { "test".to_owned() } else { format!("{tests} tests together") };
    format!(" The other {tests}: {change}, so {what}.")
}

/// The latest against those before it at its level.
fn sentence(latest: &Latest, series: &Series) -> String {
    let Latest { before, delta, usual, p, .. } = *latest;
    let since = if series.steps.is_empty() { "" } else { " since the last change of level" };
    let runs = if before == 1 { format!("run{since}") } else { format!("mean of the {before} runs{since}") };
    let size = format!("{:.1} %", delta.abs());
    let place = if size == "0.0 %" {
        format!("The latest run equals the {runs} before it")
    } else {
        let way = if delta < 0.0 { "lower" } else { "higher" };
        format!("The latest run is {size} {way} ({}) than the {runs} before it", judged(delta, series))
    };
    let chance = match (usual, p) {
        (Some(usual), Some(p)) => format!(
            "by chance alone, one run in twenty would be more than {usual:.1} % away (p = {})",
            words::figure(p)
        ),
        _ => "too few runs to say whether that is chance".to_owned(),
    };
    let changed = series.points.last().map_or(String::new(), |point| listed(&point.changed, "Changed before it"));
    format!("{place}; {chance}.{changed}")
}
