//! Scores per level of copies, indexes and gains, laid out at a terminal as UnixBench has them.

use std::borrow::Cow;

use analysis::another::MIN_EARLIER_RUNS;
use analysis::{
    Another, Before, Bill, Figure, Gain, Index, MIN_CALM_TRIALS, Neighbours, Part, Results, Spread,
};
use catalogue::Arithmetic;
use journal::{Facts, Key};
use maud::Markup;
use serde_json::{Value, json};
use stats::Estimate;
use words::{Grouped, Unique, copies, plus_minus};

use super::repeat::Repeat;
use super::shared::{gaps, name, sentences};
use super::{details, energy, latency, loads};
use crate::charts::index::{draw_gains, draw_index, series_of_level};
use crate::charts::key;
use crate::document::{
    Block, Chart, Column, Columns, Field, Headline, Readers, Row, RowKind, Table, score,
    score_range,
};

/// The width of a test's name, as UnixBench has it.
const NAME_WIDTH: usize = 38;

/// Without an index, the scores of at most so many tests are large figures.
const MAX_HEADLINES: usize = 3;

/// A run that differs by less from the one before is said to have given as much.
const MIN_TOLD_CHANGE: f64 = 0.02;

/// A sentence on disturbances leaves out smaller shares of trials.
const MIN_TOLD_SHARE: f64 = 0.01;

/// From this share on, every trial is said to be disturbed, since it rounds to 100 %.
const MIN_SHARE_OF_ALL: f64 = 0.995;

/// A sentence on an index names at most so many disturbed tests.
const MAX_NAMED_TESTS: usize = 3;

/// The longest run that anybody is advised to make, in seconds.
const MAX_ADVISED_SECONDS: f64 = 3600.0;

/// The options of a run that advice on its length replaces.
const OPTIONS_OF_LENGTH: [&str; 5] = ["-i", "--iterations", "--budget", "--over", "-q"];

const INDEX_CAPTION: &str = "The scale is logarithmic. A mark is a test’s index and its whiskers \
the 95 % interval; the vertical line is the whole index, its band the interval. Where no whiskers \
are seen, the interval is smaller than the mark; a hollow mark with dashed ends has no interval.";

const GAINS_CAPTION: &str = "A mark is the quotient of two scores and its whiskers the 95 % \
interval. Dashed lines: no gain, and every copy as fast as the first. More than that is possible: \
a single copy may wait for wake-ups on an idle processor or run at a lower clock, and the copies \
may have been disturbed less than the first was.";

/// The columns of a score, from which every report of scores is made.
fn columns() -> Columns<'static, Figure> {
    Columns::new()
        .keyed(|row: &Figure| &row.cell.key)
        .with(Column::words("Test").keyed("label").wide(NAME_WIDTH), |row| {
            Field::Worded(name(&row.cell.label, &row.cell.key), row.cell.label.as_str().into())
        })
        .with(Column::data("metric"), |row| Field::data(&row.cell.metric))
        .with(Column::number("Score").keyed("value").main().wide(12), |row| {
            Field::Estimate(row.score, words::score)
        })
        .with(Column::words("Unit").keyed("unit").wide(6), |row| Field::text(&row.cell.unit))
        .with(Column::number("±").wide(7), |row| Field::Spread(row.score))
        .with(Column::number("Low").shown(Readers::PAGE), |row| {
            Field::end(row.score.low, row.score, words::score)
        })
        .with(Column::number("High").shown(Readers::PAGE), |row| {
            Field::end(row.score.high, row.score, words::score)
        })
        .with(Column::number("Trials").keyed("n").shown(Readers::PAGE), |row| {
            Field::Count(row.n as u64)
        })
        .with(Column::number("CV").keyed("variation").shown(Readers::PAGE), |row| {
            Field::Number(row.variation(), words::percent)
        })
        .with(Column::number("Window").keyed("seconds").shown(Readers::PAGE), |row| {
            Field::Number(row.seconds, words::seconds)
        })
        .with(Column::words("Trials").shown(Readers::TERMINAL), |row| {
            Field::Text(describe_trials(row))
        })
        .data(|row| {
            json!({
                "control": row.cell.control,
                "status": "ok",
                "another": another_data(row.another),
            })
        })
        .data(quiet_data)
        .with(Column::number("Undisturbed").shown(Readers::PAGE), |row| {
            let quiet = row.quiet.as_ref().map(|quiet| quiet.score);
            Field::estimate(quiet, words::score)
        })
        .with(Column::number("±").shown(Readers::PAGE), |row| {
            row.quiet.as_ref().map_or(Field::Missing, |quiet| Field::Spread(quiet.score))
        })
        .with(Column::words("Another run").shown(Readers::PAGE), |row| another_field(row.another))
        .with(Column::words("Notes").keyed("warnings"), |row| {
            Field::Marks(sentences(&row.warnings))
        })
}

