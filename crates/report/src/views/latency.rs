//! Interactive tasks: how late they are beside each load. People see a table per task with a row per load, as
//! Interbench has it.

use analysis::{Figure, Latency, PERCENTILES, Results};
use serde_json::{Value, json};
use stats::{Estimate, Histogram};
use words::{figure, plus_minus, share};

use super::shared::sentences;
use super::tasks::{Beside, Task, beside, series, tasks};
use crate::charts::plot::{Axis, Mark, Plot, Series, highest};
use crate::charts::{key, percentiles, scale::Scale};
use crate::document::{Block, Chart, Column, Columns, Field, Readers, Table, Tone};
use maud::Markup;

/// ns in a ms, the unit of every latency.
const MS: f64 = 1e6;

/// The multiples of the quiet latency at which the map's steps end; the sixth has no end.
const STEPS: [f64; 5] = [1.5, 3.0, 10.0, 30.0, 100.0];

/// Most points over time, of a chart and of all charts of one kind.
const CHART: usize = 600;
const PAGE: usize = 6_000;

/// Most points over time that have a hover text each, of a chart and of all charts of one kind.
const HOVER_CHART: usize = 240;
const HOVER_PAGE: usize = 1_500;

/// Height of a chart.
const HEIGHT: f64 = 250.0;

const NOT_INTERBENCH: &str = "Interbench's figures are not comparable with these: its latency adds whole missed \
intervals to wake-up delays and leaves out the timer's own delay, its spread is a root mean square, its X task hides \
most delays, and its shares count the bursts that ran, not the bursts that were planned.";

const MAP: &str = "Latency in ms at p99, or at the highest percentile that the frames support, which is then named. \
The colour (at a terminal the number of !) shows how many times later this is than without a load (or, if that was not measured, than under the load \
that disturbs least), at the highest percentile that both support; the steps are up to 1.5, 3, 10, 30 and 100 times, \
and more. A question mark means that the interval of this ratio contains 1 or has no end; where the \
two support different percentiles, the ratio has no interval and no mark.";

const COLUMNS: &str = "Mean, Spread (standard deviation), Max and the percentiles describe the latency in ms, and \
count a dropped frame as if it had waited; ± belongs to the p99, or to the highest percentile that the frames support \
(a note says which). % CPU: work done as a share of the work planned. % met: frames finished by their deadline. Load \
%: the load's throughput as a share of what it does alone. A task is called smooth if it met at least 99 % of its \
deadlines, and had at least 300: fewer would not show that one in a hundred is missed.";

const FRAMES: &str = "% late: frames finished after the deadline; % drop: frames never finished; Stall: the longest \
delay, ms. Jitter: change from frame to frame; Done: time from planned to done; Completed: latency without the dropped \
frames; each in ms at the highest percentile it supports. Queued, Steal: ms per second spent ready but without a \
processor, or taken by the hypervisor.";

const CHARTS: &str = "All scales of ms are logarithmic, and lower is better. A curve is solid where enough frames \
support it, with marks at p50, p90, p95, p99 and p99.9, and dashed from there to the longest, a hollow mark. A second \
in which no frame was done has no mark. A trial's mark is its own percentile.";

