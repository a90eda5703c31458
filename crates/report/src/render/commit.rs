//! A table for a patch's commit message: plain ASCII of 78 columns. Of two sides what changed, of more a column for
//! each.

use analysis::{Across, Compared, Comparisons, GeometricMean, Measure, Results, Standing};
use anyhow::{Result, bail};
use catalogue::NONE;
use stats::Estimate;
use words::{Grouped, Unique, at_least, signed_fine, wrap};

use crate::subject::{Subject, name};
use crate::views::{Line, MARKS, SYSTEM, shown, sign, unit, words_of};

/// The columns of a commit message that mailing lists leave whole.
const ROOM: usize = 78;

/// The systems that there is room for beside a test's name.
const MOST: usize = 5;

/// Returns the table with what it is of above it, and how to read it below.
///
/// # Errors
/// The subject compares nothing, or more systems than there is room for.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let lines = match subject {
        Subject::Systems(all, by) => systems(all, &[all.indexes_side_by_side(), all.sorted_side_by_side(by)].concat())?,
        Subject::Comparison(all, _) if all.is_of_several() => systems(all, &all.side_by_side())?,
        Subject::Comparison(all, _) => sides(subject, Some(all))?,
        _ => sides(subject, None)?,
    };
    let plain = lines.iter().map(|line| words::ascii(line).trim_end().to_owned() + "\n");
    Ok(words::log_lines(&plain.collect::<String>()))
}

/// Two sides: before, after, and the change; `all` is `None` for the conditions of one run.
fn sides(subject: Subject<'_>, all: Option<&Comparisons>) -> Result<Vec<String>> {
    let changes = subject.changes();
    let Some(first) = changes.first() else {
        bail!("it compares nothing, so there is no table for a commit message; try --format text");
    };
    let mut lines = match all {
        Some(all) => [runs_of_sides(all), warnings(all)].concat(),
        None => subject.results().map_or_else(Vec::new, |results| of_one_run(results, first)),
    };
    let after = |line: &Line<'_>| if all.is_some() { String::new() } else { line.key.condition.clone() };
    for (after, changes) in changes.iter().map(|line| (after(line), line)).grouped() {
        lines.push(String::new());
        if !after.is_empty() {
            lines.extend(wrap("after:  ", &format!("{after}, {}", blocks(&changes)), ROOM));
        }
        lines.extend(placed("", &figures(["before", "after", "delta", "95 %", "verdict"])));
        for line in changes {
            let one = line.comparison;
            let key = if after.is_empty() { line.key.clone() } else { line.key.under(NONE) };
            let title = format!("{}, {}", name(&key, one.measure.name()), one.unit);
            lines.extend(placed(&title, &figures(change(line).each_ref().map(String::as_str))));
        }
    }
    for gap in all.iter().flat_map(|all| &all.missing) {
        let measure = gap.measure.unwrap_or(Measure::Score).name();
        let key = gap.cell.key.under(all.map_or("", |all| all.condition(&gap.cell.key.condition)));
        lines.extend(placed(&name(&key, measure), &figures(["-", "-", "-", "-", "missing"])));
    }
    for GeometricMean { delta: change, .. } in all.iter().flat_map(|all| &all.totals).map(|total| &total.mean) {
        let [delta, interval] = [delta(change.value, None, "%"), interval(change)];
        lines.extend(placed("geometric mean", &figures(["", "", &delta, &interval, ""])));
    }
    lines.push(String::new());
    lines.extend(wrap(
        "",
        "delta: the change with its 95 % interval; for times, latencies, energies and memory less is better. undecided: a \
         difference is neither shown nor ruled out.",
        ROOM,
    ));
    Ok(lines)
}

/// The machine and the reference of the conditions of one run.
fn of_one_run(results: &Results, first: &Line<'_>) -> Vec<String> {
    let run = &results.run;
    let before = wrap("before: ", first.against, ROOM);
    let comment = if run.comment.is_empty() { Vec::new() } else { wrap("", &run.comment, ROOM) };
    [comment, on([results]), before].concat()
}

/// The machines of some runs, and the tools that measured them.
fn on<'a>(runs: impl IntoIterator<Item = &'a Results>) -> Vec<String> {
    let machine = |results: &Results| {
        let run = &results.run;
        let cpus = words::count(run.cpus, "CPU");
        let day = run.started.get(..10).unwrap_or_default().to_owned();
        let all = [results.facts.machine(), cpus, run.tool.clone(), day];
        all.into_iter().filter(|part| !part.is_empty()).collect::<Vec<String>>().join(", ")
    };
    wrap("on:     ", &runs.into_iter().map(machine).unique().join("; "), ROOM)
}

