//! Scores per level of copies, indexes and gains.

use analysis::{
    Another, Bill, FEWEST_EARLIER, FEWEST_UNDISTURBED, Figure, Gain, Index, Missing, Neighbours, Part, Results, Spread,
};
use catalogue::Arithmetic;
use journal::{Facts, Key};
use serde_json::{Value, json};
use stats::Estimate;
use words::{Grouped, Unique, copies, plus_minus};

use super::repeat::Repeat;
use super::shared::{gaps, name, sentences};
use super::{details, energy, latency, loads};
use crate::charts::{index as drawing, key};
use crate::document::{Block, Chart, Column, Columns, Field, Headline, Readers, Row, RowKind, Table, known};
use maud::Markup;

/// Columns of a test's name, as UnixBench has them.
const NAME: usize = 38;

/// Most tests whose scores are large figures where there is no index.
const FEW: usize = 3;

/// Returns the columns of a score, from which every report of scores is made.
fn columns() -> Columns<'static, Figure> {
    Columns::new()
        .keyed(|row: &Figure| &row.cell.key)
        .with(Column::words("Test").keyed("label").wide(NAME), |row| {
            Field::Worded(name(&row.cell.label, &row.cell.key), row.cell.label.as_str().into())
        })
        .with(Column::data("metric"), |row| Field::data(&row.cell.metric))
        .with(Column::number("Score").keyed("value").main().wide(12), |row| Field::Estimate(row.score, words::score))
        .with(Column::words("Unit").keyed("unit").wide(6), |row| Field::text(&row.cell.unit))
        .with(Column::number("±").wide(7), |row| Field::Spread(row.score))
        .with(Column::number("Low").shown(Readers::PAGE), |row| Field::end(row.score.low, row.score, words::score))
        .with(Column::number("High").shown(Readers::PAGE), |row| Field::end(row.score.high, row.score, words::score))
        .with(Column::number("Trials").keyed("n").shown(Readers::PAGE), |row| Field::Count(row.n as u64))
        .with(Column::number("CV").keyed("variation").shown(Readers::PAGE), |row| {
            Field::Number(row.variation(), words::percent)
        })
        .with(Column::number("Window").keyed("seconds").shown(Readers::PAGE), |row| {
            Field::Number(row.seconds, words::seconds)
        })
        .with(Column::words("Trials").shown(Readers::TERMINAL), |row| {
            let variation = match row.variation() {
                share if share.is_finite() => format!(" σ{}%", words::whole(100.0 * share)),
                _ => String::new(),
            };
            // Other suites print no window.
            let window =
                if row.seconds > 0.0 { format!("x {}", words::seconds(row.seconds)) } else { "times".to_owned() };
            Field::text(format!("{:>2} {window}{variation}", row.n))
        })
        .data(|row| json!({"control": row.cell.control, "status": "ok", "another": ends_of(row.another)}))
        .data(|row| {
            let quiet = row.quiet.as_ref();
            json!({
                "quiet": quiet.map_or(Estimate::NONE, |quiet| quiet.score),
                "quiet_trials": quiet.map(|quiet| quiet.trials),
                "explained": quiet.and_then(|quiet| quiet.explained),
            })
        })
        .with(Column::number("Undisturbed").shown(Readers::PAGE), |row| {
            row.quiet.as_ref().map_or(Field::Missing, |quiet| Field::Estimate(quiet.score, words::score))
        })
        .with(Column::number("±").shown(Readers::PAGE), |row| {
            row.quiet.as_ref().map_or(Field::Missing, |quiet| Field::Spread(quiet.score))
        })
        .with(Column::words("Another run").shown(Readers::PAGE), |row| of_another(row.another, words::score))
        .with(Column::words("Notes").keyed("warnings"), |row| Field::Marks(sentences(&row.warnings)))
}

/// Returns every row of a run, the controls of a cost run last, for programs.
pub(super) fn data(rows: &[Figure], controls: &[Figure]) -> Table {
    let all = columns()
        .data(|row| row.load.as_ref().map_or(Value::Null, loads::data))
        .data(|row| row.latency.as_deref().map_or(Value::Null, latency::data))
        .data(|row| row.details.as_deref().map_or(Value::Null, details::data))
        .data(|row| row.energy.as_deref().map_or(Value::Null, energy::data))
        .data(|row| json!({"samples": row.samples}));
    all.table(rows.iter().chain(controls)).keyed("results").shown(Readers::PROGRAM)
}

