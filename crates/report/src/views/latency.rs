//! Interactive tasks: how late they are alongside each load. People see a table per task with a row
//! per load, as Interbench has it, and a map of all tasks and loads.

use analysis::{Figure, Latency, PERCENTILES, Results};
use serde_json::{Value, json};
use stats::{Estimate, Histogram};
use words::{figure, plus_minus, share};

use super::shared::sentences;
use super::tasks::{Task, TaskRow, Tasks, describe_load, series_of_load};
use super::{holders, loads};
use crate::charts::percentiles::{curve, plot_curves};
use crate::charts::plot::{Axis, Mark, Plot, Series, keep_highest};
use crate::charts::{Drawings, key, scale::Scale};
use crate::document::{Block, Chart, Column, Columns, Field, Readers, Table, Tone};

/// Every latency is in ms.
const NS_PER_MS: f64 = 1e6;

/// The multiples of the quiet latency at which the map's steps end; the sixth has no end.
const STEP_ENDS: [f64; 5] = [1.5, 3.0, 10.0, 30.0, 100.0];

/// The percentile that the map has, unless the frames support a lower one only.
const MAP_PERCENTILE: &str = "p99";

/// Points over time at most, of a chart and of all charts of one kind.
const MAX_CHART_POINTS: usize = 600;
const MAX_PAGE_POINTS: usize = 6_000;

/// Points over time at most that have a hover text each, of a chart and of all charts of one kind.
const MAX_CHART_HOVERS: usize = 240;
const MAX_PAGE_HOVERS: usize = 1_500;

/// A series over time has at least so many points, however many series there are.
const MIN_SERIES_POINTS: usize = 2;

const HEIGHT_PX: f64 = 250.0;

const NOT_INTERBENCH: &str = "Interbench's figures are not comparable with these: its latency adds \
whole missed intervals to wake-up delays and leaves out the timer's own delay, its spread is a \
root mean square, its X task hides most delays, and its shares count the bursts that ran, not the \
bursts that were planned.";

/// The map's marks in a line or two; [`MAP_MEANING`] has the rest.
const MARKS_MEANING: &str = "ms at p99, or the percentile named; each ! (darker): later than \
without a load by the next of 1.5, 3, 10, 30 and 100 times; ?: may be chance";

const MAP_MEANING: &str = "The map has the latency in ms at p99, or at the highest percentile that \
the frames support, which is then named. The colour (at a terminal the number of !) shows how many \
times later this is than without a load (or, if that was not measured, than under the load that \
disturbs least), at the highest percentile that both support; the steps are up to 1.5, 3, 10, 30 \
and 100 times, and more. A question mark means that the interval of this ratio contains 1 or has \
no end; where the two support different percentiles, the ratio has no interval and no mark.";

const DELAYS_MEANING: &str = "Mean, Spread (standard deviation), Max and the percentiles describe \
the latency in ms, and count a dropped frame as if it had waited; ± belongs to the p99, or to the \
highest percentile that the frames support (a note says which). % CPU: work done as a share of the \
work planned. % met: frames finished by their deadline. Load %: the load's throughput as a share \
of what it does alone. A task is called smooth if it met at least 99 % of its deadlines, and had \
at least 300: fewer would not show that one in a hundred is missed.";

const FRAMES_MEANING: &str = "% late: frames finished after the deadline; % drop: frames never \
finished; Stall: the longest delay, ms. Jitter: change from frame to frame; Done: time from \
planned to done; Completed: latency without the dropped frames; each in ms at the highest \
percentile it supports. Queued, Steal: ms per second spent ready but without a processor, or taken \
by the hypervisor.";

const CHARTS_MEANING: &str = "All scales of ms are logarithmic, and lower is better. A curve is \
solid where enough frames support it, with marks at p50, p90, p95, p99 and p99.9, and dashed from \
there to the longest, a hollow mark. A second in which no frame was done has no mark. A trial's \
mark is its own percentile.";

