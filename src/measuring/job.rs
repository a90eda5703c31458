//! The steps of a verb after its request: show its plan or measure it, report, and set the exit
//! status.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::measuring::options::MatrixOptions;
use crate::measuring::terminal::{Form, Loudness, RunDisplay};
use crate::reports::{keep_summary, put_among_references, put_among_runs, write_all};
use crate::status::{Status, usage};
use crate::terminal::{print, print_json, print_words, say, say_error};
use ::report::{Ending, Extent, Format, GatedRun, Layout, Subject};
use analysis::ask_direction;
use catalogue::Catalogue;
use files::Destination;
use journal::Ended;
use machine::{EnergySource, Machine};
use measure::{Ask, Measured, Observer, Prepared, Setup};

/// The refusal of JUnit without a gate.
const NO_GATE: &str = "nothing can fail without --fail-on, so there is no JUnit; try --fail-on 5%";

/// Measures what a verb asks for and prints its report, or with --dry-run shows its plan. The
/// report is written to the files of `exports`, too.
///
/// # Errors
/// There is nothing to measure, the run could not begin, or its journal could not be read.
pub(super) fn carry_out(
    options: &MatrixOptions,
    exports: &[(Format, &Path)],
    make_ask: impl FnOnce(&mut Catalogue, &Machine) -> Result<Ask>,
) -> Result<Status> {
    let layout = options.measuring.shown();
    measure_and_report(options, exports, layout, make_ask, |_, status| status)
}

/// [`carry_out`], with a report in `layout`, if any. `to_status` turns the usual exit status, and
/// what was measured, into the verb's.
///
/// # Errors
/// As [`carry_out`].
pub(super) fn measure_and_report(
    options: &MatrixOptions,
    exports: &[(Format, &Path)],
    layout: Option<Layout>,
    make_ask: impl FnOnce(&mut Catalogue, &Machine) -> Result<Ask>,
    to_status: impl FnOnce(&Measured, Status) -> Status,
) -> Result<Status> {
    let exports: Vec<Export> = exports.iter().map(Export::check).collect::<Result<_>>()?;
    check_distinct_files(&exports).map_err(usage)?;

    let (mut catalogue, machine) = (Catalogue::load()?, Machine::here());
    let ask = make_ask(&mut catalogue, &machine)?;
    if layout.is_some_and(|layout| layout.format == Format::Junit) {
        ensure!(ask.is_gated(), usage(anyhow!(NO_GATE)));
    }
    let Some((measured, kept)) = measure_or_plan(options, ask, &catalogue, &machine)? else {
        return Ok(Status::Fine);
    };

    let measuring = &options.measuring;
    let mut kept = vec![kept];
    kept.extend(exports.iter().map(|export| export.write(&measured)));

    // Whoever reads an export from stdout reads nothing else there, unless it was asked for.
    let is_stdout_taken = exports.iter().any(|export| export.destination.is_stdout());
    let layout = layout.filter(|_| !is_stdout_taken || measuring.format.is_some());
    let status = to_status(&measured, usual_status(&measured, &kept));
    report_outcome(&measured, &kept, measuring.loudness(), layout, status)?;
    Ok(status)
}

/// Measures what is asked for and keeps it; the second value says whether it could be kept. Returns
/// `None` where --dry-run has the plan shown instead.
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

    // The plan is shown even where nothing of it can be measured.
    if measuring.dry_run {
        show_plan(&prepared, measuring.format)?;
    }
    check_prepared(&prepared)?;
    if measuring.dry_run {
        return Ok(None);
    }

    if !options.yes {
        confirm_lasting_changes(&prepared.lasting)?;
    }
    measure_and_keep(&prepared, &measuring.setup(machine)?, measuring.loudness()).map(Some)
}

/// A file that a report is written to, too.
struct Export {
    format: Format,
    destination: Destination,
}

impl Export {
    /// # Errors
    /// The file cannot be written, which is known before anything is measured.
    fn check((format, path): &(Format, &Path)) -> Result<Export> {
        let destination = Destination::check(path)
            .with_context(|| describe_failed_export(path))
            .map_err(usage)?;
        Ok(Export { format: *format, destination })
    }

    fn write(&self, measured: &Measured) -> Result<()> {
        let report = ::report::render(Subject::Run(&measured.results), self.format)?;
        // As of a shell, Ctrl-C ends the waiting for whoever reads a named pipe.
        if self.destination.may_wait() {
            processes::end_on_stop()?;
        }
        let name = self.destination.name();
        let note_wait = || {
            let kept =
                if measured.is_kept() { "; the run is kept, and Ctrl-C ends this" } else { "" };
            say(&format!("waiting until somebody reads {}, a named pipe{kept}", name.display()));
        };
        self.destination.write_noting_wait(report.as_bytes(), &note_wait).with_context(|| {
            match measured.is_kept() {
                true => format!(
                    "{}; the run is kept with all its reports",
                    describe_failed_export(name)
                ),
                false => describe_failed_export(name),
            }
        })
    }
}

