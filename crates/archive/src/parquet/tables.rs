//! The tables and their columns: nothing else lists them.

use std::borrow::Cow;

use super::table::Table;
use analysis::{Figure, Index, Missing, Summary};
use catalogue::{Metric, NONE};
use journal::Key;
use stats::Estimate;

/// A row of `results`: a cell with a figure, an index, or a cell without a result.
struct Row<'a> {
    key: Cow<'a, Key>,
    label: &'a str,
    figure: Option<&'a Figure>,
    metric: Option<&'static str>,
    score: Estimate,
    watts: Option<Estimate>,
    state: &'static str,
    reason: Option<&'a str>,
    warnings: Option<String>,
}

impl<'a> Row<'a> {
    fn all(summary: &'a Summary) -> Vec<Row<'a>> {
        let figures = summary.figures.iter().map(Row::of_figure);
        let indexes = summary.indexes.iter().map(Row::of_index);
        let skipped = summary.skipped.iter().map(|missing| Row::without(missing, "skipped"));
        let failed = summary.errors.iter().map(|missing| Row::without(missing, "failed"));
        figures.chain(indexes).chain(skipped).chain(failed).collect()
    }

    /// The row of a cell without a result.
    fn without(missing: &'a Missing, state: &'static str) -> Row<'a> {
        let Missing { key, label, reason, .. } = missing;
        let (figure, metric, score, watts, warnings) = (None, None, Estimate::NONE, None, None);
        Row {
            key: Cow::Borrowed(key),
            label,
            figure,
            metric,
            score,
            watts,
            state,
            reason: Some(reason),
            warnings,
        }
    }