/// A latency for programs: times in ms, shares in per cent.
pub(super) fn data(latency: &Latency) -> Value {
    let percentiles = |histogram: &Histogram| latency.percentiles(histogram).collect::<Value>();
    let mut object = json!({
        "latency": latency.kind,
        "value_is": latency.value,
        "frames": latency.came.count(),
        "planned": latency.planned,
        "mean": in_ms(latency, Histogram::mean),
        "deviation": in_ms(latency, Histogram::deviation),
        "min": in_ms(latency, Histogram::min),
        "max": in_ms(latency, Histogram::max),
        "percentiles": percentiles(&latency.histogram),
        "came": percentiles(&latency.came),
        "response": percentiles(&latency.response),
        "jitter": percentiles(&latency.jitter),
    });
    for (key, share) in
        [("deadlines_met", latency.deadlines_met), ("cpu_received", latency.cpu_received)]
    {
        object[key] = json!(share.map(|share| share.value));
        if let Some(Estimate { low, high, .. }) = share {
            object[format!("{key}_low")] = json!(low);
            object[format!("{key}_high")] = json!(high);
        }
    }
    object["late"] = json!(latency.late);
    object["dropped"] = json!(latency.dropped);
    object["stall"] = json!(latency.stall);

    if let Some(rates) = latency.rates {
        object["frames_per_second"] = json!(rates);
    }
    if let Some(requests) = latency.requests {
        object["requests"] = json!(requests);
    }
    if let Some(holders) = &latency.holders {
        object["holders"] = json!(holders);
    }
    object["attribution"] = json!(latency.attribution);
    object["over_time"] = json!(latency.seconds);
    object["worst"] = json!(latency.worst);
    object["trials"] = json!(latency.trials);
    object["histogram"] = json!(latency.histogram);
    object
}

/// A statistic of the latency in ms; `None` without a frame.
fn in_ms(latency: &Latency, ns: fn(&Histogram) -> f64) -> Option<f64> {
    (latency.histogram.count() > 0).then(|| ns(&latency.histogram) / NS_PER_MS)
}

/// The map with what its marks mean, for a short report; `None` without interactive tasks.
pub(super) fn short_map(results: &Results) -> Option<Table> {
    let Tasks { tasks, loads } = Tasks::new(results);
    (!tasks.is_empty()).then(|| map(&tasks, &loads).titled("", MARKS_MEANING))
}

/// The map of tasks and loads, a section per task, and what the columns show; nothing without
/// interactive tasks.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let Tasks { tasks, loads } = Tasks::new(results);
    if tasks.is_empty() {
        return Vec::new();
    }

    let map = map(&tasks, &loads).titled("Each task alongside each load", MARKS_MEANING);
    let mut blocks = vec![Block::section("Latency"), Block::Table(map)];
    for task in &tasks {
        blocks.push(Block::Section(format!("{}: {} in ms", task.title(), task.latency_name())));
        blocks.push(Block::Table(table_of_delays(task)));
        blocks.push(Block::Table(table_of_frames(task)));
        blocks.extend(list_rates(task, "Frames per second: ", describe_frame_rates));
        blocks.extend(list_rates(task, "Requests per second: ", describe_request_rate));
        blocks.push(Block::Table(table_of_notes(task)));
        blocks.push(charts(task, &loads, tasks.len()));
    }
    blocks.extend(holders::blocks(&tasks));

    blocks.extend([
        Block::fold("What the columns show"),
        Block::text(MAP_MEANING),
        Block::text(DELAYS_MEANING),
        Block::text(FRAMES_MEANING),
        Block::Text(Readers::PAGE, String::new(), CHARTS_MEANING.to_owned()),
        Block::notes(vec![NOT_INTERBENCH.to_owned()]),
    ]);
    blocks
}