/// Returns the lists of scores and the indexes, level by level, and the gains.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let mut blocks = Vec::new();
    for level in results.lists() {
        blocks.extend([Block::Section(heading(results, level)), Block::Table(scores(results, level))]);
        let indexes = results.indexes().iter().filter(|index| index.copies == level);
        blocks.extend(indexes.map(|index| Block::Table(index_table(index, &results.facts))));
    }
    [index_charts(results), blocks, gains(results), about_intervals(results)].concat()
}

/// The range of other runs, for programs: always the same keys.
fn ends_of(another: Option<Another>) -> Value {
    json!({
        "low": another.map(|another| another.low), "high": another.map(|another| another.high),
        "runs": another.map(|another| another.runs),
    })
}

/// The range of other runs, for people.
fn of_another(another: Option<Another>, number: fn(f64) -> String) -> Field {
    another
        .map_or(Field::Missing, |Another { low, high, .. }| Field::Text(format!("{}..{}", number(low), number(high))))
}

/// Returns the paragraphs on intervals: other runs, disturbances, indexes without an undisturbed figure, the bill.
fn about_intervals(results: &Results) -> Vec<Block> {
    if !results.listed().any(|row| row.score.bounded()) {
        return Vec::new();
    }
    let known = |index: &Index| {
        let Another { low, high, runs, .. } = index.another?;
        let copies = copies(index.copies);
        Some(format!("{} ({copies}): {}..{}, from {runs} runs", index.title(), words::tenth(low), words::tenth(high)))
    };
    let known: Vec<String> = results.indexes().iter().filter_map(known).collect();
    let another = if !known.is_empty() {
        format!("95 % of other runs lie within: {}", known.join("; "))
    } else if results.listed().any(|row| row.another.is_some()) {
        "Pages (column Another run) and JSON show where 95 % of other runs lie".to_owned()
    } else {
        format!("Run-to-run variation is shown once there are {FEWEST_EARLIER} earlier comparable runs")
    };
    let interval = format!("± is the 95 % interval of this run. {another}.");
    let lacking = results.indexes().iter().filter_map(|index| without_undisturbed(index, results));
    let more =
        disturbed(results).into_iter().chain(lacking).chain(results.bill.as_ref().map(|bill| why_wide(bill, results)));
    let paragraphs = [interval].into_iter().chain(more);
    paragraphs.map(Block::text).collect()
}

/// Returns a sentence on the share of disturbed trials and on the neighbours.
fn disturbed(results: &Results) -> Option<String> {
    let found = results.neighbours.filter(|found| found.share() >= 0.01)?;
    let all = if found.share() >= 0.995 { "Every trial".to_owned() } else { percent(found.share()) + " of the trials" };
    let verb = if found.share() >= 0.995 { "was" } else { "were" };
    Some(match &by_whom(&found)[..] {
        [(_, only)] => format!("{all} {verb} disturbed {only}."),
        several => {
            let parts: Vec<String> =
                several.iter().map(|(share, kind)| format!("{} {kind}", percent(*share))).collect();
            format!("{all} {verb} disturbed: {}.", parts.join(", "))
        }
    })
}

/// Returns the shares of trials that were disturbed by each kind of neighbour, the largest first.
pub(super) fn by_whom(found: &Neighbours) -> Vec<(f64, &'static str)> {
    let mut kinds = vec![
        (found.competing + found.beside, "by other programs on this machine"),
        (found.hypervisor, "by other guests of the host"),
        (found.hidden, "without a visible cause"),
    ];
    kinds.retain(|(share, _)| *share >= 0.01);
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    kinds
}