/// Returns what programs have of a latency: times in ms, shares in per cent.
pub(super) fn data(latency: &Latency) -> Value {
    let of = |value: fn(&Histogram) -> f64| ms(latency, value);
    let percentiles = |histogram: &Histogram| latency.percentiles(histogram).collect::<Value>();
    let mut object = json!({
        "latency": latency.kind, "value_is": latency.value, "frames": latency.came.count(),
        "planned": latency.planned, "mean": of(Histogram::mean), "deviation": of(Histogram::deviation),
        "min": of(Histogram::min), "max": of(Histogram::max), "percentiles": percentiles(&latency.histogram),
        "came": percentiles(&latency.came), "response": percentiles(&latency.response),
        "jitter": percentiles(&latency.jitter),
    });
    for (key, share) in [("deadlines_met", latency.deadlines_met), ("cpu_received", latency.cpu_received)] {
        object[key] = json!(share.map(|share| share.value));
        if let Some(Estimate { low, high, .. }) = share {
            (object[format!("{key}_low")], object[format!("{key}_high")]) = (json!(low), json!(high));
        }
    }
    let rates = latency.rates.map_or(Value::Null, |rates| json!({"frames_per_second": rates}));
    let requests = latency.requests.map_or(Value::Null, |requests| json!({"requests": requests}));
    let holders = latency.holders.as_ref().map_or(Value::Null, |holders| json!({"holders": holders}));
    let others = json!({
        "attribution": latency.attribution, "over_time": latency.seconds, "worst": latency.worst,
        "trials": latency.trials, "histogram": latency.histogram,
    });
    let late = json!({"late": latency.late, "dropped": latency.dropped, "stall": latency.stall});
    let parts = [object, late, rates, requests, holders, others];
    parts.iter().filter_map(Value::as_object).flatten().map(|(key, value)| (key.as_str(), value.clone())).collect()
}

/// `None` without a frame.
fn ms(latency: &Latency, ns: fn(&Histogram) -> f64) -> Option<f64> {
    (latency.histogram.count() > 0).then(|| ns(&latency.histogram) / MS)
}

/// Returns the map of tasks and loads, a section per task, and what the columns show; nothing without interactive
/// tasks.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let (tasks, loads) = tasks(results);
    if tasks.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Section("Latency".to_owned()), Block::Table(map(&tasks, &loads))];
    for task in &tasks {
        let title = format!("{}: {} in ms", task.title(), task.latency_name());
        blocks.extend([Block::Section(title), Block::Table(delays(task))]);
        blocks.push(Block::Table(frames(task)));
        blocks.extend(rates(task));
        blocks.extend(requests(task));
        blocks.extend([Block::Table(marks(task)), charts(task, &loads, tasks.len())]);
    }
    blocks.extend(super::holders::blocks(&tasks));
    blocks.extend([Block::section("What the columns show"), Block::text(COLUMNS), Block::text(FRAMES)]);
    blocks.push(Block::Text(Readers::PAGE, String::new(), CHARTS.to_owned()));
    blocks.push(Block::notes(vec![NOT_INTERBENCH.to_owned()]));
    blocks
}

fn delays(task: &Task<'_>) -> Table {
    let highest = task.rows.iter().map(|(_, latency)| latency.value).max_by_key(|name| position(name)).unwrap_or("p99");
    let of = |latency: &Latency, value: fn(&Histogram) -> f64| Field::maybe(ms(latency, value), words::figure);
    let share = |estimate: Option<Estimate>| Field::maybe(estimate.map(|estimate| estimate.value), words::share);
    let mut table = of_load()
        .with(Column::number("Mean").wide(8), move |(_, latency)| of(latency, Histogram::mean))
        .with(Column::number("Spread").wide(8), move |(_, latency)| of(latency, Histogram::deviation))
        .with(Column::number("Max").wide(8), move |(_, latency)| of(latency, Histogram::max))
        .and(of_percentiles(task, highest))
        .with(Column::number("±").wide(6), move |(row, latency)| {
            // Of another percentile than the one that stands before it, it would mislead.
            if latency.value == highest { Field::Spread(row.score) } else { Field::Missing }
        })
        .with(Column::number("Low").shown(Readers::PAGE), |(row, _)| finite(row.score.low))
        .with(Column::number("High").shown(Readers::PAGE), |(row, _)| finite(row.score.high))
        .with(Column::number("% CPU").narrow("%CPU").wide(6), move |(_, latency)| share(latency.cpu_received))
        .with(Column::number("% met").narrow("%Met").wide(6), move |(_, latency)| share(latency.deadlines_met))
        .with(Column::number("Load %").narrow("Load%").wide(6), |(row, _)| {
            Field::maybe(row.load.as_ref().map(|load| load.achieved), words::share)
        })
        .with(Column::words("Notes").shown(Readers::PAGE), |(row, _)| Field::Marks(sentences(&row.warnings)))
        .table(&task.rows)
        .shown(Readers::PEOPLE);
    table.headed = !task.rows.is_empty();
    for (kind, gap) in &task.gaps {
        table.add_gap(&gap.key.load, format!("{kind}: {}", gap.reason));
    }
    table
}

