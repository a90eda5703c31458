//! The report of `ab`: the answer as one sentence per command, then the numbers behind it.
//!
//! The first command is the *old* one, which every *new* one is compared with. A sentence is made
//! of clauses: the answer, the pairs and the time that it rests on, what else changed (processor
//! time, memory, system calls), advice, and a doubt if the control calls for one. Benchmark
//! programs print figures of their own, and then the answer is about these.

use analysis::{
    Comparison, Condition, Cost, Measure, Missing, NOT_REACHED, Remark, Results, Units, Verdict,
    ask_direction, is_printed,
};
use catalogue::NONE;
use journal::{SamplingUnit, TimeUnit};
use stats::Estimate;
use words::Unique;

use super::shared::{coordinates, unsigned};
use super::{comparisons, cost, counts, executions, functions};
use crate::document::Block;

/// The note on pairs and intervals under the table of differences.
const HOW_PAIRS_ARE_JUDGED: &str = "\
    a pair is two executions of the same round, one soon after the other and in random order. Both \
    sides show the median of all executions, as does the whole report; the delta is that of pairs: \
    the median of the averages of all pairs of differences. Its interval is that of the signed-rank \
    test, widened because pairs may depend on each other and because the run looked at the answer \
    while it measured (docs/methodology.md)";

/// The same where several executions are one sample.
const HOW_UNITS_ARE_JUDGED: &str = "\
    the value of a build, a block or a process is the median of its executions, of a build without \
    what the machine's drift does to them. The delta is that of these values, and its interval that \
    of a test by ranks of as many values: it holds for other builds, blocks or processes, too, and \
    not for these alone (docs/methodology.md)";

/// The advice for an answer that more executions would settle.
const MEASURE_LONGER: &str = "a longer --budget, or more --runs, would narrow this";

/// The advice for builds whose executions are the larger part of the variance. Not --runs, with
/// which no more builds are made.
const EXECUTE_BUILDS_LONGER: &str = "more executions (a longer --budget) would narrow this";

/// The advice for builds whose own differences are the larger part of the variance.
const BUILD_MORE: &str = "more --builds would narrow this";

/// The advice for an open answer about servers, each of which is started a fixed number of times.
const RESTART_MORE: &str = "more --restarts would narrow this";

/// A sentence names at most this many figures.
const MAX_NAMED_FIGURES: usize = 6;

/// The two commands of a comparison.
#[derive(Clone, Copy)]
struct Commands<'a> {
    new: &'a str,
    old: &'a str,
}

/// The answer for one new command, in words.
struct Answer {
    text: String,
    /// True if more executions, or more builds, would settle it.
    is_open: bool,
}

impl Answer {
    fn settled(text: String) -> Answer {
        Answer { text, is_open: false }
    }

    fn open(text: String) -> Answer {
        Answer { text, is_open: true }
    }
}

/// The answer for all commands in one sentence, the largest change first: `Compared with ./O2:
/// faster or better: ./O3 -12.3% (-13.4..-11.1); the same: ./O1 within 0.8 %; 120 pairs in 17 s.`
pub(crate) fn sentence_about_all(results: &Results, cost: &Cost) -> String {
    let arms = cost::Arms::new(cost);
    let mut times: Vec<&Comparison> = cost.conditions.iter().filter_map(main_comparison).collect();
    times.sort_by(|a, b| a.delta.value.abs().total_cmp(&b.delta.value.abs()).reverse());

    let mut parts = Vec::new();
    for (place, name) in KINDS.iter().enumerate() {
        let of_kind = times.iter().filter(|time| kind(time.verdict) == place);
        let described: Vec<String> =
            of_kind.map(|time| describe_arm(time, arms.in_sentence(&time.run))).collect();
        if !described.is_empty() {
            parts.push(format!("{name}: {}", words::listed(&described, MAX_NAMED_FIGURES)));
        }
    }
    let Some(least) = times.iter().map(|time| time.n.b).min() else {
        return sentences(results, cost).into_iter().next().unwrap_or_default();
    };
    let pairs = words::count(least, "pair");
    parts.push(format!("{pairs} in {}", words::duration(results.seconds)));
    let commands = cost.conditions.iter().map(|condition| condition.name.as_str());
    let mishaps: Vec<String> = std::iter::once(cost.against.as_str())
        .chain(commands)
        .flat_map(|command| mishaps(results, command))
        .collect();
    if !mishaps.is_empty() {
        parts.push(words::listed(&mishaps, MAX_NAMED_FIGURES));
    }
    parts.extend(executions::quota(results));
    parts.extend(doubt_by_control(cost));
    format!("Compared with {}: {}.", arms.base_in_sentence(), parts.join("; "))
}

