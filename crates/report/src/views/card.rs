//! A machine on a card: what it is, what it scores, and how far that can be believed. For a forum,
//! a page, a program.

use analysis::{Results, UNIXBENCH_INDEX};
use journal::Severity;
use serde_json::{Value, json};
use stats::{Estimate, Histogram};

use super::scores::{by_whom, describe_run_before};
use super::shared::to_post;
use super::standing;
use crate::document::{Block, Column, Columns, Document, Field, Pair, Pairs, Readers};

/// The version of the card's keys: docs/card.schema.json.
const FORMAT: &str = "unixmark-card/1";

/// Blocks of the disk's mix: the test's name after `disk-mix-`, what it is called, and its bytes.
const BLOCKS: [(&str, &str, f64); 4] = [
    ("4k", "4 KiB", 4096.0),
    ("64k", "64 KiB", 65_536.0),
    ("512k", "512 KiB", 524_288.0),
    ("1m", "1 MiB", 1_048_576.0),
];

/// The tests of the memory, and that of wake-ups.
const MEMORY: [&str; 2] = ["copy-ram", "latency-ram"];
const WAKE_UP: &str = "cyclic";

/// Shares of disturbed trials: from the first on a machine is not stable; up to the second it is.
const MIN_UNSTABLE_SHARE: f64 = 0.25;
const MAX_STABLE_SHARE: f64 = 0.05;

/// A figure at one copy and at all of them.
struct Line<'a> {
    label: String,
    unit: &'a str,
    one: Option<Estimate>,
    quiet_one: Option<Estimate>,
    all: Option<Estimate>,
    quiet_all: Option<Estimate>,
}

/// A row of the disk's table: operations per second on blocks of one size.
struct DiskRow {
    block: &'static str,
    read: Option<Estimate>,
    write: Option<Estimate>,
    mixed: Option<Estimate>,
    bytes: f64,
}

/// The card of a run.
pub fn card(results: &Results) -> Document {
    let run = &results.run;
    let day = run.started.get(..10).unwrap_or_default();
    let kind = [&run.tool, day].map(str::trim).join(", ");
    let mut document = Document::new(FORMAT, &kind, &run.host, &["scores", "disk"]);
    document.run.clone_from(&run.name);
    document.question = match run.comment.is_empty() {
        true => format!("What {} can do", run.host),
        false => run.comment.clone(),
    };
    document.about = [&*results.facts.machine(), day, &*run.name].join(" · ");

    document.extend([Block::Lead(vec![verdict(results)])]);
    document.extend(standing::chart(results));
    document.extend([system(results)]);
    document.table(
        scores(results)
            .titled("Scores", "with 95 % intervals; undisturbed: an estimate without disturbances"),
    );
    document.table(disk(results).titled(
        "Disk",
        "random blocks of a 256 MiB file, 64 in flight, bypassing the page cache; MB/s",
    ));

    let wake_up = results.figures.iter().find(|row| row.cell.key.test == WAKE_UP);
    let wake_up = wake_up.and_then(|row| row.latency.as_ref()).map(|latency| &latency.histogram);
    let text = |lead: &str, text: String| Block::Text(Readers::PEOPLE, format!("{lead}: "), text);
    document.extend(wake_up.map(|histogram| text("Wake-ups", wake_up_sentence(histogram))));
    document.extend(standing::lines(results));
    let name = words::shell(std::slice::from_ref(&run.name));
    document
        .extend(results.before.as_ref().map(|before| text("Earlier", describe_run_before(before))));
    document.extend([
        text("Disturbances", disturbances(results)),
        text("Another machine", format!("unixmark compare {name} ITS-CARD")),
        text("Every figure", format!("unixmark report --long {name}")),
        Block::Data("run", json!(run.name)),
        Block::Data("started", json!(run.started)),
        Block::Data("cpus", json!(run.cpus)),
        Block::Data("wake_up_ms", wake_up.map_or(Value::Null, wake_up_data)),
        Block::Data("steal", json!(results.steal)),
        Block::Data("neighbours", json!(results.neighbours)),
        Block::Data("findings", json!(run.findings)),
        Block::Data("references", json!(results.references)),
        Block::Data("verdict", json!(verdict(results))),
    ]);
    document.extend(to_post(&[run], &format!("unixmark report {name}")));
    document
}

