//! A table for a patch's commit message: plain ASCII of 78 columns. Two sides have columns before,
//! after and delta; several systems have a column each.

use analysis::{
    Across, Compared, Comparisons, GeometricMean, Measure, NotCompared, Results, Standing,
};
use anyhow::{Result, bail};
use catalogue::NONE;
use journal::IN_PLACE_OF;
use stats::Estimate;
use words::{Grouped, Unique, at_least, signed_fine, wrap};

use crate::document::interval;
use crate::subject::{Subject, measure_name};
use crate::views::{
    Line, MARKS_MEANING, SYSTEM_WIDTH, mark_sign, shown, unit, unit_for_people, with_readable_unit,
    words_of,
};

/// The columns of a commit message that mailing lists leave whole.
const ROOM: usize = 78;

/// There is room next to a test's name for at most so many systems.
const MAX_SYSTEMS: usize = 5;

/// Settings that are listed with what they had been before.
const MAX_SETTINGS: usize = 3;

const HOW_TO_READ_SIDES: &str = "delta: the change with its 95 % interval; for times, latencies, \
energies and memory less is better. undecided: a difference is neither shown nor ruled out.";

/// The fields of a row of two sides.
struct Figures {
    before: String,
    after: String,
    delta: String,
    interval: String,
    verdict: String,
}

/// The table, with the machines above it and how to read it below.
///
/// # Errors
/// The subject compares nothing, or more systems than there is room for.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let lines = match subject {
        Subject::Systems(all, by) => {
            let rows = [all.indexes_side_by_side(), all.sorted_side_by_side(by)].concat();
            table_of_systems(all, &rows)?
        }
        Subject::Comparison(all, _) if all.is_of_several() => {
            table_of_systems(all, &all.side_by_side())?
        }
        Subject::Comparison(all, _) => table_of_sides(subject, Some(all))?,
        _ => table_of_sides(subject, None)?,
    };

    let plain: String =
        lines.iter().map(|line| words::ascii(line).trim_end().to_owned() + "\n").collect();
    Ok(words::log_lines(&plain))
}

/// Two sides: before, after, and the change; `all` is `None` for the conditions of one run.
fn table_of_sides(subject: Subject<'_>, all: Option<&Comparisons>) -> Result<Vec<String>> {
    let changes = subject.changes();
    let Some(first) = changes.first() else {
        bail!("it compares nothing, so there is no table for a commit message; try --format text");
    };

    let mut lines = match (all, subject.results()) {
        (Some(all), _) => [head_of_sides(all), warning_lines(all)].concat(),
        (None, Some(results)) => head_of_conditions(results, first.against),
        (None, None) => Vec::new(),
    };

    // Runs have one table, the conditions of one run a table each.
    let by_condition = changes
        .iter()
        .map(|line| (all.is_none().then_some(line.key.condition.as_str()), line))
        .grouped();
    for (condition, changes) in by_condition {
        let condition = condition.filter(|condition| !condition.is_empty());
        lines.push(String::new());
        if let Some(condition) = condition {
            let blocks = count_blocks(&changes);
            let results = subject.results();
            let settings = results.map_or_else(String::new, |one| settings_of(one, condition));
            lines.extend(wrap("after:  ", &format!("{condition}{settings}, {blocks}"), ROOM));
        }
        lines.extend(place_figures("", &Figures::heads()));
        for line in changes {
            lines.extend(change_row(line, condition.is_some()));
        }
    }

    if let Some(all) = all {
        lines.extend(all.missing.iter().flat_map(|gap| missing_row(all, gap)));
        lines.extend(all.totals.iter().flat_map(|total| mean_row(&total.mean)));
    }
    lines.push(String::new());
    lines.extend(wrap("", HOW_TO_READ_SIDES, ROOM));
    Ok(lines)
}

/// What a condition wrote over: ` (/proc/sys/vm/swappiness = 10 in place of 60)`.
fn settings_of(results: &Results, condition: &str) -> String {
    let conditions = results.cost().map_or(&[][..], |cost| &cost.conditions);
    let evidence =
        conditions.iter().filter(|one| one.name == condition).flat_map(|one| &one.evidence);
    let settings: Vec<&String> = evidence.filter(|line| line.contains(IN_PLACE_OF)).collect();
    if settings.is_empty() {
        return String::new();
    }
    format!(" ({})", words::listed(&settings, MAX_SETTINGS))
}