/// What a verdict says of a command, in the order of a sentence about all commands.
const KINDS: [&str; 5] =
    ["faster or better", "slower or worse", "the same", "without a verdict", "undecided"];

/// The place of a verdict among [`KINDS`].
fn kind(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Faster | Verdict::Better => 0,
        Verdict::Slower | Verdict::Worse => 1,
        Verdict::Same(_) => 2,
        Verdict::Differs | Verdict::Undirected => 3,
        Verdict::Undecided(_) => 4,
    }
}

/// The comparison that leads a command's answer: its first printed figure, else its time.
fn main_comparison(condition: &Condition) -> Option<&Comparison> {
    let figure = printed_figures(condition).into_iter().next();
    figure.or_else(|| comparison_of(condition, Measure::Score))
}

/// `O3 -12.3% (-13.4..-11.1)`; `O1 within 0.8 %`.
fn describe_arm(time: &Comparison, name: &str) -> String {
    match time.verdict {
        Verdict::Same(limit) => format!("{name} within {} %", words::at_least(limit)),
        _ => {
            let ends = comparisons::interval_of(time).words();
            format!("{name} {} ({ends})", comparisons::change(time).words())
        }
    }
}

/// True of the time of a command, which has no name of its own.
pub(super) fn is_time(one: &Comparison) -> bool {
    one.measure == Measure::Score && one.unnamed().is_some()
}

/// True of a remark that the sentences do not hold.
pub(super) fn is_beside_the_answer(remark: &Remark) -> bool {
    !executions::is_in_answer(remark) && !remark.is_of_method()
}

/// The answer for every command that is compared with the first.
pub(crate) fn sentences(results: &Results, cost: &Cost) -> Vec<String> {
    cost.conditions.iter().map(|condition| sentence(results, cost, condition)).collect()
}

fn sentence(results: &Results, cost: &Cost, condition: &Condition) -> String {
    let commands = Commands { new: &condition.name, old: &cost.against };
    let figures = printed_figures(condition);

    let (answer, comparison) = if let Some(first) = figures.first() {
        (answer_about_figures(&figures, commands), *first)
    } else if let Some(time) = comparison_of(condition, Measure::Score) {
        (answer_about_time(time, commands, cost.threshold), time)
    } else {
        let Commands { new, old } = commands;
        let reason = why_not_compared(results, cost, commands);
        return words::end_sentence(&format!("{new} could not be compared with {old}: {reason}"));
    };

    let pairs = comparison.describe_sample();
    let duration = words::duration(results.seconds);
    let mut clauses = vec![format!("{}, {pairs} in {duration}", answer.text)];
    clauses.extend(comparison.describe_units());
    clauses.extend(describe_speeds(comparison, commands));
    if figures.is_empty() {
        clauses.extend(changes_in_tails(condition));
        clauses.extend(changes_in_use(results, condition, answer.is_open));
    }
    clauses.extend(functions::sentence(results, commands.new));
    for command in [commands.new, commands.old] {
        clauses.extend(mishaps(results, command));
    }
    clauses.extend(executions::quota(results));
    if answer.is_open {
        let needs_executions = comparison.units.is_some_and(|units| units.need_executions());
        let advice = match comparison.cell.sampled {
            SamplingUnit::Process => RESTART_MORE,
            SamplingUnit::Build if needs_executions => EXECUTE_BUILDS_LONGER,
            SamplingUnit::Build => BUILD_MORE,
            _ => MEASURE_LONGER,
        };
        clauses.push(advice.to_owned());
    }
    clauses.extend(lost_figures(cost, condition));
    clauses.extend(failed_figures(results, cost));
    clauses.extend(advice_on_direction(&figures));
    clauses.extend(doubt_by_control(cost));
    format!("{}.", clauses.join("; "))
}