/// The system in one block.
fn system(results: &Results) -> Block {
    let pair = |title: &str, key: &str, value: String| {
        let [key, label, narrow] = [key, title, title].map(str::to_owned);
        Pair { key, label, narrow, value, ..Pair::default() }
    };
    let facts =
        results.facts.heading().map(|(title, fact)| pair(title, &fact.name, fact.value.clone()));
    let mut items: Vec<Pair> = facts.collect();
    // More processors are shown above than the machine could use.
    let limits = [("Usable", "limits.cpus"), ("CPU quota", "limits.cgroup.cpu")];
    let limits = limits.into_iter().filter_map(|(title, name)| {
        let fact = results.facts.get(name)?;
        let is_less = fact.quantity.as_ref()?.number < results.run.cpus as f64;
        is_less.then(|| pair(title, name, fact.value.clone()))
    });
    items.extend(limits);
    let build = results.run.build.as_ref();
    items.extend(build.map(|build| {
        pair("Programs", "build", format!("{} build, {}", build.name, build.compiler))
    }));
    Block::Pairs(Pairs { key: "system", title: String::new(), items })
}

fn scores(results: &Results) -> crate::document::Table {
    let levels = results.levels();
    let most = levels.last().copied().unwrap_or(1);
    let memory = MEMORY.iter().filter_map(|test| memory(results, test, most));
    let lines: Vec<Line> =
        index(results, most).into_iter().chain(memory).chain(power(results, most)).collect();
    let estimate = |value: Option<Estimate>| Field::estimate(value, words::score);
    let all = words::copies(most);
    Columns::new()
        .with(Column::words("Test").keyed("test"), |line: &Line| Field::text(&line.label))
        .with(Column::words("Unit").keyed("unit"), |line| Field::text(line.unit))
        .with(Column::number("1 copy").keyed("one").main(), |line| estimate(line.one))
        .with(Column::number("±").shown(Readers::PEOPLE), |line| spread(line.one))
        .with(Column::number("Undisturbed").narrow("undist.").keyed("quiet_one"), |line| {
            estimate(line.quiet_one)
        })
        .with(Column::number(&all).keyed("all").main(), |line| estimate(line.all))
        .with(Column::number("±").shown(Readers::PEOPLE), |line| spread(line.all))
        .with(Column::number("Undisturbed").narrow("undist.").keyed("quiet_all"), |line| {
            estimate(line.quiet_all)
        })
        .table(&lines)
        .keyed("scores")
}

/// The halves of an interval, or [`Field::Nothing`].
fn spread(estimate: Option<Estimate>) -> Field {
    estimate.map_or(Field::Nothing, Field::Spread)
}

/// A score, and its estimate without disturbances.
type Known = (Estimate, Option<Estimate>);

/// The line of a figure at one copy and at `most`; `None` where it is known at neither.
fn line(
    label: String,
    unit: &str,
    most: u32,
    at: impl Fn(u32) -> Option<Known>,
) -> Option<Line<'_>> {
    let (one, all) = (at(1), at(most).filter(|_| most > 1));
    let [score, quiet]: [fn(Known) -> Option<Estimate>; 2] =
        [|known| Some(known.0), |known| known.1];
    one.or(all).map(|_| Line {
        label,
        unit,
        one: one.and_then(score),
        quiet_one: one.and_then(quiet),
        all: all.and_then(score),
        quiet_all: all.and_then(quiet),
    })
}

fn index(results: &Results, most: u32) -> Option<Line<'static>> {
    let known = results.unixbench_index(1).or(results.unixbench_index(most))?;
    let label = if known.complete { "System index" } else { "System index (partial)" };
    let at = |copies| results.unixbench_index(copies).map(|index| (index.score, index.quiet));
    line(label.to_owned(), "", most, at)
}

fn memory<'a>(results: &'a Results, test: &str, most: u32) -> Option<Line<'a>> {
    let own = || results.figures.iter().filter(|row| row.cell.key.test == test);
    let cell = &own().next()?.cell;
    line(cell.label.clone(), &cell.unit, most, |copies| {
        let row = own().find(|row| row.cell.key.copies == copies)?;
        Some((row.score, row.quiet.as_ref().map(|quiet| quiet.score)))
    })
}

/// The machine's power while the index was measured, where that is known.
fn power(results: &Results, most: u32) -> Option<Line<'static>> {
    let at = |copies| Some((results.unixbench_index(copies)?.watts?, None));
    line("Power during the index".to_owned(), "W", most, at)
}