/// Checks that no export would replace another.
fn check_distinct_files(exports: &[Export]) -> Result<()> {
    for (number, Export { destination, .. }) in exports.iter().enumerate() {
        if let Some(other) =
            exports[..number].iter().find(|other| other.destination.is_same_file(destination))
        {
            let names = [&other.destination, destination].map(|one| one.name().display());
            let [first, second] = names;
            bail!(
                "{first} and {second} are one file, and the second export would replace the first; name another file"
            );
        }
    }
    Ok(())
}

fn describe_failed_export(path: &Path) -> String {
    let name = if path == Path::new("-") { Path::new("stdout") } else { path };
    format!("{} cannot be written; try another file", name.display())
}

/// Measures what was prepared and keeps it; the second value says whether it could be kept.
///
/// # Errors
/// The run could not begin, or its journal could not be read.
pub(super) fn measure_and_keep(
    prepared: &Prepared<'_>,
    setup: &Setup,
    loudness: Loudness,
) -> Result<(Measured, Result<()>)> {
    let form = if setup.screen.is_some() { Form::Screen } else { Form::Lines };
    let display = RunDisplay::new(&prepared.plan, prepared.machine, loudness, form);
    measure_observed(display, prepared, setup, loudness)
}

/// [`measure_and_keep`], reporting progress to `observer`.
///
/// # Errors
/// As [`measure_and_keep`].
pub(super) fn measure_observed(
    mut observer: impl Observer,
    prepared: &Prepared<'_>,
    setup: &Setup,
    loudness: Loudness,
) -> Result<(Measured, Result<()>)> {
    if prepared.ask.meter.is_none() && loudness != Loudness::Quiet {
        say_energy(prepared.machine);
    }

    let mut measured = prepared.measure(setup, &mut observer)?;
    // A display gives the terminal back before anything else is said.
    drop(observer);
    let kept = place_and_keep(&mut measured, prepared.catalogue);
    Ok((measured, kept))
}

/// The formats of plans, for whoever asks for another.
pub(super) const PLAN_FORMATS: &str = "a plan is shown as text or json; try --format json";

/// Shows the plan, and what will be skipped.
fn show_plan(prepared: &Prepared<'_>, format: Option<Format>) -> Result<()> {
    for skipped in prepared.skipped() {
        say(&format!("warning: {skipped}"));
    }
    match format {
        // hyperfine's text is the default of its verb.
        None | Some(Format::Text | Format::HyperfineText) => {
            print_words(&plan::show(&prepared.plan))
        }
        Some(Format::Json) => print_json(&plan::to_json(&prepared.plan)),
        Some(_) => Err(usage(anyhow!(PLAN_FORMATS))),
    }
}

/// Prints the warnings of what was prepared.
///
/// # Errors
/// Nothing can be measured here.
pub(super) fn check_prepared(prepared: &Prepared<'_>) -> Result<()> {
    for warning in &prepared.warnings {
        say(&format!("warning: {warning}"));
    }
    prepared.check()
}

/// Asks on a terminal before changes that last.
///
/// # Errors
/// The user does not want them.
fn confirm_lasting_changes(changes: &[String]) -> Result<()> {
    let is_interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if changes.is_empty() || !is_interactive {
        return Ok(());
    }

    say("Continue? [y/N]");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("the answer cannot be read; try --yes")?;
    ensure!(
        answer.trim().eq_ignore_ascii_case("y"),
        "nothing was changed and nothing was measured"
    );
    Ok(())
}

/// Says once if energy could be known and is not.
fn say_energy(machine: &Machine) {
    if let EnergySource::Denied { path, fix } = EnergySource::find(machine) {
        say(&format!("energy is not known: only root may read {path}; try `{fix}`"));
    }
}

/// Places a run among others, and writes its reports next to its journal. A run that measured
/// nothing has a summary alone.
///
/// # Errors
/// One of the files cannot be written.
pub(super) fn place_and_keep(measured: &mut Measured, catalogue: &Catalogue) -> Result<()> {
    if measured.is_empty() {
        return keep_summary(&measured.results, &measured.directory);
    }
    put_among_runs(&mut measured.results, &measured.directory, catalogue, &[]);
    put_among_references(&mut measured.results, catalogue);
    write_all(&measured.results, &measured.directory)
}

/// Says why a run is no success, prints its report in `layout`, if any, and returns the exit
/// status. `kept` says whether the run and its exports could be kept.
///
/// # Errors
/// The report cannot be printed.
pub(super) fn conclude(
    measured: &Measured,
    kept: &[Result<()>],
    loudness: Loudness,
    layout: Option<Layout>,
) -> Result<Status> {
    let status = usual_status(measured, kept);
    report_outcome(measured, kept, loudness, layout, status)?;
    Ok(status)
}