fn table_of_delays(task: &Task<'_>) -> Table {
    let judged_percentiles = task.rows.iter().map(|row| row.latency.value);
    let highest = judged_percentiles.max_by_key(|name| position(name)).unwrap_or("p99");

    let mut table = load_column()
        .with(Column::number("Mean").wide(8), |row| statistic_field(row, Histogram::mean))
        .with(Column::number("Spread").wide(8), |row| statistic_field(row, Histogram::deviation))
        .with(Column::number("Max").wide(8), |row| statistic_field(row, Histogram::max))
        .and(percentile_columns(task, highest))
        .with(Column::number("±").wide(6), move |row| {
            // Of another percentile than that of the column before it, it would mislead.
            let is_of_column = row.latency.value == highest;
            if is_of_column { Field::Spread(row.figure.score) } else { Field::Missing }
        })
        .with(Column::number("Low").shown(Readers::PAGE), |row| finite_field(row.figure.score.low))
        .with(Column::number("High").shown(Readers::PAGE), |row| {
            finite_field(row.figure.score.high)
        })
        .with(Column::number("% CPU").narrow("%CPU").wide(6), |row| {
            share_field(row.latency.cpu_received)
        })
        .with(Column::number("% met").narrow("%Met").wide(6), |row| {
            share_field(row.latency.deadlines_met)
        })
        .with(Column::number("Load %").narrow("Load%").wide(6), |row| {
            let load = row.figure.load.as_ref();
            Field::maybe(load.map(|load| load.achieved), words::share)
        })
        .with(Column::words("Notes").shown(Readers::PAGE), |row| {
            Field::Marks(sentences(&row.figure.warnings))
        })
        .table(&task.rows)
        .shown(Readers::PEOPLE);
    table.headed = !task.rows.is_empty();
    for (kind, gap) in &task.gaps {
        table.add_gap(&gap.key.load, format!("{kind}: {}", gap.reason));
    }
    table
}

fn statistic_field(row: &TaskRow<'_>, ns: fn(&Histogram) -> f64) -> Field {
    Field::maybe(in_ms(row.latency, ns), words::figure)
}

fn share_field(share: Option<Estimate>) -> Field {
    Field::maybe(share.map(|share| share.value), words::share)
}

/// A latency, or [`Field::Missing`] where it is not finite.
fn finite_field(ms: f64) -> Field {
    Field::maybe(Some(ms).filter(|ms| ms.is_finite()), words::figure)
}

fn load_column<'a>() -> Columns<'a, TaskRow<'a>> {
    Columns::new().with(Column::words("Load").wide(16), |row: &TaskRow<'_>| Field::text(row.load()))
}

/// The columns of percentiles: at a terminal the median and the `highest` that is judged, on pages
/// all that a row has.
fn percentile_columns<'a>(task: &Task<'_>, highest: &str) -> Columns<'a, TaskRow<'a>> {
    let mut columns = Columns::new();
    for (_, name) in PERCENTILES {
        let is_judged = task.rows.iter().any(|row| row.latency.value == name);
        let is_known =
            is_judged || task.rows.iter().any(|row| row.latency.percentile(name).is_some());
        let is_for_terminal = name == "p50" || name == highest;
        let readers = match (is_for_terminal, is_known) {
            (true, true) => Readers::PEOPLE,
            (true, false) => Readers::TERMINAL,
            (false, true) => Readers::PAGE,
            (false, false) => continue,
        };

        let column = Column::number(name).wide(8).shown(readers);
        let column = if is_judged { column.main() } else { column };
        columns = columns.with(column, move |row: &TaskRow<'_>| {
            // What is judged is the score itself.
            match row.latency.value == name {
                true => finite_field(row.figure.score.value),
                false => Field::maybe(row.latency.percentile(name), words::figure),
            }
        });
    }
    columns
}

/// The place of a percentile among all that are reported.
fn position(percentile: &str) -> Option<usize> {
    PERCENTILES.iter().position(|(_, name)| *name == percentile)
}