/// `10 x 2.0 σ1%`: how many trials, how long each was, and how they vary.
fn describe_trials(row: &Figure) -> String {
    // Other suites print no window.
    let has_window = row.seconds > 0.0;
    let window =
        if has_window { format!("x {}", words::seconds(row.seconds)) } else { "times".to_owned() };
    let variation = match row.variation() {
        share if share.is_finite() => format!(" σ{}%", words::whole(100.0 * share)),
        _ => String::new(),
    };
    format!("{:>2} {window}{variation}", row.n)
}

fn quiet_data(row: &Figure) -> Value {
    let quiet = row.quiet.as_ref();
    json!({
        "quiet": quiet.map_or(Estimate::NONE, |quiet| quiet.score),
        "quiet_trials": quiet.map(|quiet| quiet.trials),
        "explained": quiet.and_then(|quiet| quiet.explained),
    })
}

/// The range of other runs, for programs: always the same keys.
fn another_data(another: Option<Another>) -> Value {
    json!({
        "low": another.map(|another| another.low),
        "high": another.map(|another| another.high),
        "runs": another.map(|another| another.runs),
    })
}

/// The range of other runs, for people.
fn another_field(another: Option<Another>) -> Field {
    let Some(Another { low, high, .. }) = another else { return Field::Missing };
    Field::Text(format!("{}..{}", words::score(low), words::score(high)))
}

/// Every row of a run, the controls of a cost run last, for programs.
pub(super) fn data(rows: &[Figure], controls: &[Figure]) -> Table {
    columns()
        .data(|row| row.load.as_ref().map_or(Value::Null, loads::data))
        .data(|row| row.latency.as_deref().map_or(Value::Null, latency::data))
        .data(|row| row.details.as_deref().map_or(Value::Null, details::data))
        .data(|row| row.energy.as_deref().map_or(Value::Null, energy::data))
        .data(|row| json!({"samples": row.samples}))
        .table(rows.iter().chain(controls))
        .keyed("results")
        .shown(Readers::PROGRAM)
}

/// The lists of scores and the indexes, level by level, and the gains.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let mut blocks = index_charts(results);
    for level in results.lists() {
        blocks.push(Block::Section(heading(results, level)));
        blocks.push(Block::Table(table_of_scores(results, level)));
        for index in results.indexes().iter().filter(|index| index.copies == level) {
            blocks.push(Block::Table(table_of_index(index, &results.facts)));
        }
    }
    blocks.extend(gain_blocks(results));
    blocks.extend(notes_on_intervals(results).into_iter().map(Block::text));
    blocks
}

/// UnixBench's words.
fn heading(results: &Results, level: u32) -> String {
    match results.run.cpus {
        // An imported report does not say.
        0 => copies(level),
        cpus => crate::unixbench::title(cpus, level),
    }
}

fn table_of_scores(results: &Results, level: u32) -> Table {
    let rows: Vec<Cow<'_, Figure>> = results
        .listed()
        .filter(|row| row.cell.key.copies == level)
        .map(with_readable_unit)
        .collect();
    let mut table = columns().table(rows.iter().map(Cow::as_ref)).shown(Readers::PEOPLE);
    table.headed = false;

    for (kind, gap) in gaps(results) {
        let is_here = gap.key.copies == level && !gap.latency;
        // A run about scaling has its gaps in its own table.
        if is_here && !results.run.is_scaling() {
            table.add_gap(name(&gap.label, &gap.key), format!("{kind}: {}", gap.reason));
        }
    }
    table
}