/// The row of a change; in a table of one condition its name leaves out the condition.
fn change_row(line: &Line<'_>, is_of_condition: bool) -> Vec<String> {
    let comparison = line.comparison;
    let key = if is_of_condition { line.key.under(NONE) } else { line.key.clone() };
    let (unit_name, _) = unit_for_people(comparison);
    // Commands that alternate are a test without a name; theirs are above the table.
    let name = match comparison.unnamed() {
        Some(measure) => format!("{measure}, {unit_name}"),
        None => format!("{}, {unit_name}", measure_name(&key, comparison.measure.name())),
    };

    let [before, after] = line.sides().map(|value| separate_thousands(&shown(comparison, value)));
    let change = comparison.change();
    let unit = unit(comparison.measure);
    let style = if unit == "%" { words::change_like(change.value) } else { signed_fine };
    let figures = Figures {
        before,
        after,
        delta: format_delta(change.value, comparison.resolution, unit),
        interval: interval(&change, style),
        verdict: comparison.verdict.word().to_owned(),
    };
    place_figures(&name, &figures)
}

fn missing_row(all: &Comparisons, gap: &NotCompared) -> Vec<String> {
    let measure = gap.measure.unwrap_or(Measure::Score);
    let key = gap.cell.key.under(all.condition(&gap.cell.key.condition));
    let figures = Figures::new(["-", "-", "-", "-", "missing"]);
    place_figures(&measure_name(&key, measure.name()), &figures)
}

fn mean_row(mean: &GeometricMean) -> Vec<String> {
    let figures = Figures {
        delta: format_delta(mean.delta.value, None, "%"),
        interval: interval(&mean.delta, words::change_like(mean.delta.value)),
        ..Figures::new([""; 5])
    };
    place_figures("geometric mean", &figures)
}

/// The comment, the machine, and the condition that the others are compared with.
fn head_of_conditions(results: &Results, against: &str) -> Vec<String> {
    let comment = &results.run.comment;
    let comment = if comment.is_empty() { Vec::new() } else { wrap("", comment, ROOM) };
    [comment, machine_lines([results]), wrap("before: ", against, ROOM)].concat()
}

/// The machines, and the runs before and after.
fn head_of_sides(all: &Comparisons) -> Vec<String> {
    let (before, after): (Vec<&Compared>, Vec<&Compared>) =
        all.runs.iter().partition(|run| run.letter.starts_with(all.against()));
    let [before, after] =
        [before, after].map(|runs| runs.into_iter().map(describe_run).unique().join("; "));
    [
        machine_lines(all.runs.iter().map(|run| &run.results)),
        wrap("before: ", &before, ROOM),
        wrap("after:  ", &after, ROOM),
    ]
    .concat()
}

/// The machines of some runs, and the tools that measured them.
fn machine_lines<'a>(runs: impl IntoIterator<Item = &'a Results>) -> Vec<String> {
    let machines = runs.into_iter().map(describe_machine).unique();
    wrap("on:     ", &machines.join("; "), ROOM)
}