fn table_of_frames(task: &Task<'_>) -> Table {
    load_column()
        .with(Column::number("Trials").shown(Readers::PAGE), |row| {
            Field::Count(row.figure.n as u64)
        })
        .with(Column::number("Planned").shown(Readers::PAGE), |row| {
            Field::Count(row.latency.planned)
        })
        .with(Column::number("% late").narrow("%Late").wide(7), |row| {
            Field::Number(row.latency.late, words::share)
        })
        .with(Column::number("% drop").narrow("%Drop").wide(7), |row| {
            Field::Number(row.latency.dropped, words::share)
        })
        .with(Column::number("Stall").wide(8), |row| {
            Field::Number(row.latency.stall, words::figure)
        })
        .with(Column::number("Jitter").wide(8), |row| {
            highest_percentile_field(row, &row.latency.jitter)
        })
        .with(Column::number("Done").wide(8), |row| {
            highest_percentile_field(row, &row.latency.response)
        })
        .with(Column::number("Completed").wide(10), |row| {
            highest_percentile_field(row, &row.latency.came)
        })
        .with(Column::number("Queued").wide(8), |row| {
            Field::maybe(row.latency.attribution.runqueue_wait_ms, words::figure)
        })
        .with(Column::number("Steal").wide(8), |row| {
            Field::maybe(row.latency.attribution.steal_ms, words::figure)
        })
        .with(Column::number("Load throughput").shown(Readers::PAGE), |row| {
            let load = row.figure.load.as_ref();
            load.map_or(Field::Missing, |load| Field::Text(loads::throughput(load)))
        })
        .table(&task.rows)
        .shown(Readers::PEOPLE)
}

/// The highest percentile that a histogram supports, in ms.
fn highest_percentile_field(row: &TaskRow<'_>, histogram: &Histogram) -> Field {
    let highest = row.latency.percentiles(histogram).last();
    Field::maybe(highest.map(|(_, ms)| ms), words::figure)
}

/// Footnotes, which have no room behind the rows in 80 columns.
fn table_of_notes(task: &Task<'_>) -> Table {
    let with_notes = task.rows.iter().filter(|row| !row.figure.warnings.is_empty());
    Columns::new()
        .with(Column::words("Notes"), |row: &TaskRow<'_>| Field::text(row.load()))
        .with(Column::words(""), |row| Field::Marks(sentences(&row.figure.warnings)))
        .table(with_notes)
        .shown(Readers::TERMINAL)
}

/// The rates of a task's rows after `lead`, as `describe` says them; nothing if no row has one.
fn list_rates(
    task: &Task<'_>,
    lead: &str,
    describe: fn(&TaskRow<'_>) -> Option<String>,
) -> Option<Block> {
    let rates: Vec<String> = task.rows.iter().filter_map(describe).collect();
    if rates.is_empty() {
        return None;
    }
    Some(Block::Text(Readers::PEOPLE, lead.to_owned(), rates.join("; ")))
}

/// The frames per second of a game.
fn describe_frame_rates(row: &TaskRow<'_>) -> Option<String> {
    let rates = row.latency.rates?;
    let [all, low_1, low_01] = [Some(rates.all), rates.low_1, rates.low_01]
        .map(|rate| words::whole(rate.unwrap_or(f64::NAN)));
    let load = describe_load(row.load());
    Some(format!("{load} {all}, 1 % low {low_1}, 0.1 % low {low_01}"))
}

/// The requests per second of a server, and how long they took.
fn describe_request_rate(row: &TaskRow<'_>) -> Option<String> {
    let answered = row.latency.requests?.answered;
    let mut times = Vec::new();
    for (name, ms) in row.latency.percentiles(&row.latency.response) {
        if ["p50", "p99"].contains(&name) {
            times.push(format!("{} ms ({name})", figure(ms)));
        }
    }

    let load = describe_load(row.load());
    let (rate, spread) = (words::whole(answered.value), plus_minus(answered.halves()));
    Some(format!("{load} {rate} {spread}, answered in {}", times.join(" to ")))
}

/// Percentiles, and latencies over the run; `task_count` limits the points of each.
fn charts(task: &Task<'_>, loads: &[&str], task_count: usize) -> Block {
    let mut chart = Chart::default();
    for (number, load) in loads.iter().enumerate() {
        if task.row_under(load).is_some() {
            chart.legend.push((key(number), (*load).to_owned()));
        }
    }

    chart.panels.extend(percentile_panel(task, loads));
    let over_time = OverTime { task, loads, task_count };
    chart.panels.extend(over_time.draw("Worst of each second, ms", worst_of_each_second));
    chart.panels.extend(over_time.draw("Each trial, ms", score_of_each_trial));
    Block::Chart(chart)
}

fn percentile_panel(task: &Task<'_>, loads: &[&str]) -> Option<(String, Drawings)> {
    let mut curves = Vec::new();
    for row in &task.rows {
        let (series, name) = (series_of_load(loads, row.load()), describe_load(row.load()));
        curves.extend(curve(series, &name, &row.latency.histogram, &PERCENTILES));
    }
    let label =
        format!("{}: the {}, percentiles alongside each load", task.title(), task.latency_name());
    let plot = plot_curves(label, curves)?;
    Some(("Percentiles, ms".to_owned(), plot.panel(HEIGHT_PX)))
}

/// Seconds and ms of a row.
type ReadPoints = fn(&Figure, &Latency) -> Vec<(f64, f64)>;

fn worst_of_each_second(_: &Figure, latency: &Latency) -> Vec<(f64, f64)> {
    latency.seconds.clone()
}

fn score_of_each_trial(figure: &Figure, _: &Latency) -> Vec<(f64, f64)> {
    figure.samples.iter().map(|sample| (sample.at, sample.value)).collect()
}

/// The panels of a task over the time of the run.
struct OverTime<'a> {
    task: &'a Task<'a>,
    loads: &'a [&'a str],
    /// The tasks of the page, among which its points and hover texts are shared.
    task_count: usize,
}

