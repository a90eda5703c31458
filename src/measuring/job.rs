//! The steps of a verb after its request: show its plan or measure it, report, and set the exit status.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};

use crate::measuring::options::MatrixOptions;
use crate::measuring::terminal::{Form, Loudness, RunDisplay};
use crate::reports::{put_among_runs, stand, write_all};
use crate::status::{Status, usage};
use crate::terminal::{layout, print, print_json, print_words, say, say_error};
use ::report::{Format, Subject};
use catalogue::Catalogue;
use machine::{EnergySource, Machine};
use measure::{Ask, Measured, Observer, Prepared, Setup};

/// Measures what a verb asks for and prints its report, or with --dry-run shows its plan. The report is written to
/// the files of `exports`, too.
///
/// # Errors
/// There is nothing to measure, the run could not begin, or its journal could not be read.
pub(super) fn carry_out(
    options: &MatrixOptions,
    exports: &[(Format, &Path)],
    ask: impl FnOnce(&mut Catalogue, &Machine) -> Result<Ask>,
) -> Result<Status> {
    answer(options, exports, ask, |_, status| status)
}

/// The same with an exit status of the verb's own, from what was measured and the usual one.
///
/// # Errors
/// As [`carry_out`].
pub(super) fn answer(
    options: &MatrixOptions,
    exports: &[(Format, &Path)],
    ask: impl FnOnce(&mut Catalogue, &Machine) -> Result<Ask>,
    status: impl FnOnce(&Measured, Status) -> Status,
) -> Result<Status> {
    let (mut catalogue, machine) = (Catalogue::load()?, Machine::here());
    let ask = ask(&mut catalogue, &machine)?;
    let Some((measured, kept)) = measure_or_plan(options, ask, &catalogue, &machine)? else { return Ok(Status::Fine) };
    let measuring = &options.measuring;
    let exported = exports.iter().try_for_each(|(format, path)| write_report(&measured, *format, path));
    Ok(status(&measured, conclude(&measured, &[kept, exported], measuring.loudness(), measuring.shown())?))
}