fn describe_machine(results: &Results) -> String {
    let run = &results.run;
    let cpus = words::count(run.cpus, "CPU");
    let day = run.started.get(..10).unwrap_or_default().to_owned();
    let mut parts = vec![results.facts.machine(), cpus, run.tool.clone(), day];
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

fn describe_run(compared: &Compared) -> String {
    let run = &compared.results.run;
    let procedure = format!("{} procedure", run.procedure.name());
    let mut parts = vec![run.comment.clone(), run.name.clone(), procedure];
    parts.extend(compared.condition.iter().map(|condition| format!("condition {condition}")));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

fn warning_lines(all: &Comparisons) -> Vec<String> {
    all.warnings.iter().flat_map(|warning| wrap("Warning: ", warning, ROOM)).collect()
}

/// The largest number of blocks or pairs behind some changes.
fn count_blocks(changes: &[&Line<'_>]) -> String {
    let most = changes.iter().map(|line| line.comparison.n.b).max().unwrap_or(0);
    let is_alternating = changes.iter().any(|line| line.comparison.cell.is_alternating());
    words::count(most, if is_alternating { "pair" } else { "block" })
}

impl Figures {
    fn new(fields: [&str; 5]) -> Figures {
        let [before, after, delta, interval, verdict] = fields.map(str::to_owned);
        Figures { before, after, delta, interval, verdict }
    }

    fn heads() -> Figures {
        Figures::new(["before", "after", "delta", "95 %", "verdict"])
    }
}

/// A name with figures at the right edge, on two lines where they have no room on one.
fn place_figures(name: &str, figures: &Figures) -> Vec<String> {
    let Figures { before, after, delta, interval, verdict } = figures;
    let fields = format!("{before:>11}{after:>11}{delta:>9}{interval:>15} {verdict:<9}");
    place_fields(name, &fields)
}

fn place_fields(name: &str, fields: &str) -> Vec<String> {
    let room = ROOM.saturating_sub(words::width(fields));
    if words::width(name) < room || name.is_empty() {
        return vec![format!("{name:<room$}{fields}")];
    }

    let mut lines = wrap("", name, ROOM);
    lines.push(format!("{:room$}{fields}", ""));
    lines
}

/// A number with its thousands apart: `48,414,501`.
fn separate_thousands(number: &str) -> String {
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    let (whole, rest) = number.split_at(end);

    let mut separated = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let is_after_thousands = (whole.len() - place).is_multiple_of(3);
        if place > 0 && is_after_thousands {
            separated.push(',');
        }
        separated.push(digit);
    }
    separated + rest
}

/// A change; where the digits are too few to show one, what they leave open: `0+-6.3%`.
fn format_delta(delta: f64, resolution: Option<f64>, unit: &str) -> String {
    match resolution {
        Some(resolution) if delta == 0.0 => format!("0+-{}{unit}", at_least(resolution)),
        _ if unit == "%" => words::change(delta),
        _ if delta.is_finite() => format!("{}{unit}", signed_fine(delta)),
        _ => "-".to_owned(),
    }
}

/// A column for each system.
fn table_of_systems(all: &Comparisons, rows: &[Across]) -> Result<Vec<String>> {
    let systems = all.runs.len();
    if systems > MAX_SYSTEMS {
        bail!(
            "a commit message has room for {MAX_SYSTEMS} systems, these are {systems}; name fewer \
             runs"
        );
    }

    let mut lines = machine_lines(all.runs.iter().map(|run| &run.results));
    for run in &all.runs {
        lines.extend(wrap(&format!("{}: ", run.letter), &describe_run(run), ROOM));
    }
    lines.extend(warning_lines(all));

    lines.push(String::new());
    let letters = all.runs.iter().map(|run| format!("{} ", run.letter));
    lines.extend(place_fields("", &place_systems(letters)));
    for row in rows {
        lines.extend(system_row(&with_readable_unit(row)));
    }
    lines.push(String::new());
    lines.extend(wrap("", &format!("{MARKS_MEANING} -: not measured there."), ROOM));
    Ok(lines)
}

fn system_row(row: &Across) -> Vec<String> {
    let name = format!("{}, {}", measure_name(&row.key, row.measure.name()), row.unit);
    let scores =
        row.standings.iter().map(|standing| marked_score(standing.as_ref(), words_of(row.measure)));
    place_fields(&name, &place_systems(scores))
}

/// The columns of systems, with words at their right edges.
fn place_systems(words: impl Iterator<Item = String>) -> String {
    words.map(|word| format!("{word:>SYSTEM_WIDTH$}")).collect()
}

fn marked_score(standing: Option<&Standing>, words: fn(f64) -> String) -> String {
    match standing {
        Some(Standing { score: Estimate { value, .. }, mark, .. }) if value.is_finite() => {
            format!("{}{}", words(*value), mark_sign(*mark))
        }
        _ => "- ".to_owned(),
    }
}