impl OverTime<'_> {
    /// The panel of the points that `read` finds; `None` without a point.
    fn draw(&self, title: &str, read: ReadPoints) -> Option<(String, Drawings)> {
        let Self { task, loads, task_count } = *self;
        let chart_points = (MAX_PAGE_POINTS / task_count).min(MAX_CHART_POINTS);
        // A task whose cells all failed has no row.
        let max_points = (chart_points / task.rows.len().max(1)).max(MIN_SERIES_POINTS);

        let (mut all, mut series) = (0, Vec::new());
        for row in &task.rows {
            let mut points = read(row.figure, row.latency);
            points.retain(|(at, ms)| at.is_finite() && ms.is_finite() && *ms > 0.0);
            all += points.len();
            let number = series_of_load(loads, row.load());
            let kept = keep_highest(&points, max_points);
            series.push(series_over_time(number, &describe_load(row.load()), kept));
        }

        let points: Vec<(f64, f64)> =
            series.iter().flat_map(|series| &series.marks).map(|mark| mark.at).collect();
        let values: Vec<f64> = points.iter().map(|point| point.1).collect();
        let end = points.iter().map(|point| point.0).fold(0.0, f64::max);
        let plot = Plot {
            label: format!("{}: the {}: {title}", task.title(), task.latency_name()),
            x: Axis::time(end),
            y: Axis::new(Scale::log(&values, &[])?),
            series,
            hovers: Some((MAX_PAGE_HOVERS / task_count).min(MAX_CHART_HOVERS)),
            ..Plot::default()
        };

        let shown = points.len();
        let title = match shown < all {
            true => format!("{title} (the worst {shown} of {all})"),
            false => title.to_owned(),
        };
        Some((title, plot.panel(HEIGHT_PX)))
    }
}

/// The line of a load over the run: points of seconds and ms.
fn series_over_time(number: usize, name: &str, points: Vec<(f64, f64)>) -> Series {
    let mut marks = Vec::new();
    for (at, ms) in points {
        let title = format!("{name}, {}: {} ms", words::duration(at), figure(ms));
        marks.push(Mark { at: (at, ms), title, ..Mark::default() });
    }
    Series { number, title: name.to_owned(), marks, ..Series::default() }
}