    fn of_figure(figure: &'a Figure) -> Row<'a> {
        let warnings: Vec<String> = figure.warnings.iter().map(ToString::to_string).collect();
        Row {
            key: Cow::Borrowed(&figure.cell.key),
            label: &figure.cell.label,
            figure: Some(figure),
            metric: Some(match figure.cell.metric {
                Metric::Rate => "rate",
                Metric::Time => "time",
                Metric::Latency => "latency",
                Metric::Amount => "amount",
                Metric::Yield => "yield",
                Metric::Unknown => "unknown",
            }),
            score: figure.score,
            watts: figure.energy.as_deref().map(|energy| energy.watts),
            state: "measured",
            reason: None,
            warnings: (!warnings.is_empty()).then(|| warnings.join("; ")),
        }
    }

    fn of_index(index: &'a Index) -> Row<'a> {
        Row {
            key: Cow::Owned(Key::plain(&index.id, index.copies)),
            label: &index.id,
            figure: None,
            metric: Some("index"),
            score: index.score,
            watts: index.watts,
            state: "measured",
            reason: None,
            warnings: (!index.complete).then(|| "some of its tests are missing".to_owned()),
        }
    }

    fn watts(&self) -> Estimate {
        self.watts.unwrap_or(Estimate::NONE)
    }

    fn joules(&self) -> Estimate {
        self.figure.and_then(Figure::joules).unwrap_or(Estimate::NONE)
    }
}

/// The results of a run, a row for each cell and each index. The run, and the facts of its system
/// that questions ask for most, stand in every row, so that few questions need two tables; a column
/// of one value takes no room.
pub fn results(id: &str, summary: &Summary) -> Table {
    let rows = Row::all(summary);
    let rows = || rows.iter();
    let run = &summary.run;
    let fleet = run.fleet.as_ref();
    let build = run.build.as_ref();
    let against = if run.against.is_empty() { NONE } else { &run.against };
    let cpus = i32::try_from(run.cpus).ok().filter(|cpus| *cpus > 0);
    Table::new(rows().len())
        .same("id", id)
        .same("run", run.name.as_str())
        .when("started", started(summary))
        .same("tool", run.tool.as_str())
        .same("procedure", run.procedure.name())
        .same("ended", summary.end.map(journal::Ended::name))
        .same("fleet", fleet.map(|fleet| fleet.run.as_str()))
        .same("node", fleet.map(|fleet| fleet.id.node.as_str()))
        .same("task", fleet.map(|fleet| fleet.id.task.as_str()))
        .whole("attempt", rows().map(|_| i32::try_from(fleet?.attempt).ok()))
        .text("test", rows().map(|row| row.key.test.as_str()))
        .text("label", rows().map(|row| row.label))
        .whole("copies", rows().map(|row| i32::try_from(row.key.copies).ok()))
        .text("load", rows().map(|row| row.key.load.as_str()))
        .text("condition", rows().map(|row| row.key.condition.as_str()))
        .flag("control", rows().map(|row| row.figure.is_some_and(|figure| figure.cell.control)))
        .same("against", against)
        .text("metric", rows().map(|row| row.metric))
        .text("unit", rows().map(|row| row.figure.map(|figure| figure.cell.unit.as_str())))
        .real("value", rows().map(|row| finite(row.score.value)))
        .real("low", rows().map(|row| finite(row.score.low)))
        .real("high", rows().map(|row| finite(row.score.high)))
        .whole("n", rows().map(|row| i32::try_from(row.figure?.n).ok()))
        .real("watts", rows().map(|row| finite(row.watts().value)))
        .real("watts_low", rows().map(|row| finite(row.watts().low)))
        .real("watts_high", rows().map(|row| finite(row.watts().high)))
        .real("joules_per_operation", rows().map(|row| finite(row.joules().value)))
        .real("joules_per_operation_low", rows().map(|row| finite(row.joules().low)))
        .real("joules_per_operation_high", rows().map(|row| finite(row.joules().high)))
        .text("state", rows().map(|row| row.state))
        .text("reason", rows().map(|row| row.reason))
        .text("warnings", rows().map(|row| row.warnings.as_deref()))
        .same("kernel", summary.facts.value("kernel.release"))
        .same("cpu", summary.facts.value("cpu.model"))
        .whole("cpus", rows().map(|_| cpus))
        .same("microcode", summary.facts.value("cpu.microcode"))
        .same("memory", summary.facts.value("memory.total"))
        .same("governor", summary.facts.value("cpu.governor"))
        .same("mitigations", summary.facts.value("security.mitigations"))
        .same("virtualisation", summary.facts.value("system.virtualisation"))
        .same("os", summary.facts.value("system.os"))
        .same("compiler", build.map(|build| build.compiler.as_str()))
        .same("build", build.map(|build| build.hash.as_str()))
}

/// The trials behind a run's figures, a row for each.
pub fn samples(id: &str, summary: &Summary) -> Table {
    let rows = || {
        summary
            .figures
            .iter()
            .flat_map(|figure| figure.samples.iter().map(move |sample| (figure, sample)))
    };
    Table::new(rows().count())
        .same("id", id)
        .text("test", rows().map(|(figure, _)| figure.cell.key.test.as_str()))
        .whole("copies", rows().map(|(figure, _)| i32::try_from(figure.cell.key.copies).ok()))
        .text("load", rows().map(|(figure, _)| figure.cell.key.load.as_str()))
        .text("condition", rows().map(|(figure, _)| figure.cell.key.condition.as_str()))
        .flag("control", rows().map(|(figure, _)| figure.cell.control))
        .text("unit", rows().map(|(figure, _)| figure.cell.unit.as_str()))
        .real("seconds", rows().map(|(_, sample)| sample.at))
        .whole("block", rows().map(|(_, sample)| i32::try_from(sample.block).ok()))
        .real("value", rows().map(|(_, sample)| finite(sample.value)))
}

/// All that is known of the system a run was made on, a row for each fact.
pub fn facts(id: &str, summary: &Summary) -> Table {
    let rows = || summary.facts.iter();
    Table::new(rows().len())
        .same("id", id)
        .text("name", rows().map(|fact| fact.name.as_str()))
        .text("label", rows().map(|fact| fact.label.as_str()))
        .text("value", rows().map(|fact| fact.value.as_str()))
}

/// `None` if a number is not finite.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// The moment when a run began, in microseconds since 1970; `None` if its journal does not state it
/// in RFC 3339.
fn started(summary: &Summary) -> Option<i64> {
    summary.run.started.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
}