fn of_load<'a>() -> Columns<'a, Beside<'a>> {
    Columns::new().with(Column::words("Load").wide(16), |(row, _): &Beside<'_>| Field::text(&row.cell.key.load))
}

/// Returns the columns of percentiles: at a terminal the median and the one that is judged, on pages all that a row
/// has.
fn of_percentiles<'a>(task: &Task<'_>, highest: &str) -> Columns<'a, Beside<'a>> {
    let mut columns = Columns::new();
    for (_, name) in PERCENTILES {
        let is_judged = task.rows.iter().any(|(_, latency)| latency.value == name);
        let is_known = is_judged || task.rows.iter().any(|(_, latency)| latency.percentile(name).is_some());
        let readers = match (name == "p50" || name == highest, is_known) {
            (true, true) => Readers::PEOPLE,
            (true, false) => Readers::TERMINAL,
            (false, true) => Readers::PAGE,
            (false, false) => continue,
        };
        let column = Column::number(name).wide(8).shown(readers);
        let column = if is_judged { column.main() } else { column };
        columns = columns.with(column, move |(row, latency): &Beside<'_>| match latency.value == name {
            true => finite(row.score.value),
            false => Field::maybe(latency.percentile(name), words::figure),
        });
    }
    columns
}

/// Returns a score, or [`Field::Missing`] where it is not finite.
fn finite(score: f64) -> Field {
    Field::maybe(Some(score).filter(|score| score.is_finite()), words::figure)
}

/// Returns the place of a percentile among all that are reported.
fn position(percentile: &str) -> Option<usize> {
    PERCENTILES.iter().position(|known| known.1 == percentile)
}

fn frames(task: &Task<'_>) -> Table {
    let highest = |latency: &Latency, histogram: &Histogram| {
        Field::maybe(latency.percentiles(histogram).last().map(|(_, ms)| ms), words::figure)
    };
    of_load()
        .with(Column::number("Trials").shown(Readers::PAGE), |(row, _)| Field::Count(row.n as u64))
        .with(Column::number("Planned").shown(Readers::PAGE), |(_, latency)| Field::Count(latency.planned))
        .with(Column::number("% late").narrow("%Late").wide(7), |(_, l)| Field::Number(l.late, words::share))
        .with(Column::number("% drop").narrow("%Drop").wide(7), |(_, l)| Field::Number(l.dropped, words::share))
        .with(Column::number("Stall").wide(8), |(_, latency)| Field::Number(latency.stall, words::figure))
        .with(Column::number("Jitter").wide(8), move |(_, latency)| highest(latency, &latency.jitter))
        .with(Column::number("Done").wide(8), move |(_, latency)| highest(latency, &latency.response))
        .with(Column::number("Completed").wide(10), move |(_, latency)| highest(latency, &latency.came))
        .with(Column::number("Queued").wide(8), |(_, latency)| {
            Field::maybe(latency.attribution.runqueue_wait_ms, words::figure)
        })
        .with(Column::number("Steal").wide(8), |(_, latency)| Field::maybe(latency.attribution.steal_ms, words::figure))
        .with(Column::number("Load throughput").shown(Readers::PAGE), |(row, _)| {
            row.load.as_ref().map_or(Field::Missing, |load| Field::Text(super::loads::throughput(load)))
        })
        .table(&task.rows)
        .shown(Readers::PEOPLE)
}

/// Footnotes, which have no room beside the rows in 80 columns.
fn marks(task: &Task<'_>) -> Table {
    let rows = task.rows.iter().filter(|(row, _)| !row.warnings.is_empty());
    let load = |(row, _): &Beside<'_>| Field::text(&row.cell.key.load);
    let marks = |(row, _): &Beside<'_>| Field::Marks(sentences(&row.warnings));
    let columns = Columns::new().with(Column::words("Notes"), load).with(Column::words(""), marks);
    columns.table(rows).shown(Readers::TERMINAL)
}

