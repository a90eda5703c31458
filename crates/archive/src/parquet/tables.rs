//! The tables and their columns: nothing else lists them.

use super::table::Table;
use analysis::{Composite, Figure, Missing, Summary};
use catalogue::{Metric, NONE};
use stats::Estimate;

/// A row of `results`: a cell of the matrix, or an index.
struct Row<'a> {
    test: &'a str,
    label: &'a str,
    copies: u32,
    load: &'a str,
    condition: &'a str,
    control: bool,
    metric: Option<&'static str>,
    unit: Option<&'a str>,
    score: Estimate,
    n: Option<usize>,
    watts: Estimate,
    joules: Estimate,
    state: &'static str,
    reason: Option<&'a str>,
    warnings: Option<String>,
}

impl<'a> Row<'a> {
    fn figure(figure: &'a Figure) -> Row<'a> {
        Row {
            test: &figure.key.test,
            label: &figure.label,
            copies: figure.key.copies,
            load: &figure.key.load,
            condition: &figure.key.condition,
            control: figure.control,
            metric: Some(match figure.metric {
                Metric::Rate => "rate",
                Metric::Time => "time",
                Metric::Latency => "latency",
            }),
            unit: Some(&figure.unit),
            score: figure.score,
            n: Some(figure.n),
            watts: figure.watts.unwrap_or(Estimate::NONE),
            joules: figure.joules.unwrap_or(Estimate::NONE),
            state: "measured",
            reason: None,
            warnings: Some(figure.warnings.iter().map(ToString::to_string).collect::<Vec<String>>().join("; "))
                .filter(|warnings| !warnings.is_empty()),
        }
    }

    fn index(index: &'a Composite) -> Row<'a> {
        Row {
            test: &index.id,
            label: &index.id,
            copies: index.copies,
            load: NONE,
            condition: NONE,
            control: false,
            metric: Some("index"),
            unit: None,
            score: index.score,
            n: None,
            watts: index.watts.unwrap_or(Estimate::NONE),
            joules: Estimate::NONE,
            state: "measured",
            reason: None,
            warnings: (!index.complete).then(|| "tests of it are missing".to_owned()),
        }
    }

    fn missing(missing: &'a Missing, state: &'static str) -> Row<'a> {
        Row {
            test: &missing.key.test,
            label: &missing.label,
            copies: missing.key.copies,
            load: &missing.key.load,
            condition: &missing.key.condition,
            control: false,
            metric: None,
            unit: None,
            score: Estimate::NONE,
            n: None,
            watts: Estimate::NONE,
            joules: Estimate::NONE,
            state,
            reason: Some(&missing.reason),
            warnings: None,
        }
    }

    fn all(summary: &'a Summary) -> Vec<Row<'a>> {
        let figures = summary.figures.iter().map(Row::figure);
        let skipped = summary.skipped.iter().map(|missing| Row::missing(missing, "skipped"));
        let failed = summary.errors.iter().map(|missing| Row::missing(missing, "failed"));
        figures.chain(summary.indexes.iter().map(Row::index)).chain(skipped).chain(failed).collect()
    }
}

/// Returns what a run came to, a row for each cell and each index: as few tables as questions need, so that the run and what
/// is most asked of its system stand in every row. Columns of one value take no room.
#[must_use]
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
        .text("test", rows().map(|row| row.test))
        .text("label", rows().map(|row| row.label))
        .whole("copies", rows().map(|row| i32::try_from(row.copies).ok()))
        .text("load", rows().map(|row| row.load))
        .text("condition", rows().map(|row| row.condition))
        .flag("control", rows().map(|row| row.control))
        .same("against", against)
        .text("metric", rows().map(|row| row.metric))
        .text("unit", rows().map(|row| row.unit))
        .real("value", rows().map(|row| finite(row.score.value)))
        .real("low", rows().map(|row| finite(row.score.low)))
        .real("high", rows().map(|row| finite(row.score.high)))
        .whole("n", rows().map(|row| i32::try_from(row.n?).ok()))
        .real("watts", rows().map(|row| finite(row.watts.value)))
        .real("watts_low", rows().map(|row| finite(row.watts.low)))
        .real("watts_high", rows().map(|row| finite(row.watts.high)))
        .real("joules_per_operation", rows().map(|row| finite(row.joules.value)))
        .real("joules_per_operation_low", rows().map(|row| finite(row.joules.low)))
        .real("joules_per_operation_high", rows().map(|row| finite(row.joules.high)))
        .text("state", rows().map(|row| row.state))
        .text("reason", rows().map(|row| row.reason))
        .text("warnings", rows().map(|row| row.warnings.as_deref()))
        .same("kernel", summary.facts.text("kernel.release"))
        .same("cpu", summary.facts.text("cpu.model"))
        .whole("cpus", rows().map(|_| cpus))
        .same("microcode", summary.facts.text("cpu.microcode"))
        .same("memory", summary.facts.text("memory.total"))
        .same("governor", summary.facts.text("cpu.governor"))
        .same("mitigations", summary.facts.text("security.mitigations"))
        .same("virtualisation", summary.facts.text("system.virtualisation"))
        .same("os", summary.facts.text("system.os"))
        .same("compiler", build.map(|build| build.compiler.as_str()))
        .same("build", build.map(|build| build.hash.as_str()))
}

/// Returns the trials behind a run's figures, a row for each.
#[must_use]
pub fn samples(id: &str, summary: &Summary) -> Table {
    let rows = || summary.figures.iter().flat_map(|figure| figure.samples.iter().map(move |sample| (figure, sample)));
    Table::new(rows().count())
        .same("id", id)
        .text("test", rows().map(|(figure, _)| figure.key.test.as_str()))
        .whole("copies", rows().map(|(figure, _)| i32::try_from(figure.key.copies).ok()))
        .text("load", rows().map(|(figure, _)| figure.key.load.as_str()))
        .text("condition", rows().map(|(figure, _)| figure.key.condition.as_str()))
        .flag("control", rows().map(|(figure, _)| figure.control))
        .text("unit", rows().map(|(figure, _)| figure.unit.as_str()))
        .real("seconds", rows().map(|(_, sample)| sample.0))
        .whole("block", rows().map(|(_, sample)| i32::try_from(sample.1).ok()))
        .real("value", rows().map(|(_, sample)| finite(sample.2)))
}

/// Returns all that is known of the system a run was made on, a row for each fact.
#[must_use]
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

/// When a run began, in microseconds since 1970; none where its journal does not say it in RFC 3339.
fn started(summary: &Summary) -> Option<i64> {
    summary.run.started.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
}