/// A figure as people read it: a small time in a smaller unit, in which it has figures.
fn with_readable_unit(figure: &Figure) -> Cow<'_, Figure> {
    let Some((unit, factor)) = words::suited_unit(figure.score.value, &figure.cell.unit) else {
        return Cow::Borrowed(figure);
    };

    let mut figure = figure.clone();
    figure.cell.unit = unit;
    figure.score = figure.score.scaled(factor);
    if let Some(quiet) = &mut figure.quiet {
        quiet.score = quiet.score.scaled(factor);
    }
    if let Some(another) = &mut figure.another {
        another.low *= factor;
        another.high *= factor;
    }
    Cow::Owned(figure)
}

/// The sentences on intervals: other runs, disturbances, indexes without an undisturbed figure, the
/// parts of the widest interval.
fn notes_on_intervals(results: &Results) -> Vec<String> {
    if !results.listed().any(|row| row.score.bounded()) {
        return Vec::new();
    }

    let another = describe_other_runs(results);
    let mut notes = vec![format!("± is the 95 % interval of this run. {another}.")];
    notes.extend(results.before.as_ref().map(describe_run_before));
    notes.extend(describe_disturbances(results));
    for index in results.indexes() {
        notes.extend(describe_lacking_undisturbed(index, results));
    }
    notes.extend(results.bill.as_ref().map(|bill| describe_bill(bill, results)));
    notes
}

/// Where other runs lie, or when that will be known.
fn describe_other_runs(results: &Results) -> String {
    let mut ranges = Vec::new();
    for index in results.indexes() {
        let Some(Another { low, high, runs, .. }) = index.another else { continue };
        let [low, high] = [low, high].map(words::tenth);
        let copies = copies(index.copies);
        ranges.push(format!("{} ({copies}): {low}..{high}, from {runs} runs", index.title()));
    }
    if !ranges.is_empty() {
        return format!("95 % of other runs lie within: {}", ranges.join("; "));
    }

    if results.listed().any(|row| row.another.is_some()) {
        "Pages (column Another run) and JSON show where 95 % of other runs lie".to_owned()
    } else {
        format!(
            "Run-to-run variation is shown once there are {MIN_EARLIER_RUNS} earlier comparable \
             runs"
        )
    }
}

/// A sentence on what the run before gave.
pub(super) fn describe_run_before(before: &Before) -> String {
    let amount = match before.ratio {
        ratio if ratio >= 1.0 + MIN_TOLD_CHANGE => format!("{ratio:.2} times as much as"),
        ratio if ratio <= 1.0 - MIN_TOLD_CHANGE => format!("{:.2} times less than", 1.0 / ratio),
        _ => "about as much as".to_owned(),
    };
    format!("This run gave {amount} {}.", describe_earlier(before))
}

/// A sentence on what commands took in the run before.
pub(super) fn describe_commands_before(before: &Before) -> String {
    let speed = match before.ratio {
        ratio if ratio >= 1.0 + MIN_TOLD_CHANGE => format!("{ratio:.2} times as fast as"),
        ratio if ratio <= 1.0 - MIN_TOLD_CHANGE => format!("{:.2} times as slow as", 1.0 / ratio),
        _ => "about as fast as".to_owned(),
    };
    format!("The commands were {speed} in {}.", describe_earlier(before))
}

/// `vm-2026-11-28-01, 4 h earlier, the mean of 3 figures`.
fn describe_earlier(Before { run, seconds, figures, .. }: &Before) -> String {
    let earlier = match *seconds {
        seconds if seconds < 60.0 => words::duration(seconds),
        seconds => words::uptime(seconds),
    };
    let mean = match figures {
        1 => String::new(),
        figures => format!(", the mean of {figures} figures"),
    };
    format!("{run}, {earlier} earlier{mean}")
}

/// A sentence on the share of disturbed trials, and on what disturbed them.
fn describe_disturbances(results: &Results) -> Option<String> {
    let neighbours = results.neighbours?;
    let share = neighbours.share();
    if share < MIN_TOLD_SHARE {
        return None;
    }

    let were_disturbed = match share >= MIN_SHARE_OF_ALL {
        true => "Every trial was disturbed".to_owned(),
        false => format!("{} of the trials were disturbed", percent(share)),
    };
    Some(match &by_whom(&neighbours)[..] {
        // Each kind by itself is too rare to be told.
        [] => format!("{were_disturbed}."),
        [(_, only)] => format!("{were_disturbed} {only}."),
        kinds => {
            let parts: Vec<String> =
                kinds.iter().map(|(share, kind)| format!("{} {kind}", percent(*share))).collect();
            format!("{were_disturbed}: {}.", parts.join(", "))
        }
    })
}