fn disk(results: &Results) -> crate::document::Table {
    let score = |test: &str| {
        results.figures.iter().find(|row| row.cell.key.test == test).map(|row| row.score)
    };
    let lines = BLOCKS.map(|(name, block, bytes)| DiskRow {
        block,
        read: score(&format!("disk-mix-{name}:op=read")),
        write: score(&format!("disk-mix-{name}:op=write")),
        mixed: score(&format!("disk-mix-{name}")),
        bytes,
    });
    // Operations a second as MB/s; of the mix each kind is half of it.
    let rate = |rate: Option<Estimate>, factor: f64| {
        Field::estimate(rate.map(|it| it.scaled(factor)), words::score)
    };
    Columns::new()
        .with(Column::words("Block").keyed("block"), |line: &DiskRow| Field::text(line.block))
        .with(Column::number("Reads").keyed("read_mb_s").main(), |line| {
            rate(line.read, line.bytes / 1e6)
        })
        .with(Column::number("±").shown(Readers::PEOPLE), |line| spread(line.read))
        .with(Column::number("Writes").keyed("write_mb_s").main(), |line| {
            rate(line.write, line.bytes / 1e6)
        })
        .with(Column::number("±").shown(Readers::PEOPLE), |line| spread(line.write))
        .with(Column::number("Mixed: each").keyed("mixed_read_mb_s").main(), |line| {
            rate(line.mixed, line.bytes / 2e6)
        })
        .with(Column::number("both").keyed("mixed_mb_s").main(), |line| {
            rate(line.mixed, line.bytes / 1e6)
        })
        .with(Column::number("IOPS").keyed("mixed_iops"), |line| rate(line.mixed, 1.0))
        .with(Column::number("±").shown(Readers::PEOPLE), |line| spread(line.mixed))
        .table(&lines)
        .keyed("disk")
}

fn wake_up_sentence(histogram: &Histogram) -> String {
    let times = [histogram.quantile(0.5), histogram.quantile(0.99), histogram.max()];
    let ([median, p99, most], count) = (times.map(words::nanoseconds), histogram.count());
    format!(
        "median {median}, 99th percentile {p99}, maximum {most} after the timer was due ({count} wake-ups, one per \
         millisecond)"
    )
}

fn wake_up_data(histogram: &Histogram) -> Value {
    let ms = |ns: f64| ns / 1e6;
    json!({
        "p50": ms(histogram.quantile(0.5)), "p99": ms(histogram.quantile(0.99)), "max": ms(histogram.max()),
        "count": histogram.count(),
    })
}

fn disturbances(results: &Results) -> String {
    let steal = results.steal.map_or_else(
        || "the kernel does not say what other guests took".to_owned(),
        |steal| format!("other guests took {} of the processors' time", words::percentage(steal)),
    );
    let Some(neighbours) = &results.neighbours else {
        return steal;
    };
    let shares: Vec<String> = by_whom(neighbours)
        .iter()
        .map(|(share, who)| format!("{} {who}", words::percentage(*share)))
        .collect();
    match shares.is_empty() {
        true => format!("{steal}; no trial was disturbed"),
        false => format!("{steal}; trials disturbed: {}", shares.join(", ")),
    }
}

/// The sentence to remember: how stable the machine is, by whom it is disturbed and what shows more
/// of that, what all processors give, and the worst that `doctor` finds.
pub(super) fn verdict(results: &Results) -> String {
    let mut sentence = stability(results);
    let is_disturbed =
        results.neighbours.is_some_and(|neighbours| neighbours.share() > MAX_STABLE_SHARE);
    if is_disturbed && results.indexes().iter().any(|index| index.quiet.is_some()) {
        sentence += "; the undisturbed figures show what it can do";
    }
    if let Some(gain) = gain_of_all(results) {
        sentence += &format!("; all processors together give {}", words::gain(gain));
    }
    let worst = results.run.findings.iter().min_by_key(|finding| finding.severity);
    if let Some(finding) = worst.filter(|finding| finding.severity != Severity::Note) {
        sentence += &format!("; {}", finding.what);
    }
    sentence
}

/// How stable the machine is, by whom it is disturbed, and what shows whether it stays so.
fn stability(results: &Results) -> String {
    let run = words::shell(std::slice::from_ref(&results.run.name));
    let again = format!(
        "`unixmark card` on another day (three minutes) and `unixmark compare {run} latest` show whether it stays so"
    );
    let share = results.neighbours.map(|neighbours| neighbours.share());
    let Some((share, neighbours)) =
        share.filter(|share| !share.is_nan()).zip(results.neighbours.as_ref())
    else {
        return format!("How stable this machine is could not be determined; {again}");
    };

    let (_, who) = by_whom(neighbours).first().copied().unwrap_or((0.0, ""));
    if share <= MAX_STABLE_SHARE {
        return format!("This machine is stable: hardly any trial was disturbed; {again}");
    }
    if share < MIN_UNSTABLE_SHARE {
        return format!(
            "This machine is mostly stable: some trials were disturbed, most often {who}; {again}"
        );
    }
    format!(
        "This machine is not stable now: {} of the trials were disturbed, most often {who}; {again}",
        words::percentage(share)
    )
}

/// The gain of UnixBench's index with all processors.
fn gain_of_all(results: &Results) -> Option<f64> {
    let index = results.indexes().iter().find(|index| index.id == UNIXBENCH_INDEX)?;
    let gain = results.gains().iter().find(|gain| gain.label == index.name)?.gain.value;
    gain.is_finite().then_some(gain)
}
