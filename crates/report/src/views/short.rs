//! The short report: the answer, one table, a line on the control, the caveats that apply to this
//! run, and where the whole is. [`answer`] is the first of these alone.
//!
//! Runs about a question have one: commands, the cost of conditions, and interactive tasks. Of
//! other runs, such as an index, the table is the report.

use analysis::{
    Comparison, Cost, Effect, Figure, Findings, Index, Measure, Remark, Results, Verdict,
    is_printed,
};
use journal::{SamplingUnit, View};
use words::{Unique, copies};

use super::comparisons::{self, Line};
use super::cost::Arms;
use super::shared::coordinates;
use super::{ab, card, cost, executions, functions, latency, run};
use crate::document::{
    Block, Column, Columns, Document, Field, List, Readers, Table, ends_after, known,
};

/// Most rows of the table; those that show a difference come first where there are more.
const MAX_ROWS: usize = 12;

/// Most caveats, of which each is a line or two.
const MAX_CAVEATS: usize = 2;

/// Most comparisons of the control that its line names, and most figures that are an answer.
const MAX_NAMED: usize = 3;

/// The width of the reference's name in the line on the control.
const NAME: usize = 24;

/// The answer alone, in sentences.
pub(crate) fn answer(results: &Results) -> Document {
    let mut document = Document::default();
    document.extend([Block::Lead(sentences(results))]);
    document
}

/// The answer in one string; of a run that measured nothing why that is so.
pub(crate) fn answer_in_words(results: &Results) -> String {
    match sentences(results) {
        none if none.is_empty() => run::not_measured(results).join("; "),
        sentences => sentences.join(" "),
    }
}

/// The short report of a run, if it has one; it says where the whole is of a run that is kept.
pub(crate) fn short(results: &Results, is_kept: bool) -> Option<Document> {
    if results.run.view == View::Card {
        return None;
    }
    let table = table(results)?;
    let mut document = answer(results);
    document.table(table);
    document.extend(functions::short_table(results).map(Block::Table));
    let (lead, readers) = ("- ", Readers::TERMINAL);
    document.extend([Block::List(List {
        lead,
        items: below(results, is_kept),
        readers,
        ..List::default()
    })]);
    Some(document)
}

/// The answer in sentences; of several commands in one, since the table names each.
fn sentences(results: &Results) -> Vec<String> {
    if results.run.view == View::Card {
        return vec![card::verdict(results)];
    }
    if let Some(cost) = results.cost()
        && results.run.view == View::Ab
        && cost.conditions.len() > 1
    {
        return vec![ab::sentence_about_all(results, cost)];
    }
    match run::lead(results) {
        Some(Block::Lead(sentences)) => sentences,
        _ if has_few_figures(results) => results.figures.iter().map(describe_figure).collect(),
        _ => results.indexes().iter().map(describe_index).collect(),
    }
}

/// True of a run of a test or two, which are no index.
fn has_few_figures(results: &Results) -> bool {
    results.figures.len() <= MAX_NAMED && !results.indexes().iter().any(|index| index.complete)
}

/// `System Call Overhead x2: 1231700 lps (1229000 to 1234000).`
fn describe_figure(figure: &Figure) -> String {
    let Figure { cell, score, .. } = figure;
    let ends = ends_after(score, words::score);
    let value = known(score.value, score, words::score);
    format!("{}{}: {value} {}{ends}.", cell.label, coordinates(&cell.key), cell.unit)
}

/// `System Benchmarks (2 copies): 1234.5 (1200.1 to 1260.9).`
fn describe_index(index: &Index) -> String {
    let score = index.score;
    let ends = ends_after(&score, words::tenth);
    format!("{} ({}): {}{ends}.", index.title(), copies(index.copies), words::tenth(score.value))
}

/// The table that the answer rests on; `None` of a run that is about no such question.
fn table(results: &Results) -> Option<Table> {
    match &results.findings {
        Findings::Cost(cost) if results.run.view == View::Ab => Some(of_arms(results, cost)),
        Findings::Cost(cost) if !cost.starts.is_empty() => cost::starts(cost),
        Findings::Cost(cost) if cost.conditions.len() > 1 => Some(cost::matrix(cost)),
        Findings::Cost(cost) => Some(of_condition(cost)),
        Findings::Scores { .. } => {
            executions::table(results).or_else(|| latency::short_map(results))
        }
        _ => None,
    }
}