/// `two speeds, 4 and 8.5 ms: old is fast in 30 %, new in 70 % (+29 to +50 points); new against
/// old, fast +0.2% (-0.5..+0.9), slow -0.1% (-0.6..+0.4)`; of units, `two speeds of 16 builds,
/// …`.
fn describe_speeds(comparison: &Comparison, commands: Commands<'_>) -> Option<String> {
    let speeds = comparison.two_speeds?;
    let Commands { new, old } = commands;
    let of_units = match comparison.units {
        Some(Units { unit, n, .. }) => format!(" of {}", words::count(n.a + n.b, unit.name())),
        None => String::new(),
    };
    let (symbol, scale) = TimeUnit::suited(speeds.slow).scale();
    let [fast, slow] = [speeds.fast, speeds.slow].map(|ms| words::compact(ms * scale));
    let [old_share, new_share] =
        [speeds.fast_share.a, speeds.fast_share.b].map(|share| format!("{:.0} %", 100.0 * share));
    let points = speeds.more_often_fast;
    let mut text = format!(
        "two speeds{of_units}, {fast} and {slow} {symbol}: {old} is fast in {old_share}, {new} in {new_share} ({:+.0} to {:+.0} \
         points)",
        points.low, points.high
    );

    let mut changes = Vec::new();
    for (name, change) in [("fast", speeds.when_fast), ("slow", speeds.when_slow)] {
        if change.bounded() {
            let Estimate { value, low, high } = change;
            changes.push(format!("{name} {value:+.1}% ({low:+.1}..{high:+.1})"));
        }
    }
    if !changes.is_empty() {
        text.push_str(&format!("; {new} against {old}, {}", changes.join(", ")));
    }
    Some(text)
}

/// The comparisons of the figures that the commands print.
fn printed_figures(condition: &Condition) -> Vec<&Comparison> {
    let comparisons = condition.effects.iter().map(|effect| &effect.comparison);
    comparisons.filter(|comparison| is_printed(&comparison.cell)).collect()
}

/// The figures of the first command that the other lacks: `1 figure is missing: parse (new did not
/// print it)`.
fn lost_figures(cost: &Cost, condition: &Condition) -> Option<String> {
    let lost: Vec<String> = cost
        .lost()
        .filter(|gap| gap.key.condition == condition.name)
        .map(|gap| format!("{} ({})", gap.label, gap.reason))
        .collect();
    if lost.is_empty() {
        return None;
    }
    let is_missing = if lost.len() == 1 { "is missing" } else { "are missing" };
    let names = words::listed(&lost, MAX_NAMED_FIGURES);
    Some(format!("{} {is_missing}: {names}", words::count(lost.len(), "figure")))
}

/// The printed figures that failed in every execution of the first command: `1 figure failed under
/// old: parse (it is NaN)`.
fn failed_figures(results: &Results, cost: &Cost) -> Option<String> {
    let failed = results.printed_failures(&cost.against);
    let failed: Vec<String> = failed.map(|gap| format!("{} ({})", gap.label, gap.reason)).collect();
    if failed.is_empty() {
        return None;
    }
    let names = words::listed(&failed, MAX_NAMED_FIGURES);
    let figures = words::count(failed.len(), "figure");
    Some(format!("{figures} failed under {}: {names}", cost.against))
}

/// How to get a verdict on figures whose better direction nobody knows.
fn advice_on_direction(figures: &[&Comparison]) -> Option<String> {
    let undirected = figures.iter().filter(|figure| figure.verdict == Verdict::Undirected);
    let labels: Vec<String> = undirected.map(|figure| figure.cell.label.clone()).collect();
    (!labels.is_empty()).then(|| ask_direction(&labels))
}

fn comparison_of(condition: &Condition, measure: Measure) -> Option<&Comparison> {
    let mut comparisons = condition.effects.iter().map(|effect| &effect.comparison);
    comparisons.find(|comparison| comparison.measure == measure)
}