/// The exit status of a run, unless the verb has another. The gravest counts: a signal, nothing
/// measured, a failure, a gate that is left open.
fn usual_status(measured: &Measured, kept: &[Result<()>]) -> Status {
    if let Some(number) = measured.signal() {
        return Status::Signal(number);
    }
    if measured.is_empty() {
        return Status::Nothing;
    }
    if !measured.failures.is_empty() || kept.iter().any(Result::is_err) {
        return Status::Failed;
    }

    let is_gate_open = !measured.unseen.is_empty()
        || !measured.undirected.is_empty()
        || has_empty_gate(measured)
        || !measured.vague.is_empty();
    if measured.is_gate_strict && is_gate_open { Status::Unseen } else { Status::Fine }
}

/// True of a strict gate that compared nothing, which is no proof.
fn has_empty_gate(measured: &Measured) -> bool {
    let compares_nothing =
        measured.results.cost().is_some_and(|cost| cost.effects().next().is_none());
    measured.is_gate_strict && compares_nothing
}

/// Says why a run is no success, and prints its report in `layout`, if any. `kept` says whether the
/// run and its exports could be kept; `status` is the exit status, which the brief report names.
///
/// # Errors
/// The report cannot be printed.
fn report_outcome(
    measured: &Measured,
    kept: &[Result<()>],
    loudness: Loudness,
    layout: Option<Layout>,
    status: Status,
) -> Result<()> {
    let not_kept: Vec<&anyhow::Error> =
        kept.iter().filter_map(|kept| kept.as_ref().err()).collect();
    for error in &not_kept {
        say_error("unixmark", error);
    }
    for failure in &measured.failures {
        say(&format!("unixmark: {failure}"));
    }

    let doubts = describe_doubts(measured);
    let outcome = RunOutcome {
        status,
        doubts: &doubts,
        not_kept: not_kept.iter().map(|error| format!("{error:#}")).collect(),
    };
    if let Some(layout) = layout {
        print_report(measured, layout, loudness, &outcome)?;
    }

    if let Some(number) = measured.signal() {
        let is_partial = measured.results.end == Some(Ended::Interrupted);
        let partial = match (measured.is_kept(), is_partial) {
            (true, true) => "; partial results kept",
            (true, false) => "; results kept",
            (false, _) => "",
        };
        say(&format!("unixmark: interrupted (signal {number}){partial}"));
        return Ok(());
    }
    for doubt in &doubts {
        say(&format!("unixmark: {doubt}"));
    }
    Ok(())
}

/// Sentences on what a gate leaves undecided.
fn describe_doubts(measured: &Measured) -> Vec<String> {
    let mut doubts: Vec<String> = measured.unseen.iter().map(ToString::to_string).collect();
    if !measured.undirected.is_empty() {
        doubts.push(ask_direction(&measured.undirected));
    }
    if has_empty_gate(measured) {
        doubts.push("nothing could be compared, so --fail-on has nothing to judge".to_owned());
    }
    doubts.extend(measured.vague.iter().cloned());
    doubts
}

/// The end of a run that its report names.
struct RunOutcome<'a> {
    status: Status,
    /// What a gate leaves undecided.
    doubts: &'a [String],
    /// Why the run, or a report of it, could not be kept.
    not_kept: Vec<String>,
}

/// Prints the report, and says where the run is kept. A run that measured nothing has no report in
/// text, unless the whole is asked for: its reasons were said.
fn print_report(
    measured: &Measured,
    layout: Layout,
    loudness: Loudness,
    outcome: &RunOutcome<'_>,
) -> Result<()> {
    let directory = measured.directory.display();
    let is_for_people = matches!(layout.format, Format::Text | Format::Svg);
    if measured.is_empty() && is_for_people && layout.extent != Extent::Whole {
        if loudness != Loudness::Quiet && measured.is_kept() {
            say(&format!("unixmark: nothing was measured; the journal is in {directory}"));
        }
        return Ok(());
    }

    let layout = match layout.extent {
        Extent::Short if !measured.is_kept() => Layout { extent: Extent::ShortAndUnkept, ..layout },
        _ => layout,
    };
    let RunOutcome { status, doubts, not_kept } = outcome;
    let report = match layout.format {
        Format::Brief => {
            let reason = [&measured.failures[..], not_kept, doubts].concat().join("; ");
            let path = measured.is_kept().then_some(measured.directory.as_path());
            let ending = Ending { path, status: Some(status.code()), reason: &reason };
            ::report::brief(&measured.results, ending)?
        }
        Format::Junit => ::report::junit(&GatedRun {
            comparisons: &measured.judged(),
            lost: &measured.lost(),
            counts: &measured.judged_counts,
            doubts,
            is_strict: measured.is_gate_strict,
            failures: &[&measured.failures_of_run()[..], not_kept].concat(),
        }),
        _ => ::report::render(Subject::Run(&measured.results), layout)?,
    };

    // Where the run is kept is said even if nothing can be printed.
    let printed = print(&report);
    if loudness != Loudness::Quiet && measured.is_kept() {
        say(&format!("The run is kept in {directory}: report.html is a page with charts."));
    }
    printed.context("the report cannot be shown, but the run is kept; try `unixmark report`")
}