/// The number of blocks or pairs behind some changes.
fn blocks(changes: &[&Line<'_>]) -> String {
    let most = changes.iter().map(|line| line.comparison.n.b).max().unwrap_or(0);
    let in_turn = changes.iter().any(|line| line.comparison.cell.in_turn);
    words::count(most, if in_turn { "pair" } else { "block" })
}

/// The figures of a row, at the right edge.
fn figures([before, after, delta, interval, verdict]: [&str; 5]) -> String {
    format!("{before:>11}{after:>11}{delta:>9}{interval:>15} {verdict:<9}")
}

/// A name with figures at the right edge, on two lines where they have no room on one.
fn placed(name: &str, figures: &str) -> Vec<String> {
    let room = ROOM.saturating_sub(words::width(figures));
    if words::width(name) < room || name.is_empty() {
        return vec![format!("{name:<room$}{figures}")];
    }
    let mut lines = wrap("", name, ROOM);
    lines.push(format!("{:room$}{figures}", ""));
    lines
}

/// Returns before, after, delta, interval and verdict.
fn change(line: &Line<'_>) -> [String; 5] {
    let one = line.comparison;
    let [before, after] = line.sides().map(|value| separated(&shown(one, value)));
    let unit = unit(one.measure);
    let change = one.change();
    let delta = delta(change.value, one.resolution, unit);
    [before, after, delta, interval(&change), one.verdict.word().to_owned()]
}

/// A number with its thousands apart: `48,414,501`.
fn separated(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len()));
    let digit = |(place, digit): (usize, char)| {
        let is_first = place == 0 || (whole.len() - place) % 3 != 0;
        if is_first { digit.to_string() } else { format!(",{digit}") }
    };
    whole.chars().enumerate().map(digit).collect::<String>() + rest
}

fn delta(delta: f64, resolution: Option<f64>, unit: &str) -> String {
    match resolution {
        Some(resolution) if delta == 0.0 => format!("0+-{}{unit}", at_least(resolution)),
        _ if delta.is_finite() => format!("{}{unit}", signed_fine(delta)),
        _ => "-".to_owned(),
    }
}

fn interval(estimate: &Estimate) -> String {
    crate::document::interval(estimate, signed_fine)
}

/// The runs before and after.
fn runs_of_sides(all: &Comparisons) -> Vec<String> {
    let side = |lead: &str, is_base: bool| {
        let own = all.runs.iter().filter(|run| run.letter.starts_with(all.against()) == is_base);
        wrap(lead, &own.map(described).unique().join("; "), ROOM)
    };
    [on(all.runs.iter().map(|run| &run.results)), side("before: ", true), side("after:  ", false)].concat()
}

fn described(compared: &Compared) -> String {
    let run = &compared.results.run;
    let mut words = vec![run.comment.clone(), run.name.clone(), format!("{} procedure", run.procedure.name())];
    words.extend(compared.condition.iter().map(|condition| format!("condition {condition}")));
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

fn warnings(all: &Comparisons) -> Vec<String> {
    all.warnings.iter().flat_map(|warning| wrap("Warning: ", warning, ROOM)).collect()
}

/// A column for each system.
fn systems(all: &Comparisons, rows: &[Across]) -> Result<Vec<String>> {
    let runs = &all.runs;
    if runs.len() > MOST {
        bail!("a commit message has room for {MOST} systems, these are {}; name fewer runs", runs.len());
    }
    let mut lines = on(runs.iter().map(|run| &run.results));
    lines.extend(runs.iter().flat_map(|run| wrap(&format!("{}: ", run.letter), &described(run), ROOM)));
    lines.extend(warnings(all));
    lines.push(String::new());
    lines.extend(placed("", &cells(runs.iter().map(|run| format!("{} ", run.letter)))));
    for row in rows {
        let title = format!("{}, {}", name(&row.key, row.measure.name()), row.unit);
        let marked = row.standings.iter().map(|standing| marked(standing.as_ref(), words_of(row.measure)));
        lines.extend(placed(&title, &cells(marked)));
    }
    lines.push(String::new());
    lines.extend(wrap("", &format!("{MARKS} -: not measured there."), ROOM));
    Ok(lines)
}

/// The columns of a line, at their right edges.
fn cells(words: impl Iterator<Item = String>) -> String {
    words.map(|word| format!("{word:>SYSTEM$}")).collect()
}

/// A score with its mark.
fn marked(standing: Option<&Standing>, words: fn(f64) -> String) -> String {
    let Some(standing) = standing.filter(|one| one.score.value.is_finite()) else { return "- ".to_owned() };
    format!("{}{}", words(standing.score.value), sign(standing.mark))
}