/// Returns a sentence on the tests that were disturbed too often for a complete index to have an undisturbed figure;
/// `None` if it has one, is partial or arithmetic, or nothing is known of neighbours.
fn without_undisturbed(index: &Index, results: &Results) -> Option<String> {
    results.neighbours?;
    let wanted = index.complete && index.arithmetic == Arithmetic::Geometric && index.quiet.is_none();
    let lacks = |part: &&Part| {
        let key = Key::plain(&part.test, index.copies);
        // Shorter runs always lack it.
        let disturbed =
            |row: &Figure| row.samples.len() >= FEWEST_UNDISTURBED && row.undisturbed() < FEWEST_UNDISTURBED;
        results.figures.iter().any(|row| row.cell.key == key && disturbed(row))
    };
    let tests: Vec<&str> = index.parts.iter().filter(lacks).map(|part| part.label.as_str()).collect();
    let (title, copies, listed) = (index.title(), copies(index.copies), words::listed(&tests, 3));
    let few = format!("fewer than {FEWEST_UNDISTURBED} trials of {listed} were undisturbed");
    (wanted && !tests.is_empty()).then(|| format!("{title} ({copies}) has no undisturbed figure: {few}."))
}

/// The longest run that anybody is advised to make, in seconds.
const REALISTIC: f64 = 3600.0;

