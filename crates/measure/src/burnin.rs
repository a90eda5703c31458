//! A burn-in: one program without a window, into a journal of its own.

use anyhow::Result;

use super::recording::{Head, Recording};
use super::{Ask, Measured, Observer, Setup, add_cycles};
use analysis::Burst;
use catalogue::{Catalogue, Test};
use journal::{BurnIn, Burned, Procedure, Run, Sample};
use machine::Machine;
use runner::BurnSetting;

/// True if the work of a burst may end.
fn is_burst_known(plan: &BurnIn, samples: &[Sample]) -> bool {
    Burst::is_known_by(samples, plan.threads)
}

/// Carries out a burn-in.
///
/// # Errors
/// The program cannot be built, or the journal cannot be begun or read.
pub fn burn_in(
    plan: BurnIn,
    test: &Test,
    setup: &Setup,
    (catalogue, machine): (&Catalogue, &Machine),
    observer: &mut dyn Observer,
) -> Result<Measured> {
    let tests = if test.is_foreign() { Vec::new() } else { vec![test] };
    let run = Run { procedure: Procedure::Burnin, ..Run::default() };
    let head = Head { tests, run, ..Head::default() };
    let mut recording = Recording::begin(machine, setup, head, observer)?;
    let programs = recording.programs.clone();
    let setting = BurnSetting {
        machine,
        test,
        programs: programs.as_ref(),
        dir: &setup.dir,
        add_cycles: add_cycles(catalogue, machine),
        patience: setup.patience,
        screen: setup.screen.as_deref(),
        is_enough: (plan.kind == Burned::Burst).then_some(is_burst_known),
        plan,
    };
    let outcome =
        runner::burn_in(&setting, &mut recording.writer, &mut |event| observer.burned(&event));
    recording.end(outcome, catalogue, setup.strict, &Ask::default())
}