fn why_not_compared<'a>(results: &'a Results, cost: &'a Cost, commands: Commands) -> &'a str {
    let is_of_either = |gap: &&Missing| {
        let command = gap.key.condition.as_str();
        command == commands.new || command == commands.old
    };
    let gaps = results.errors.iter().chain(&results.skipped).chain(&cost.missing);
    let reasons: Vec<&str> = gaps.filter(is_of_either).map(|gap| gap.reason.as_str()).collect();
    // The reason of the command that ended the run is that of the other, too.
    let own = reasons.iter().find(|reason| **reason != NOT_REACHED);
    own.or(reasons.first()).copied().unwrap_or("nothing was measured")
}

/// The answer about the commands' time: `new is faster than old by 5.2 % (4.9 to 5.5)`.
fn answer_about_time(time: &Comparison, commands: Commands, threshold: f64) -> Answer {
    let Commands { new, old } = commands;
    match time.verdict {
        Verdict::Slower | Verdict::Worse | Verdict::Faster | Verdict::Better => {
            Answer::settled(describe_difference(time.change(), commands))
        }
        Verdict::Same(limit) => {
            let limit = words::at_least(limit);
            Answer::settled(format!("{new} takes as long as {old}, within {limit} %"))
        }
        Verdict::Undecided(_) | Verdict::Differs | Verdict::Undirected => {
            answer_without_verdict(time.change(), commands, threshold)
        }
    }
}

/// The answer about a change in time that has no verdict, by what its interval still says.
fn answer_without_verdict(change: Estimate, commands: Commands, threshold: f64) -> Answer {
    let Commands { new, old } = commands;
    if !change.bounded() {
        return Answer::open(format!("{new} cannot be told from {old} yet"));
    }
    let excludes_zero = change.low > 0.0 || change.high < 0.0;
    if !excludes_zero && change.high >= words::MIN_MULTIPLE {
        let [low, high] = [change.low, change.high].map(|end| words::factor(1.0 + end / 100.0));
        return Answer::open(format!(
            "undecided: {new} takes between {low} and {high} as long as {old}"
        ));
    }
    if !excludes_zero {
        let [less, more] = [change.low, change.high].map(unsigned);
        return Answer::open(format!(
            "undecided: {new} takes between {less} % less and {more} % more time than {old}"
        ));
    }

    let difference = describe_difference(change, commands);
    if change.value.abs() <= threshold {
        let threshold = words::compact(threshold);
        Answer::settled(format!("{difference}, less than the {threshold} % that count"))
    } else {
        Answer::open(format!("undecided: {difference}, which may be chance"))
    }
}

/// `new is slower than old by 5.2 % (4.9 to 5.5)`, or `new takes 91x (88x to 93x) as long as old`.
/// The interval begins with the smaller change.
fn describe_difference(change: Estimate, Commands { new, old }: Commands) -> String {
    if let Some(factor) = describe_factor(change) {
        return match change.value > 0.0 {
            true => format!("{new} takes {factor} as long as {old}"),
            false => format!("{new} is {factor} as fast as {old}"),
        };
    }
    let is_faster = change.value < 0.0;
    let mut ends = [change.low, change.high];
    if is_faster {
        ends.reverse();
    }

    let direction = if is_faster { "faster" } else { "slower" };
    let size = unsigned(change.value);
    let [from, to] = ends.map(unsigned);
    format!("{new} is {direction} than {old} by {size} % ({from} to {to})")
}

/// How many times as long, or as fast, a change of twice and more is: `91x (88x to 93x)`.
fn describe_factor(change: Estimate) -> Option<String> {
    let times = |change: f64| 1.0 + change / 100.0;
    let [value, low, high] = match change.value {
        value if value >= words::MIN_MULTIPLE => {
            [times(value), times(change.low), times(change.high)]
        }
        value if value <= -50.0 => {
            [1.0 / times(value), 1.0 / times(change.high), 1.0 / times(change.low)]
        }
        _ => return None,
    };
    let is_known = [value, low, high].iter().all(|factor| factor.is_finite() && *factor > 0.0);
    is_known.then(|| {
        let [value, low, high] = [value, low, high].map(words::factor);
        format!("{value} ({low} to {high})")
    })
}