/// The shares of trials that were disturbed by each kind of neighbour, the largest first.
pub(super) fn by_whom(neighbours: &Neighbours) -> Vec<(f64, &'static str)> {
    let mut kinds = vec![
        (neighbours.competing + neighbours.beside, "by other programs on this machine"),
        (neighbours.hypervisor, "by other guests of the host"),
        (neighbours.hidden, "without a visible cause"),
    ];
    kinds.retain(|(share, _)| *share >= MIN_TOLD_SHARE);
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    kinds
}

/// A sentence on the tests that were disturbed too often for a complete index to have an
/// undisturbed figure; `None` if it has one, is partial or arithmetic, or nothing is known of
/// neighbours.
fn describe_lacking_undisturbed(index: &Index, results: &Results) -> Option<String> {
    results.neighbours?;
    let may_have_one = index.complete && index.arithmetic == Arithmetic::Geometric;
    if !may_have_one || index.quiet.is_some() {
        return None;
    }

    let mut tests = Vec::new();
    for part in &index.parts {
        let key = Key::plain(&part.test, index.copies);
        let mut rows = results.figures.iter().filter(|row| row.cell.key == key);
        if rows.any(is_too_disturbed) {
            tests.push(part.label.as_str());
        }
    }
    if tests.is_empty() {
        return None;
    }
    let (title, copies) = (index.title(), copies(index.copies));
    let tests = words::listed(&tests, MAX_NAMED_TESTS);
    Some(format!(
        "{title} ({copies}) has no undisturbed figure: fewer than {MIN_CALM_TRIALS} trials of \
         {tests} were undisturbed."
    ))
}

/// True if a run was long enough for an undisturbed figure, and had too few such trials. (A shorter
/// one never has the figure.)
fn is_too_disturbed(row: &Figure) -> bool {
    row.samples.len() >= MIN_CALM_TRIALS && row.undisturbed() < MIN_CALM_TRIALS
}

/// The parts of the widest interval, and the command that makes it narrower.
fn describe_bill(bill: &Bill, results: &Results) -> String {
    let (label, copies) = (&bill.label, copies(bill.copies));
    let spread = plus_minus([bill.spread; 2]);
    let [drift, between, within] =
        [bill.drift, bill.between_trials, bill.within_trials].map(percent);
    let parts = format!(
        "Uncertainty of {label} ({copies}), {spread}: {drift} drift, {between} between trials, \
         {within} within trials"
    );

    let Some(way) = cheapest_way(bill) else {
        return format!("{parts}. ±2 % is out of reach within an hour on this machine as it is");
    };
    let Spread { blocks, seconds } = way.spread;
    let duration = words::duration(seconds);
    let repeat = Repeat::new(&results.run).without(&OPTIONS_OF_LENGTH).command();
    if repeat.is_empty() {
        return format!("{parts}. For ±2 %: {blocks} blocks ({duration})");
    }
    let over = match way.is_over_time {
        true => format!(" --over {}m", (seconds / 60.0).ceil()),
        false => String::new(),
    };
    format!("{parts}. For ±2 %: `{repeat} -i {blocks}{over}` ({duration})")
}

/// A way to a narrower interval.
struct Way {
    spread: Spread,
    /// True if its blocks have pauses between them.
    is_over_time: bool,
}

/// The quicker way that somebody would go.
fn cheapest_way(bill: &Bill) -> Option<Way> {
    let blocks = bill.blocks.map(|spread| Way { spread, is_over_time: false });
    let over = bill.over.map(|spread| Way { spread, is_over_time: true });
    [blocks, over]
        .into_iter()
        .flatten()
        .filter(|way| way.spread.seconds <= MAX_ADVISED_SECONDS)
        .min_by(|a, b| a.spread.seconds.total_cmp(&b.spread.seconds))
}

fn percent(share: f64) -> String {
    format!("{} %", words::whole(100.0 * share))
}