/// Returns the parts of the widest interval, and the command that makes it narrower.
fn why_wide(bill: &Bill, results: &Results) -> String {
    let what = format!("Uncertainty of {} ({}), {}", bill.label, copies(bill.copies), plus_minus([bill.spread; 2]));
    let [drift, between, within] = [bill.drift, bill.between_trials, bill.within_trials].map(percent);
    let made = format!("{what}: {drift} drift, {between} between trials, {within} within trials");
    let over = |spread: &Spread| format!(" --over {}m", (spread.seconds / 60.0).ceil());
    let ways = [bill.blocks.map(|way| (way, String::new())), bill.over.map(|way| (way, over(&way)))];
    let ways = ways.into_iter().flatten().filter(|(way, _)| way.seconds <= REALISTIC);
    let repeat = Repeat::new(&results.run).without(&["-i", "--iterations", "--budget", "--over", "-q"]).command();
    match ways.min_by(|a, b| a.0.seconds.total_cmp(&b.0.seconds)) {
        Some((Spread { blocks, seconds }, over)) if !repeat.is_empty() => {
            format!("{made}. For ±2 %: `{repeat} -i {blocks}{over}` ({})", words::duration(seconds))
        }
        Some((Spread { blocks, seconds }, _)) => {
            format!("{made}. For ±2 %: {blocks} blocks ({})", words::duration(seconds))
        }
        None => format!("{made}. ±2 % is out of reach within an hour on this machine as it is"),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", words::whole(100.0 * share))
}

/// UnixBench's words.
fn heading(results: &Results, level: u32) -> String {
    match results.run.cpus {
        // An imported report does not say.
        0 => copies(level),
        cpus => crate::unixbench::title(cpus, level),
    }
}

fn scores(results: &Results, level: u32) -> Table {
    let rows = results.listed().filter(|row| row.cell.key.copies == level);
    let mut table = Table { headed: false, ..columns().table(rows).shown(Readers::PEOPLE) };
    let here = |gap: &Missing| gap.key.copies == level && !gap.latency && !results.run.is_scaling();
    for (kind, gap) in gaps(results).into_iter().filter(|(_, gap)| here(gap)) {
        table.add_gap(name(&gap.label, &gap.key), format!("{kind}: {}", gap.reason));
    }
    table
}

/// UnixBench's block of an index: baseline, result and index of each test, and the whole; of BYTE's also the sum.
fn index_table(index: &Index, facts: &Facts) -> Table {
    let kind = if index.complete { "Index Values" } else { "Partial Index" };
    let heading = match index.arithmetic {
        Arithmetic::Geometric => format!("{} {kind}", index.name),
        Arithmetic::Arithmetic => "BYTE 3.11 INDEX VALUES".to_owned(),
    };
    let mut table = Columns::new()
        .with(Column::words(&heading).wide(NAME), |part: &Part| Field::text(&part.label))
        .with(Column::number("BASELINE").wide(12), |part| Field::Number(part.baseline, words::tenth))
        .with(Column::number("RESULT").wide(13), |part| Field::Estimate(part.result(), words::score))
        .with(Column::number("INDEX").main().wide(9), |part| Field::Estimate(part.index, words::tenth))
        .with(Column::number("±").narrow(" ").wide(7), |part| Field::Spread(part.index))
        .table(&index.parts)
        .shown(Readers::PEOPLE);
    let dash = Field::text("---");
    for (label, score) in &index.others {
        let score = Field::Number(*score, words::score);
        let fields = vec![Field::text(label), dash.clone(), score, dash.clone(), Field::Nothing];
        table.rows.push(Row { fields, kind: RowKind::Plain });
    }
    let mut total = |label: String, value: Field, spread: Field, kind: RowKind| {
        table.rows.push(Row { fields: vec![Field::Text(label), Field::Nothing, Field::Nothing, value, spread], kind });
    };
    let (whole, spread) = (Field::Estimate(index.score, words::tenth), Field::Spread(index.score));
    match index.arithmetic {
        Arithmetic::Geometric => total(index.title(), whole, spread, RowKind::Total),
        Arithmetic::Arithmetic => {
            let sum = Field::Number(index.sum, words::tenth);
            total(format!("SUM of {} items", index.parts.len()), sum, Field::Nothing, RowKind::Total);
            total("AVERAGE".to_owned(), whole, spread, RowKind::Strong);
        }
    }
    if let Some(printed) = index.printed(facts).filter(|printed| score(&index.score) != words::tenth(*printed)) {
        let value = Field::Number(printed, words::tenth);
        total("Index Score as printed".to_owned(), value, Field::Nothing, RowKind::Strong);
    }
    if let Some(quiet) = index.quiet {
        let value = Field::Estimate(quiet, words::tenth);
        total("Undisturbed (estimate)".to_owned(), value, Field::Spread(quiet), RowKind::Strong);
    }
    table
}

/// The indexes for programs.
pub(super) fn index_data(indexes: &[Index]) -> Table {
    let part = |part: &Part| {
        json!({
            "test": part.test, "label": part.label, "score": part.score, "baseline": part.baseline,
            "index": part.index.value, "low": part.index.low, "high": part.index.high,
        })
    };
    let index = move |index: &Index| {
        json!({
            "category": index.id, "name": index.name, "copies": index.copies, "arithmetic": index.arithmetic,
            "score": index.score.value, "low": index.score.low, "high": index.score.high, "sum": index.sum, "another": ends_of(index.another),
            "quiet": index.quiet.unwrap_or(Estimate::NONE), "complete": index.complete, "tests": index.parts.iter().map(part).collect::<Value>(),
        })
    };
    Columns::new().data(index).data(energy::index_data).table(indexes).keyed("index").shown(Readers::PROGRAM)
}

fn index_charts(results: &Results) -> Vec<Block> {
    let ids = results.indexes().iter().map(|index| &index.id).unique();
    let chart = |id: &String| {
        let levels: Vec<&Index> = results.indexes().iter().filter(|index| index.id == *id).collect();
        let title = format!("Index per test: {}", levels.first()?.name);
        let caption = "The scale is logarithmic. A mark is a test’s index and its whiskers the 95 % interval; the vertical \
                       line is the whole index, its band the interval. Where no whiskers are seen, the interval is smaller \
                       than the mark; a hollow mark with dashed ends has no interval.";
        let chart = Chart::new(drawing::index(results, &levels), caption, legend(results, 0));
        Some(Block::Chart(Chart { title, ..chart }))
    };
    ids.into_iter().filter_map(chart).collect()
}

/// The marks of the levels of copies but the first `skip`.
pub(super) fn legend(results: &Results, skip: usize) -> Vec<(Markup, String)> {
    let levels = results.levels();
    levels.iter().enumerate().skip(skip).map(|(series, level)| (key(series), copies(*level))).collect()
}

fn gains(results: &Results) -> Vec<Block> {
    let caption = "A mark is the quotient of two scores and its whiskers the 95 % interval. Dashed lines: no gain, and every \
                   copy as fast as the first. More than that is possible: a single copy may wait for wake-ups on an idle \
                   processor or run at a lower clock, and the copies may have been disturbed less than the first was.";
    let chart = Chart::new(drawing::gains(results), caption, legend(results, 1));
    let mut blocks = Vec::new();
    for ((from, to), gains) in results.gains().iter().map(|gain| ((gain.from, gain.to), gain)).grouped() {
        let mut table = Table { headed: false, ..gain_columns().table(gains.iter().copied()).shown(Readers::PEOPLE) };
        for (row, gain) in table.rows.iter_mut().zip(gains) {
            if results.indexes().iter().any(|index| index.title() == gain.label) {
                row.kind = RowKind::Strong;
            }
        }
        blocks.push(Block::Section(format!("Gain from {} to {to}", copies(from))));
        blocks.extend((blocks.len() == 1).then(|| Block::Chart(chart.clone())));
        blocks.push(Block::Table(table));
    }
    blocks
}

/// The gains for programs.
pub(super) fn gain_data(gains: &[Gain]) -> Table {
    gain_columns().table(gains).keyed("gains").shown(Readers::PROGRAM)
}

fn gain_columns() -> Columns<'static, Gain> {
    Columns::new()
        .with(Column::words("Test").keyed("label").wide(63), |gain: &Gain| Field::text(&gain.label))
        .data(|gain| json!({"from": gain.from, "to": gain.to}))
        .with(Column::number("GAIN").keyed("gain").main().wide(9), |gain| Field::Estimate(gain.gain, words::gain))
        .with(Column::number("±").wide(7), |gain| Field::Spread(gain.gain))
        .with(Column::number("Low").shown(Readers::PAGE), |gain| Field::end(gain.gain.low, gain.gain, words::gain))
        .with(Column::number("High").shown(Readers::PAGE), |gain| Field::end(gain.gain.high, gain.gain, words::gain))
}