/// A command that is compared.
struct Arm<'a> {
    name: &'a str,
    /// Its time; of the first command as it is compared with the second.
    time: &'a Comparison,
    is_base: bool,
}

impl Arm<'_> {
    fn value(&self) -> f64 {
        if self.is_base { self.time.a } else { self.time.b }
    }

    fn of_change(&self, field: impl Fn(&Comparison) -> Field) -> Field {
        if self.is_base { Field::Nothing } else { field(self.time) }
    }
}

/// A row for each command, or for each figure that the commands print.
fn of_arms(results: &Results, cost: &Cost) -> Table {
    let arms = Arms::new(cost);
    let is_about_figures = cost.effects().any(|effect| is_printed(&effect.comparison.cell));
    if is_about_figures {
        let figures = cost.effects().filter(|effect| is_printed(&effect.comparison.cell)).collect();
        return of_effects(cost, figures);
    }

    let times: Vec<&Comparison> =
        cost.effects().map(|effect| &effect.comparison).filter(|one| ab::is_time(one)).collect();
    let base = times.first().map(|time| Arm { name: arms.base(), time, is_base: true });
    let others = times.iter().map(|time| Arm { name: arms.own(&time.run), time, is_base: false });
    let mut rows: Vec<Arm<'_>> = base.into_iter().chain(others).collect();
    if results.run.sort == Some(journal::Sort::MeanTime) {
        rows.sort_by(|a, b| a.value().total_cmp(&b.value()));
    }

    Columns::new()
        .with(Column::words("command"), |arm: &Arm<'_>| Field::text(arm.name))
        .with(Column::number("time").main(), |arm| {
            Field::Text(comparisons::amount(arm.time, arm.value()))
        })
        .with(Column::number("change"), |arm| match arm.is_base {
            true => Field::text("base"),
            false => comparisons::change(arm.time),
        })
        .with(Column::number("95 %"), |arm| arm.of_change(comparisons::interval_of))
        .with(Column::words("verdict"), |arm| {
            arm.of_change(|time| Field::Text(comparisons::verdict(time)))
        })
        .table(&rows)
        .titled("", arms.shared.clone())
}

/// A row for each measure of each test under the only condition.
fn of_condition(cost: &Cost) -> Table {
    let mut effects: Vec<&Effect> = cost.effects().collect();
    if effects.len() > MAX_ROWS {
        effects.retain(|effect| !matches!(effect.comparison.verdict, Verdict::Same(_)));
        effects.sort_by_key(|effect| !effect.comparison.verdict.is_decided());
    }
    of_effects(cost, effects)
}

fn of_effects(cost: &Cost, effects: Vec<&Effect>) -> Table {
    let all = cost.effects().count();
    let arms = Arms::new(cost);
    let is_of_one_command = are_of_one_command(&effects);
    let lines = cost::lines_of_arms(effects, cost, &arms);
    let [a, b] = arms.heads();
    let mut table = Columns::new()
        .with(Column::words("test"), |line: &Line<'_>| {
            Field::Text(if is_of_one_command { measure_of(line) } else { line.id() })
        })
        .with(Column::number(&a), |line| {
            Field::Text(comparisons::amount(line.comparison, line.comparison.a))
        })
        .with(Column::number(&b), |line| {
            Field::Text(comparisons::amount(line.comparison, line.comparison.b))
        })
        .with(Column::number("change").main(), Line::delta)
        .with(Column::number("95 %"), Line::interval)
        .with(Column::words("verdict"), |line| Field::Text(line.verdict()))
        .table(&lines);
    table.rows.truncate(MAX_ROWS);
    let left_out = all - table.rows.len();
    match left_out {
        0 => table.titled("", arms.shared.clone()),
        left_out => table.titled("", format!("{left_out} more rows in the full report")),
    }
}

/// True of the measures of a single command under a condition, which the sentence above names.
fn are_of_one_command(effects: &[&Effect]) -> bool {
    let mut cells = effects.iter().map(|effect| &effect.comparison.cell);
    let Some(first) = cells.next() else { return false };
    let is_command = first.is_of_command() && !first.is_alternating();
    is_command && cells.all(|cell| cell.key.same_family(&first.key) && cell.is_of_command())
}

/// `time`, `processor time`, `memory`.
fn measure_of(line: &Line<'_>) -> String {
    match line.comparison.measure {
        Measure::Score => "time".to_owned(),
        measure => measure.name().to_owned(),
    }
}