/// A row per task, a column per load, coloured by how much later the task is than without a load.
fn map(tasks: &[Task<'_>], loads: &[&str]) -> Table {
    let mut columns =
        Columns::new().with(Column::words("Task"), |task: &Task<'_>| Field::Text(task.title()));
    for load in loads {
        columns = columns.with(Column::words(load), |task| match task.row_under(load) {
            Some(row) => map_field(task, row),
            None => gap_field(task, load),
        });
    }
    columns.table(tasks).shown(Readers::PEOPLE)
}

/// Why a task has no result under a load; nothing if it was not measured there.
fn gap_field(task: &Task<'_>, load: &str) -> Field {
    let Some((kind, gap)) = task.gaps.iter().find(|(_, gap)| gap.key.load == load) else {
        return Field::Nothing;
    };
    let more = format!("{}, {}: {kind}: {}", task.title(), describe_load(load), gap.reason);
    Field::Toned(Box::new(Field::text(*kind)), Tone::GAP, more)
}

/// The latency of a task under a load, with a step for how much later it is than the quiet one.
fn map_field(task: &Task<'_>, row: TaskRow<'_>) -> Field {
    let score = row.figure.score;
    if !score.value.is_finite() {
        return Field::text("no frame");
    }

    let (percentile, ms) = (row.latency.value, figure(score.value));
    let mut text = ms.clone();
    if percentile != MAP_PERCENTILE {
        text += &format!(" {percentile}");
    }
    let mut more = format!(
        "{}, {}: {percentile} {ms} ms {}",
        task.title(),
        describe_load(row.load()),
        plus_minus(score.halves())
    );

    let mut step = 0;
    if let Some(later) = task.quiet_row().and_then(|quiet| Later::new(row, quiet)) {
        step = later.step();
        more += &format!("\n{} times the quiet {}", figure(later.times), later.percentile);
        if later.may_be_chance && step > 0 {
            text += " ?";
            more += ", which may be chance";
        }
    }
    if let Some(met) = row.latency.deadlines_met {
        more += &format!("\n{} % of deadlines met", share(met.value));
    }

    let narrow = format!("{text} {}", "!".repeat(step)).trim_end().to_owned();
    // A step fits, since there are six.
    let tone = Tone(-(step as i8));
    Field::Toned(Box::new(Field::Text(text).narrow(narrow)), tone, more)
}

/// A latency compared with the quiet one.
struct Later {
    times: f64,
    /// The higher of the percentiles that both support.
    percentile: &'static str,
    /// True if both support the same percentile, and the interval of the quotient contains 1 or has
    /// no end.
    may_be_chance: bool,
}

impl Later {
    /// `None` without a frame.
    fn new(row: TaskRow<'_>, quiet: TaskRow<'_>) -> Option<Later> {
        let common = position(row.latency.value).min(position(quiet.latency.value));
        let (share, percentile) = PERCENTILES[common.unwrap_or(0)];
        // At least 1 ns, since the quiet latency may be 0.
        let quiet_ns = quiet.latency.histogram.quantile(share).max(1.0);
        let times = row.latency.histogram.quantile(share) / quiet_ns;
        if !row.has_frames() || !times.is_finite() {
            return None;
        }

        let quotient = row.figure.score.over(&quiet.figure.score);
        let excludes_1 = quotient.bounded() && !(quotient.low..=quotient.high).contains(&1.0);
        let have_same_percentile = row.latency.value == quiet.latency.value;
        Some(Later { times, percentile, may_be_chance: have_same_percentile && !excludes_1 })
    }

    /// 0 is hardly later than the quiet latency, 5 more than a hundred times.
    fn step(&self) -> usize {
        STEP_ENDS.iter().position(|end| self.times <= *end).unwrap_or(STEP_ENDS.len())
    }
}