/// Returns the indexes at each level as large figures, or without any the scores of a few tests.
pub(super) fn figures(results: &Results) -> Vec<Block> {
    let levels = results.levels();
    let of_row = |row: &Figure| {
        let figure = headline(&levels, row.cell.key.copies, &row.score, &row.cell.unit, vec![range(&row.score)]);
        (name(&row.cell.label, &row.cell.key), figure)
    };
    let figures = match results.indexes() {
        [] => Some(results.listed().map(of_row).grouped()).filter(|names| names.len() <= FEW).unwrap_or_default(),
        indexes => indexes.iter().map(|index| index_headline(&levels, index)).grouped(),
    };
    figures.into_iter().map(|(title, figures)| Block::Headlines(title, figures)).collect()
}

/// Returns the title of an index, and its score as a large figure.
fn index_headline(levels: &[u32], index: &Index) -> (String, Headline) {
    let quiet = |quiet: Estimate| format!("{} {} undisturbed (estimate)", score(&quiet), plus_minus(quiet.halves()));
    let (title, range) = (index.title(), range(&index.score));
    let (title, more) = match index.arithmetic {
        Arithmetic::Geometric => (title, [range].into_iter().chain(index.quiet.map(quiet)).collect()),
        Arithmetic::Arithmetic => {
            let sum = format!("sum of {} items {}", index.parts.len(), words::score(index.sum));
            (format!("{title}: average"), vec![range, sum])
        }
    };
    (title, headline(levels, index.copies, &index.score, "", more))
}

/// Returns a score at one of the run's levels as a large figure.
fn headline(levels: &[u32], level: u32, estimate: &Estimate, unit: &str, more: Vec<String>) -> Headline {
    Headline {
        label: copies(level),
        mark: key(drawing::series(levels, level)),
        value: score(estimate),
        unit: unit.to_owned(),
        spread: plus_minus(estimate.halves()),
        more,
    }
}

/// Returns the ends of an interval in words.
pub(crate) fn range(estimate: &Estimate) -> String {
    if estimate.bounded() {
        let end = |end: f64| known(end, estimate, words::score);
        format!("{} to {}", end(estimate.low), end(estimate.high))
    } else {
        "no interval".to_owned()
    }
}

/// Returns a score with the digits that its interval leaves.
pub fn score(estimate: &Estimate) -> String {
    known(estimate.value, estimate, words::score)
}