/// UnixBench's block of an index: baseline, result and index of each test, and the whole; of BYTE's
/// also the sum.
fn table_of_index(index: &Index, facts: &Facts) -> Table {
    let kind = if index.complete { "Index Values" } else { "Partial Index" };
    let heading = match index.arithmetic {
        Arithmetic::Geometric => format!("{} {kind}", index.name),
        Arithmetic::Arithmetic => "BYTE 3.11 INDEX VALUES".to_owned(),
    };
    let mut table = Columns::new()
        .with(Column::words(&heading).wide(NAME_WIDTH), |part: &Part| Field::text(&part.label))
        .with(Column::number("BASELINE").wide(12), |part| {
            Field::Number(part.baseline, words::tenth)
        })
        .with(Column::number("RESULT").wide(13), |part| {
            Field::Estimate(part.result(), words::score)
        })
        .with(Column::number("INDEX").main().wide(9), |part| {
            Field::Estimate(part.index, words::tenth)
        })
        .with(Column::number("±").narrow(" ").wide(7), |part| Field::Spread(part.index))
        .table(&index.parts)
        .shown(Readers::PEOPLE);

    for (label, score) in &index.others {
        let score = Field::Number(*score, words::score);
        let dash = Field::text("---");
        let fields = vec![Field::text(label), dash.clone(), score, dash, Field::Nothing];
        table.rows.push(Row { fields, kind: RowKind::Plain });
    }
    table.rows.extend(total_rows(index, facts));
    table
}

/// The rows below an index's tests: the whole, and what else is one number.
fn total_rows(index: &Index, facts: &Facts) -> Vec<Row> {
    let whole = Field::Estimate(index.score, words::tenth);
    let spread = Field::Spread(index.score);
    let mut rows = match index.arithmetic {
        Arithmetic::Geometric => vec![total_row(index.title(), whole, spread, RowKind::Total)],
        Arithmetic::Arithmetic => {
            let label = format!("SUM of {} items", index.parts.len());
            let sum = Field::Number(index.sum, words::tenth);
            vec![
                total_row(label, sum, Field::Nothing, RowKind::Total),
                total_row("AVERAGE".to_owned(), whole, spread, RowKind::Strong),
            ]
        }
    };

    let printed = index.printed(facts);
    if let Some(printed) = printed.filter(|printed| score(&index.score) != words::tenth(*printed)) {
        let label = "Index Score as printed".to_owned();
        let printed = Field::Number(printed, words::tenth);
        rows.push(total_row(label, printed, Field::Nothing, RowKind::Strong));
    }
    if let Some(quiet) = index.quiet {
        let label = "Undisturbed (estimate)".to_owned();
        let value = Field::Estimate(quiet, words::tenth);
        rows.push(total_row(label, value, Field::Spread(quiet), RowKind::Strong));
    }
    rows
}

fn total_row(label: String, value: Field, spread: Field, kind: RowKind) -> Row {
    let fields = vec![Field::Text(label), Field::Nothing, Field::Nothing, value, spread];
    Row { fields, kind }
}

/// The indexes for programs.
pub(super) fn index_data(indexes: &[Index]) -> Table {
    Columns::new()
        .data(|index: &Index| {
            json!({
                "category": index.id,
                "name": index.name,
                "copies": index.copies,
                "arithmetic": index.arithmetic,
                "score": index.score.value,
                "low": index.score.low,
                "high": index.score.high,
                "sum": index.sum,
                "another": another_data(index.another),
                "quiet": index.quiet.unwrap_or(Estimate::NONE),
                "complete": index.complete,
                "tests": index.parts.iter().map(part_data).collect::<Value>(),
            })
        })
        .data(energy::index_data)
        .table(indexes)
        .keyed("index")
        .shown(Readers::PROGRAM)
}

fn part_data(part: &Part) -> Value {
    json!({
        "test": part.test,
        "label": part.label,
        "score": part.score,
        "baseline": part.baseline,
        "index": part.index.value,
        "low": part.index.low,
        "high": part.index.high,
    })
}

/// A chart for each kind of index.
fn index_charts(results: &Results) -> Vec<Block> {
    let mut charts = Vec::new();
    for id in results.indexes().iter().map(|index| &index.id).unique() {
        let levels: Vec<&Index> =
            results.indexes().iter().filter(|index| index.id == *id).collect();
        let drawing = draw_index(results, &levels);
        charts.push(Block::Chart(Chart {
            title: format!("Index per test: {}", levels[0].name),
            ..Chart::new(drawing, INDEX_CAPTION, legend(results, 0))
        }));
    }
    charts
}

/// The marks of the levels of copies but the first `skip`.
pub(super) fn legend(results: &Results, skip: usize) -> Vec<(Markup, String)> {
    let levels = results.levels();
    let shown = levels.iter().enumerate().skip(skip);
    shown.map(|(series, level)| (key(series), copies(*level))).collect()
}