/// The answer about figures that the commands print: `new is worse than old in 1 of 3 figures
/// (parse +5.2 %), the same in 2 of 3 figures within 0.8 %`.
fn answer_about_figures(figures: &[&Comparison], Commands { new, old }: Commands) -> Answer {
    let mut worse = Vec::new();
    let mut better = Vec::new();
    let mut undirected = Vec::new();
    let mut limits = Vec::new();
    let mut undecided = 0;
    for &figure in figures {
        match figure.verdict {
            Verdict::Same(limit) => limits.push(limit),
            Verdict::Undecided(_) => undecided += 1,
            Verdict::Undirected => undirected.push(figure),
            verdict if verdict.is_loss() => worse.push(figure),
            _ => better.push(figure),
        }
    }

    let all = words::count(figures.len(), "figure");
    let mut findings = Vec::new();
    let [worse_than, better_than] = ["worse", "better"].map(|word| format!("{word} than {old}"));
    for (direction, called) in [
        (worse_than.as_str(), worse),
        (better_than.as_str(), better),
        ("without a verdict", undirected),
    ] {
        if !called.is_empty() {
            let count = called.len();
            let names = words::listed(&describe_changes(&called), MAX_NAMED_FIGURES);
            findings.push(format!("{direction} in {count} of {all} ({names})"));
        }
    }
    if !limits.is_empty() {
        let count = limits.len();
        let limit = words::at_least(limits.into_iter().fold(0.0, f64::max));
        let same =
            if findings.is_empty() { format!("as good as {old}") } else { "the same".to_owned() };
        findings.push(format!("{same} in {count} of {all} within {limit} %"));
    }

    let findings = findings.join(", ");
    if undecided == 0 {
        Answer::settled(format!("{new} is {findings}"))
    } else if findings.is_empty() {
        Answer::open(format!("{new} cannot be told from {old} yet in any of {all}"))
    } else {
        Answer::open(format!("{new} is {findings}; {undecided} of {all} undecided"))
    }
}

/// The figures with their changes, the largest change first: `parse +5.2 %`.
fn describe_changes(figures: &[&Comparison]) -> Vec<String> {
    let mut figures = figures.to_vec();
    figures.sort_by(|a, b| b.delta.value.abs().total_cmp(&a.delta.value.abs()));
    let describe = |figure: &&Comparison| {
        let change = figure.change().value;
        let change = match change.is_finite() {
            true => words::change(change).replace('%', " %"),
            false => figure.describe_size(),
        };
        format!("{}{} {change}", figure.cell.label, coordinates(&figure.cell.key.under(NONE)))
    };
    figures.iter().map(describe).collect()
}

/// The quantiles of executions: `p99 +12.3% (+8.1..+16.9)`; undecided ones as such.
fn changes_in_tails(condition: &Condition) -> Vec<String> {
    let comparisons = condition.effects.iter().map(|effect| &effect.comparison);
    let tails = comparisons.filter(|one| one.is_of_quantile());
    tails
        .map(|one| {
            let ends = comparisons::interval_of(one).words();
            let (name, change) = (one.measure.name(), comparisons::change(one).words());
            let is_open = matches!(one.verdict, Verdict::Undecided(_));
            let doubt = if is_open { ", undecided" } else { "" };
            format!("{name} {change} ({ends}){doubt}")
        })
        .collect()
}

/// The changes in processor time, memory and system calls, as far as they are known: `user time
/// +2.3 %, memory the same, +2 read per execution`.
fn changes_in_use(results: &Results, condition: &Condition, has_open_time: bool) -> Option<String> {
    let mut changes = Vec::new();
    for measure in [Measure::Cpu, Measure::Memory] {
        let Some(comparison) = comparison_of(condition, measure) else {
            continue;
        };
        let name = measure.name();
        match comparison.verdict {
            Verdict::Undecided(_) | Verdict::Differs | Verdict::Undirected => {}
            Verdict::Same(_) => changes.push(format!("{name} the same")),
            Verdict::Slower | Verdict::Worse | Verdict::Faster | Verdict::Better => {
                let change = words::change(comparison.change().value).replace('%', " %");
                // Where the time is undecided, it may be what a gate fails by.
                let ends = match has_open_time {
                    true => {
                        let ends = comparisons::interval_of(comparison).words();
                        format!(" ({})", ends.replace("..", " to "))
                    }
                    false => String::new(),
                };
                changes.push(format!("{name} {change}{ends}"));
            }
        }
    }
    changes.extend(counts::sentence(results, &condition.name));
    (!changes.is_empty()).then(|| changes.join(", "))
}