/// What follows the table: the control, caveats, and the command that shows the whole report.
fn below(results: &Results, is_kept: bool) -> Vec<String> {
    // A run about starts shows no differences that may be due to chance.
    let control = results.cost().filter(|cost| cost.starts.is_empty()).map(control);
    let mut items: Vec<String> = control.into_iter().collect();
    items.extend(results.cost().and_then(level_to_repeat));
    let caveats = caveats_beside_answer(results);
    // A run that is not kept shows its caveats nowhere else.
    let shown = if is_kept { MAX_CAVEATS } else { caveats.len() };
    items.extend(caveats.iter().take(shown).cloned());
    let more = match caveats.len().saturating_sub(MAX_CAVEATS) {
        0 => String::new(),
        more => format!(", with {} more", words::count(more, "caveat")),
    };
    if is_kept {
        let name = words::shell(std::slice::from_ref(&results.run.name));
        items.push(format!("the whole{more}: unixmark report --long {name}"));
    }
    items
}

/// What two equal arms of a condition show: the size that a difference may have by chance.
fn control(cost: &Cost) -> String {
    let arms = Arms::new(cost);
    let bounded: Vec<&Comparison> = cost
        .control
        .iter()
        .map(|effect| &effect.comparison)
        .filter(|one| one.delta.bounded() && !one.is_of_execution())
        .collect();
    let Some(largest) = find_largest(bounded.iter().copied()) else {
        return describe_missing_control(cost, &arms);
    };

    let decided: Vec<&Comparison> =
        bounded.iter().copied().filter(|one| one.verdict.is_decided()).collect();
    if let Some(first) = decided.first() {
        let named: Vec<String> = decided
            .iter()
            .map(|one| format!("{} {}", cost::name(one), comparisons::change(one).words()))
            .collect();
        return format!(
            "control: {} differs from itself in {} of {} ({}): measure again before you trust this",
            words::shortened(arms.own(&first.run), NAME),
            named.len(),
            words::count(bounded.len(), "comparison"),
            words::listed(&named, MAX_NAMED)
        );
    }

    let widening = cost.widening;
    let wider = match widening > 1.0 {
        true => format!("; intervals made {widening:.1} times as wide for it"),
        false => String::new(),
    };
    let base = words::shortened(arms.base(), NAME);
    let is_of_base = |one: &&Comparison| one.run == cost.against;
    let (of_base, of_other): (Vec<&Comparison>, Vec<&Comparison>) =
        bounded.iter().copied().partition(is_of_base);
    // Of two commands, both have a control.
    if let (Some(own), Some(other)) = (find_largest(of_base), find_largest(of_other)) {
        let other_name = words::shortened(arms.own(&other.run), NAME);
        return format!(
            "control: {base} against itself {}, {other_name} {}: no significant difference{wider}",
            change_and_interval(own),
            change_and_interval(other)
        );
    }

    let own = words::shortened(arms.own(&largest.run), NAME);
    let name = if is_of_base(&largest) { base } else { own };
    let place = match bounded.len() {
        1 => String::new(),
        _ => format!(", in {}", cost::name(largest)),
    };
    format!(
        "control: {name} against itself shows no significant difference; the largest is {}{place}{wider}",
        change_and_interval(largest)
    )
}

/// Why the control says nothing.
fn describe_missing_control(cost: &Cost, arms: &Arms<'_>) -> String {
    if cost.control.is_empty() {
        return format!("control: none; {} had no second arm", words::shortened(arms.base(), NAME));
    }
    let is_alternating = cost.control.iter().any(|arm| arm.comparison.cell.is_alternating());
    let values = if is_alternating { "pairs" } else { "blocks" };
    format!("control: too few {values} to say anything")
}

/// The comparison with the largest change, whatever its sign.
fn find_largest<'c>(
    comparisons: impl IntoIterator<Item = &'c Comparison>,
) -> Option<&'c Comparison> {
    let size = |one: &Comparison| one.delta.value.abs();
    comparisons.into_iter().max_by(|a, b| size(a).total_cmp(&size(b)))
}

/// `+1.2 % (-0.3..+2.7)`.
fn change_and_interval(one: &Comparison) -> String {
    format!("{} ({})", comparisons::change(one).words(), comparisons::interval_of(one).words())
}