/// The frames per second of a game.
fn rates(task: &Task<'_>) -> Option<Block> {
    let words = |(row, latency): &Beside<'_>| {
        let rates = latency.rates?;
        let [all, low_1, low_01] =
            [Some(rates.all), rates.low_1, rates.low_01].map(|rate| words::whole(rate.unwrap_or(f64::NAN)));
        Some(format!("{} {all}, 1 % low {low_1}, 0.1 % low {low_01}", beside(&row.cell.key.load)))
    };
    let rates: Vec<String> = task.rows.iter().filter_map(words).collect();
    (!rates.is_empty()).then(|| Block::Text(Readers::PEOPLE, "Frames per second: ".to_owned(), rates.join("; ")))
}

/// The requests per second of a server, and how long they took.
fn requests(task: &Task<'_>) -> Option<Block> {
    let words = |(row, latency): &Beside<'_>| {
        let answered = latency.requests?.answered;
        let times = latency.percentiles(&latency.response).filter(|(name, _)| ["p50", "p99"].contains(name));
        let times: Vec<String> = times.map(|(name, ms)| format!("{} ms ({name})", figure(ms))).collect();
        let [load, rate] = [beside(&row.cell.key.load), words::whole(answered.value)];
        Some(format!("{load} {rate} {}, answered in {}", plus_minus(answered.halves()), times.join(" to ")))
    };
    let each: Vec<String> = task.rows.iter().filter_map(words).collect();
    (!each.is_empty()).then(|| Block::Text(Readers::PEOPLE, "Requests per second: ".to_owned(), each.join("; ")))
}

/// Seconds and ms.
type Points = fn(&Figure, &Latency) -> Vec<(f64, f64)>;

/// Percentiles, and latencies over the run.
fn charts(task: &Task<'_>, loads: &[&str], tasks: usize) -> Block {
    let curve = |(row, latency): &Beside<'_>| {
        let load = &row.cell.key.load;
        percentiles::curve(series(loads, load), &beside(load), &latency.histogram, &PERCENTILES)
    };
    let label = format!("{}: the {}, percentiles alongside each load", task.title(), task.latency_name());
    let curves = percentiles::plot(label, task.rows.iter().map(curve));
    let curves = curves.map(|plot| ("Percentiles, ms".to_owned(), plot.panel(HEIGHT)));
    let kinds: [(&str, Points); 2] = [
        ("Worst of each second, ms", |_, latency| latency.seconds.clone()),
        ("Each trial, ms", |row, _| row.samples.iter().map(|sample| (sample.at, sample.value)).collect()),
    ];
    let over_time = kinds.into_iter().filter_map(|(title, points)| panel(task, loads, tasks, title, points));
    let shown = loads.iter().enumerate().filter(|(_, load)| task.under(load).is_some());
    let legend = shown.map(|(number, load)| (key(number), (*load).to_owned())).collect();
    Block::Chart(Chart { legend, panels: curves.into_iter().chain(over_time).collect(), ..Chart::default() })
}

/// Returns the panel of points over the run, with fewer of each task where there are many; `None` without a point.
fn panel(task: &Task<'_>, loads: &[&str], tasks: usize, title: &str, points: Points) -> Option<(String, Markup)> {
    let mut all = 0;
    let under_load = |(row, latency): &Beside<'_>| {
        let mut points = points(row, latency);
        points.retain(|(at, ms)| at.is_finite() && ms.is_finite() && *ms > 0.0);
        all += points.len();
        let points = highest(&points, ((PAGE / tasks).min(CHART) / task.rows.len()).max(2));
        over_time(series(loads, &row.cell.key.load), beside(&row.cell.key.load), points)
    };
    let series: Vec<Series> = task.rows.iter().map(under_load).collect();
    let marks = || series.iter().flat_map(|series| &series.marks);
    let (shown, end) = (marks().count(), marks().map(|mark| mark.at.0).fold(0.0, f64::max));
    let values: Vec<f64> = marks().map(|mark| mark.at.1).collect();
    let plot = Plot {
        label: format!("{}: the {}: {title}", task.title(), task.latency_name()),
        x: Axis::time(end),
        y: Axis::new(Scale::log(&values, &[])?),
        series,
        hovers: Some((HOVER_PAGE / tasks).min(HOVER_CHART)),
        ..Plot::default()
    };
    let less = if shown < all { format!(" (the worst {shown} of {all})") } else { String::new() };
    Some((format!("{title}{less}"), plot.panel(HEIGHT)))
}