/// Measures what is asked for and keeps it; the second value is what came of keeping it. Returns `None` where --dry-run
/// has the plan shown instead.
///
/// # Errors
/// As [`carry_out`].
pub(super) fn measure_or_plan(
    options: &MatrixOptions,
    ask: Ask,
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<Option<(Measured, Result<()>)>> {
    let measuring = &options.measuring;
    let prepared = measure::prepare(ask, catalogue, machine).map_err(usage)?;
    if measuring.dry_run {
        show_plan(&prepared, measuring.format)?;
    }
    check(&prepared)?;
    if measuring.dry_run {
        return Ok(None);
    }
    if !options.yes {
        confirm(&prepared.lasting)?;
    }
    measure(&prepared, &measuring.setup(machine)?, measuring.loudness()).map(Some)
}

fn write_report(measured: &Measured, format: Format, path: &Path) -> Result<()> {
    let report = ::report::render(Subject::Run(&measured.results), format)?;
    files::write_atomically(path, report.as_bytes()).with_context(|| {
        format!("{} cannot be written; try another file: the run is kept with all its reports", path.display())
    })
}

/// Measures what was prepared and keeps it; the second value is what came of keeping it.
///
/// # Errors
/// The run could not begin, or its journal could not be read.
pub(super) fn measure(prepared: &Prepared<'_>, setup: &Setup, loudness: Loudness) -> Result<(Measured, Result<()>)> {
    let form = if setup.screen.is_some() { Form::Screen } else { Form::Lines };
    let display = RunDisplay::new(&prepared.plan, prepared.machine, loudness, form);
    measure_before(display, prepared, setup, loudness)
}

/// The same before another observer than the display.
///
/// # Errors
/// As [`measure`].
pub(super) fn measure_before(
    mut observer: impl Observer,
    prepared: &Prepared<'_>,
    setup: &Setup,
    loudness: Loudness,
) -> Result<(Measured, Result<()>)> {
    if prepared.ask.meter.is_none() && loudness != Loudness::Quiet {
        say_energy(prepared.machine);
    }
    let mut measured = prepared.measure(setup, &mut observer)?;
    drop(observer);
    let kept = keep(&mut measured, prepared.catalogue);
    Ok((measured, kept))
}

/// Shows the plan, and what will be skipped.
fn show_plan(prepared: &Prepared<'_>, format: Option<Format>) -> Result<()> {
    prepared.skipped().iter().for_each(|text| say(&format!("warning: {text}")));
    match format {
        None | Some(Format::Text) => print_words(&plan::show(&prepared.plan)),
        Some(Format::Json) => print_json(&plan::to_json(&prepared.plan)),
        Some(_) => Err(usage(anyhow!("a plan is shown as text or json; try --format json"))),
    }
}

/// Says what should be known before a run.
///
/// # Errors
/// Nothing can be measured here.
pub(super) fn check(prepared: &Prepared<'_>) -> Result<()> {
    prepared.warnings.iter().for_each(|text| say(&format!("warning: {text}")));
    prepared.check()
}

/// Asks on a terminal before changes that last.
///
/// # Errors
/// The user does not want them.
fn confirm(lasting: &[String]) -> Result<()> {
    let is_asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if lasting.is_empty() || !is_asked {
        return Ok(());
    }
    say("Continue? [y/N]");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("the answer cannot be read; try --yes")?;
    ensure!(answer.trim().eq_ignore_ascii_case("y"), "nothing was changed and nothing was measured");
    Ok(())
}

/// Says once if energy could be known and is not.
fn say_energy(machine: &Machine) {
    if let EnergySource::Denied { path, fix } = EnergySource::find(machine) {
        say(&format!("energy is not known: only root may read {path}; try `{fix}`"));
    }
}

/// Places a run among others, and writes its reports beside its journal.
///
/// # Errors
/// One of them cannot be written.
pub(super) fn keep(measured: &mut Measured, catalogue: &Catalogue) -> Result<()> {
    put_among_runs(&mut measured.results, &measured.directory, catalogue, &[]);
    stand(&mut measured.results, catalogue);
    write_all(&measured.results, &measured.directory)
}

/// Says why a run is no success, prints its report, and returns what it comes to; `kept` is what
/// came of keeping it.
///
/// # Errors
/// The report cannot be printed.
pub(super) fn conclude(
    measured: &Measured,
    kept: &[Result<()>],
    loudness: Loudness,
    format: Option<Format>,
) -> Result<Status> {
    let errors: Vec<_> = kept.iter().filter_map(|kept| kept.as_ref().err()).collect();
    errors.iter().for_each(|error| say_error("unixmark", error));
    measured.failures.iter().for_each(|why| say(&format!("unixmark: {why}")));
    if let Some(format) = format {
        publish(measured, format, loudness)?;
    }
    if let Some(number) = measured.signal() {
        say(&format!("unixmark: interrupted (signal {number}); partial results kept"));
        return Ok(Status::Signal(number));
    }
    measured.unseen.iter().for_each(|unseen| say(&format!("unixmark: {unseen}")));
    measured.vague.iter().for_each(|vague| say(&format!("unixmark: {vague}")));
    Ok(match measured.failures.is_empty() && errors.is_empty() {
        _ if measured.is_empty() => Status::Nothing,
        true if measured.is_gate_strict && (measured.unseen.is_some() || !measured.vague.is_empty()) => Status::Unseen,
        true => Status::Fine,
        false => Status::Failed,
    })
}

/// Prints the report.
fn publish(measured: &Measured, format: Format, loudness: Loudness) -> Result<()> {
    let shown = print(&::report::render(Subject::Run(&measured.results), layout(format))?);
    if loudness != Loudness::Quiet {
        say(&format!(
            "\nThe run is kept in {}:\nreport.html is a page with charts, run.jsonl the journal, run.json its summary.",
            measured.directory.display()
        ));
    }
    shown.context("the report cannot be shown, but the run is kept; try `unixmark report`")
}