/// Which level to repeat, where several executions are one sample: `to narrow the interval, repeat
/// builds (--builds): 97 % of its variance comes from builds, 3 % from executions`.
fn level_to_repeat(cost: &Cost) -> Option<String> {
    let mut comparisons = cost.effects().map(|effect| &effect.comparison);
    let units = comparisons.find_map(|one| one.units.filter(|units| units.error_percent > 0.0))?;
    let of_executions = 100.0 * units.execution_share();
    let of_units = 100.0 - of_executions;
    let plural = words::plural(units.unit.name());

    // Servers' processes and blocks are repeated as a whole, with their executions.
    let level = match units.unit {
        SamplingUnit::Build if units.need_executions() => "executions (--budget)",
        SamplingUnit::Build => "builds (--builds)",
        SamplingUnit::Process => "processes and their executions (--restarts)",
        SamplingUnit::Block => "blocks and their executions (--runs)",
        SamplingUnit::Execution => return None,
    };
    Some(format!(
        "to narrow the interval, repeat {level}: {of_units:.0} % of its variance comes from {plural}, \
         {of_executions:.0} % from executions"
    ))
}

/// The remark on changes whose values, next to them in the table, differ the other way: a reader
/// sees that of undecided ones, too.
fn signs_of_values(cost: &Cost) -> Vec<String> {
    let mut remarks = Vec::new();
    for effect in cost.effects() {
        let one = &effect.comparison;
        // Of values that are the same, the signs say nothing.
        let is_same = matches!(one.verdict, Verdict::Same(_));
        if let Some(remark) = one.other_way().filter(|_| !is_same) {
            remarks.push((comparisons::place(&one.cell), remark));
        }
    }
    let named = remarks.iter().map(|(name, remark)| (name.clone(), remark));
    comparisons::grouped_remarks(named, None)
}

/// The caveats of a run without those that its answer gives as a reason.
pub(crate) fn caveats_beside_answer(results: &Results) -> Vec<String> {
    let mut caveats = caveats(results);
    let answer = sentences(results).join(" ");
    let gaps = results.errors.iter().chain(&results.skipped);
    let in_answer: Vec<&str> =
        gaps.map(|gap| gap.reason.as_str()).filter(|reason| answer.contains(reason)).collect();
    caveats.retain(|caveat| !in_answer.iter().any(|reason| caveat.contains(reason)));
    caveats
}

/// What must be known of this run, the gravest first.
fn caveats(results: &Results) -> Vec<String> {
    let is_ab = results.run.view == View::Ab;
    let has_answer = is_ab
        || results.cost().is_none() && results.figures.iter().any(|row| row.executed.is_some());
    let is_answered = |remark: &Remark| has_answer && executions::is_in_answer(remark);
    let is_grave = |remark: &&Remark| !matches!(remark, Remark::Drift(_)) && !is_answered(remark);
    let mut caveats: Vec<String> =
        results.warnings.iter().filter(is_grave).map(Remark::to_string).collect();
    let Some(cost) = results.cost() else {
        let named = results.figures.iter().flat_map(|figure| {
            let name = comparisons::place(&figure.cell);
            figure.warnings.iter().map(move |remark| (name.clone(), remark))
        });
        let missing = run::not_measured(results);
        let places = results.figures.iter().map(|figure| comparisons::place(&figure.cell)).unique();
        let told = named.filter(|(_, one)| !one.is_of_method() && !is_answered(one));
        let remarks = comparisons::grouped_remarks(told, Some(places.len()));
        return caveats.into_iter().chain(missing).chain(remarks).unique();
    };

    caveats.extend(cost::not_measured(results, cost));
    caveats.extend(cost.caveats.iter().cloned());
    if !is_ab {
        caveats.extend(signs_of_values(cost));
    }
    caveats.extend(match results.run.view {
        View::Ab => ab::remarks(results, cost, ab::is_beside_the_answer),
        _ => cost::remarks(results, cost),
    });
    if is_ab {
        // A note on how a command was executed, or another number of processors, makes it another
        // experiment than was meant; all else makes it less certain.
        let is_another_experiment = |remark: &Remark| {
            matches!(remark, Remark::ProgramNote { .. } | Remark::OtherLevel { .. })
                && !executions::is_in_answer(remark)
        };
        caveats.splice(0..0, ab::remarks(results, cost, is_another_experiment));
    }
    caveats.into_iter().unique()
}