fn over_time(number: usize, name: String, points: Vec<(f64, f64)>) -> Series {
    let title = |(at, ms): (f64, f64)| format!("{name}, {}: {} ms", words::duration(at), figure(ms));
    let mark = |at: (f64, f64)| Mark { at, title: title(at), ..Mark::default() };
    Series { number, marks: points.into_iter().map(mark).collect(), title: name.clone(), ..Series::default() }
}

/// The map: a row per task, a column per load, coloured by how much later the task is than without a load.
fn map(tasks: &[Task<'_>], loads: &[&str]) -> Table {
    let mut columns = Columns::new().with(Column::words("Task"), |task: &Task<'_>| Field::Text(task.title()));
    for load in loads {
        columns = columns.with(Column::words(load), |task| {
            let gap = || task.gaps.iter().find(|(_, gap)| gap.key.load == *load);
            match task.under(load) {
                Some(row) => spot(task, row),
                None => gap().map_or(Field::Nothing, |(kind, gap)| {
                    let more = format!("{}, {}: {kind}: {}", task.title(), beside(load), gap.reason);
                    Field::Toned(Box::new(Field::text(*kind)), Tone::GAP, more)
                }),
            }
        });
    }
    columns.table(tasks).shown(Readers::PEOPLE).titled("Each task alongside each load", MAP)
}

fn spot(task: &Task<'_>, (row, latency): Beside<'_>) -> Field {
    if !row.score.value.is_finite() {
        return Field::text("no frame");
    }
    let mut text = figure(row.score.value);
    if latency.value != "p99" {
        text += &format!(" {}", latency.value);
    }
    let mut more = format!("{}, {}: {}", task.title(), beside(&row.cell.key.load), latency.value);
    more += &format!(" {} ms {}", figure(row.score.value), plus_minus(row.score.halves()));
    let later = task.quiet().and_then(|quiet| later((row, latency), quiet));
    let step =
        later.as_ref().map_or(0, |later| STEPS.iter().position(|most| later.times <= *most).unwrap_or(STEPS.len()));
    if let Some(later) = later {
        more += &format!("\n{} times the quiet {}", figure(later.times), later.name);
        if later.doubt && step > 0 {
            text += " ?";
            more += ", which may be chance";
        }
    }
    if let Some(met) = latency.deadlines_met {
        more += &format!("\n{} % of deadlines met", share(met.value));
    }
    // There are six steps.
    let narrow = format!("{text} {}", "!".repeat(step)).trim_end().to_owned();
    Field::Toned(Box::new(Field::Text(text).narrow(narrow)), Tone(-(step as i8)), more)
}

/// A latency compared with the quiet one.
struct Later {
    times: f64,
    /// The higher of the percentiles that both carry.
    name: &'static str,
    /// True if both carry the same percentile, and the interval of the quotient contains 1 or has no end.
    doubt: bool,
}

fn later((row, latency): Beside<'_>, (other, quiet): Beside<'_>) -> Option<Later> {
    let (share, name) = PERCENTILES[position(latency.value).min(position(quiet.value)).unwrap_or(0)];
    let times = latency.histogram.quantile(share) / quiet.histogram.quantile(share).max(1.0);
    let quotient = row.score.over(&other.score);
    let apart = quotient.bounded() && !(quotient.low..=quotient.high).contains(&1.0);
    let doubt = latency.value == quiet.value && !apart;
    (latency.histogram.count() > 0 && times.is_finite()).then_some(Later { times, name, doubt })
}