/// The mishaps of a command: `old: 3 of 10 executions failed (exit status 1)`.
fn mishaps(results: &Results, command: &str) -> Vec<String> {
    let figures = results.figures.iter().filter(|row| row.cell.key.condition == command);
    let of_figures = figures.flat_map(|row| &row.warnings);
    // Where figures are those that commands print, what is noted of the commands is the run's.
    let of_run = results.warnings.iter().map(Remark::of_run);
    let of_run = of_run.filter(|(run, _)| *run == command).map(|(_, remark)| remark);
    let mishaps = of_figures.chain(of_run).filter(|remark| executions::is_mishap(remark));
    mishaps.map(|remark| format!("{command}: {remark}")).unique()
}

/// The doubt that a control raises whose two arms, both of one command, differ in time or in a
/// printed figure.
fn doubt_by_control(cost: &Cost) -> Option<String> {
    let mut control = cost.control.iter().map(|effect| &effect.comparison);
    let different =
        control.find(|arm| arm.measure == Measure::Score && arm.verdict.is_decided())?;
    Some(format!(
        "but in the control {} differed from itself: measure again before you trust this",
        different.run
    ))
}

/// The commands, their differences, and what these rest on.
pub(super) fn blocks(results: &Results, cost: &Cost) -> Vec<Block> {
    let mut blocks = cost::data(cost);
    blocks.push(Block::section("Differences"));
    blocks.extend(cost::differences_of_all(cost));
    blocks.push(Block::notes(remarks(results, cost, |_| true)));
    blocks.extend(executions::blocks(results));
    blocks.extend(counts::blocks(results));
    blocks.extend(functions::blocks(results));
    blocks.extend(cost::check(cost));

    blocks.push(Block::section("Not measured"));
    blocks.push(Block::items(cost::not_measured(results, cost)));

    let has_units = cost.effects().any(|effect| effect.comparison.units.is_some());
    let how = if has_units { HOW_UNITS_ARE_JUDGED } else { HOW_PAIRS_ARE_JUDGED };
    let mut notes = vec![comparisons::reading(cost.threshold), how.to_owned()];
    notes.extend(cost.caveats.iter().chain(&cost.notes).cloned());
    blocks.push(Block::fold("How to read the differences"));
    blocks.push(Block::notes(notes));
    blocks
}

/// What must be known of the commands and of their differences, as far as `is_told` holds: each
/// remark once, with the commands that it touches.
pub(super) fn remarks(results: &Results, cost: &Cost, is_told: fn(&Remark) -> bool) -> Vec<String> {
    let mut of_commands: Vec<(String, &Remark)> = Vec::new();
    for figure in &results.figures {
        let command = &figure.cell.key.condition;
        of_commands.extend(figure.warnings.iter().map(|remark| (command.clone(), remark)));
    }

    let mut of_differences: Vec<(String, &Remark)> = Vec::new();
    for effect in cost.effects() {
        let comparison = &effect.comparison;
        let what = comparison.unnamed().unwrap_or(&comparison.cell.label);
        let name = format!("{what} of {}", comparison.run);
        let own = comparison.warnings.iter();
        let of_difference = own.filter(|remark| matches!(remark, Remark::OtherWay { .. }));
        of_differences.extend(of_difference.map(|remark| (name.clone(), remark)));
    }
    for named in [&mut of_commands, &mut of_differences] {
        named.retain(|(_, remark)| is_told(remark));
    }
    let mut remarks = comparisons::grouped_remarks(of_commands, Some(1 + cost.conditions.len()));
    remarks.extend(comparisons::grouped_remarks(of_differences, None));
    remarks
}