/// A section with a table for each two levels, the first also with the chart of all.
fn gain_blocks(results: &Results) -> Vec<Block> {
    let by_levels = results.gains().iter().map(|gain| ((gain.from, gain.to), gain)).grouped();
    let mut blocks = Vec::new();
    for (number, ((from, to), gains)) in by_levels.into_iter().enumerate() {
        blocks.push(Block::Section(format!("Gain from {} to {to}", copies(from))));
        if number == 0 {
            let drawing = draw_gains(results);
            blocks.push(Block::Chart(Chart::new(drawing, GAINS_CAPTION, legend(results, 1))));
        }
        blocks.push(Block::Table(table_of_gains(results, &gains)));
    }
    blocks
}

fn table_of_gains(results: &Results, gains: &[&Gain]) -> Table {
    let mut table = gain_columns().table(gains.iter().copied()).shown(Readers::PEOPLE);
    table.headed = false;
    for (row, gain) in table.rows.iter_mut().zip(gains) {
        let is_of_index = results.indexes().iter().any(|index| index.title() == gain.label);
        if is_of_index {
            row.kind = RowKind::Strong;
        }
    }
    table
}

/// The gains for programs.
pub(super) fn gain_data(gains: &[Gain]) -> Table {
    gain_columns().table(gains).keyed("gains").shown(Readers::PROGRAM)
}

fn gain_columns() -> Columns<'static, Gain> {
    Columns::new()
        .with(Column::words("Test").keyed("label").wide(63), |gain: &Gain| Field::text(&gain.label))
        .data(|gain| json!({"from": gain.from, "to": gain.to}))
        .with(Column::number("GAIN").keyed("gain").main().wide(9), |gain| {
            Field::Estimate(gain.gain, words::gain)
        })
        .with(Column::number("±").wide(7), |gain| Field::Spread(gain.gain))
        .with(Column::number("Low").shown(Readers::PAGE), |gain| {
            Field::end(gain.gain.low, gain.gain, words::gain)
        })
        .with(Column::number("High").shown(Readers::PAGE), |gain| {
            Field::end(gain.gain.high, gain.gain, words::gain)
        })
}

/// The indexes at each level as large figures, or without any the scores of a few tests.
pub(super) fn headlines(results: &Results) -> Vec<Block> {
    let levels = results.levels();
    let headlines = match results.indexes() {
        [] => {
            let by_test = results.listed().map(|row| score_headline(&levels, row)).grouped();
            if by_test.len() > MAX_HEADLINES { Vec::new() } else { by_test }
        }
        indexes => indexes.iter().map(|index| index_headline(&levels, index)).grouped(),
    };
    headlines.into_iter().map(|(title, headlines)| Block::Headlines(title, headlines)).collect()
}

/// The title of a test, and its score as a large figure.
fn score_headline(levels: &[u32], row: &Figure) -> (String, Headline) {
    let row = with_readable_unit(row);
    let unit = row.cell.unit.clone();
    let more = vec![score_range(&row.score)];
    let headline = headline(levels, row.cell.key.copies, &row.score, more);
    (name(&row.cell.label, &row.cell.key), Headline { unit, ..headline })
}

/// The title of an index, and its score as a large figure.
fn index_headline(levels: &[u32], index: &Index) -> (String, Headline) {
    let mut title = index.title();
    let mut more = vec![score_range(&index.score)];
    match index.arithmetic {
        Arithmetic::Geometric => {
            more.extend(index.quiet.map(|quiet| {
                let (quiet, spread) = (score(&quiet), plus_minus(quiet.halves()));
                format!("{quiet} {spread} undisturbed (estimate)")
            }));
        }
        Arithmetic::Arithmetic => {
            title += ": average";
            let (items, sum) = (index.parts.len(), words::score(index.sum));
            more.push(format!("sum of {items} items {sum}"));
        }
    }
    (title, headline(levels, index.copies, &index.score, more))
}

/// An estimate at one of the run's levels as a large figure without a unit.
fn headline(levels: &[u32], level: u32, estimate: &Estimate, more: Vec<String>) -> Headline {
    Headline {
        label: copies(level),
        mark: key(series_of_level(levels, level)),
        value: score(estimate),
        unit: String::new(),
        spread: plus_minus(estimate.halves()),
        more,
    }
}
