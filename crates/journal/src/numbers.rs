//! Limits of the numbers in a journal, beyond anything that can be measured. A journal may be a
//! stranger's: within these limits, reports can add its numbers up without an overflow.

use anyhow::{Result, ensure};

use super::{Cell, Copy, Execution, Frames, Profile, Record, Sample, Trial};

/// Two years: whatever is timed takes less. Counts of instructions and other events of a processor
/// have the same limit.
const MAX_NS: u64 = 1 << 56;

/// For counts that are added up in whole numbers. 65,536 of the largest fit 64 bits.
const MAX_COUNT: u64 = 1 << 48;

/// Blocks of a run: a trial of each would take a month.
const MAX_BLOCKS: u32 = 10_000_000;

/// Copies of a test, threads, processors: no machine has as many.
const MAX_COPIES: u32 = 1 << 20;

/// Checks the numbers of a line.
///
/// # Errors
/// One is larger than anything that can be measured: the message has it.
pub(super) fn check(record: &Record) -> Result<()> {
    match record {
        Record::Run(run) => check_number(run.cpus as u64, MAX_COPIES.into(), "processors"),
        Record::Cell(cell) => check_cell(cell),
        Record::Trial(trial) => check_trial(trial),
        Record::Counts(counts) => {
            counts.counts.values().try_for_each(|count| check_number(*count, MAX_NS, "of a count"))
        }
        Record::Profile(profile) => check_profile(profile),
        Record::BurnIn(burnin) => check_number(burnin.threads.into(), MAX_COPIES.into(), "threads"),
        Record::Sample(sample) => check_sample(sample),
        Record::Fault(fault) => check_number(fault.pass, MAX_COUNT, "passes"),
        Record::Pass(pass) => {
            check_all([pass.pass, pass.faults, pass.bytes], MAX_COUNT, "of a pass")
        }
        Record::Fact(_) | Record::Warning(_) | Record::End(_) => Ok(()),
    }
}

fn check_profile(profile: &Profile) -> Result<()> {
    for execution in &profile.executions {
        check_number(execution.round, MAX_COUNT, "rounds")?;
        check_all([execution.samples, execution.lost], MAX_COUNT, "samples")?;
        check_all([execution.ns, execution.cpu_ns], MAX_NS, "ns")?;
    }

    let times = profile.functions.iter().flat_map(|function| &function.ns);
    times
        .chain(profile.stacks.iter().map(|stack| &stack.ns))
        .try_for_each(|ns| check_number(*ns, MAX_NS, "ns"))?;

    let instructions = profile.functions.iter().flat_map(|function| &function.instructions);
    check_all(instructions.copied(), MAX_NS, "instructions")
}

fn check_cell(cell: &Cell) -> Result<()> {
    check_number(cell.key.copies.into(), MAX_COPIES.into(), "copies")?;
    check_number(cell.slice, MAX_NS, "ns")
}

fn check_trial(trial: &Trial) -> Result<()> {
    check_number(trial.block.into(), MAX_BLOCKS.into(), "blocks")?;
    check_all(trial.late.iter().copied(), MAX_NS, "ns")?;

    let background = trial.background.iter().map(|load| &load.copy);
    trial.copies.iter().chain(background).try_for_each(check_copy)?;

    let Some(trail) = trial.evidence.as_ref().and_then(|evidence| evidence.trail.as_ref()) else {
        return Ok(());
    };

    let counts = [
        trail.events,
        trail.records,
        trail.bytes,
        trail.all_events,
        trail.all_bytes,
        trail.lost,
        trail.queued,
    ];
    check_all(counts, MAX_COUNT, "of a trail")
}

fn check_copy(copy: &Copy) -> Result<()> {
    // Counts are not added up in whole numbers.
    let ends = copy.slices.iter().flat_map(|slice| [slice.start, slice.end]);
    ends.max().map_or(Ok(()), |ns| check_number(ns, MAX_NS, "ns"))?;
    if let Some(usage) = &copy.usage {
        let counts = [
            usage.minor_faults,
            usage.major_faults,
            usage.voluntary,
            usage.involuntary,
            usage.maxrss_kib,
        ];
        check_all(counts, MAX_COUNT, "of a program's usage")?;
    }
    copy.executions.iter().try_for_each(check_execution)?;
    for printed in &copy.printed {
        check_number(printed.copies.unwrap_or(0).into(), MAX_COPIES.into(), "copies")?;
        check_all(printed.rounds.iter().map(|(round, _)| *round), MAX_COUNT, "rounds")?;
        check_all(printed.gaps.iter().map(|(round, _)| *round), MAX_COUNT, "rounds")?;
    }

    copy.frames.as_deref().map_or(Ok(()), check_frames)
}

fn check_execution(execution: &Execution) -> Result<()> {
    let Execution { start, end, user, system, .. } = *execution;
    check_all([start, end, user, system], MAX_NS, "ns")?;
    if let Some(region) = execution.region {
        check_all([region.start, region.end], MAX_NS, "ns")?;
    }

    let counts = [
        execution.round,
        execution.minor_faults,
        execution.major_faults,
        execution.voluntary,
        execution.involuntary,
        execution.maxrss_kib,
    ];
    check_all(counts, MAX_COUNT, "of an execution")
}

fn check_frames(frames: &Frames) -> Result<()> {
    let Frames { schedule, done, late, .. } = frames;
    check_all([schedule.planned, *done, *late], MAX_COUNT, "frames")?;

    for frame in frames.worst.iter().chain(&frames.last) {
        let moments = [frame.planned, frame.sent, frame.woke, frame.done.unwrap_or(0)];
        check_all(moments, MAX_NS, "ns")?;
    }
    let times = [schedule.period, schedule.deadline, schedule.work, frames.broke.unwrap_or(0)];
    check_all(times, MAX_NS, "ns")?;
    check_all(frames.seconds.iter().copied(), MAX_NS, "ns")?;

    let Some(holders) = &frames.holders else {
        return Ok(());
    };

    check_all(holders.causes.iter().map(|cause| cause.frames), MAX_COUNT, "frames")?;
    check_all([holders.late, holders.traced], MAX_COUNT, "frames")?;
    check_all(holders.worst.iter().flatten().map(|(_, ns)| *ns), MAX_NS, "ns")?;
    check_all(holders.causes.iter().map(|cause| cause.ns), MAX_NS, "ns")
}

fn check_sample(sample: &Sample) -> Result<()> {
    for beat in &sample.beats {
        check_number(beat.thread.max(beat.cpu).into(), MAX_COPIES.into(), "threads or processors")?;
        check_number(beat.count.max(beat.wrong), MAX_COUNT, "of a thread's work")?;
    }
    if let Some(stage) = &sample.stage {
        check_all([stage.pass, stage.done, stage.total], MAX_COUNT, "of a sample")?;
    }

    let sensors = sample.sensors.count.values().chain(sample.sensors.cooling.values());
    check_all(sensors.copied(), MAX_COUNT, "of a sample")?;
    check_number(sample.faults, MAX_COUNT, "of a sample")
}

fn check_all(numbers: impl IntoIterator<Item = u64>, max: u64, what: &str) -> Result<()> {
    numbers.into_iter().try_for_each(|number| check_number(number, max, what))
}

/// Checks that a number is not above its limit; a message calls it `what`.
fn check_number(number: u64, max: u64, what: &str) -> Result<()> {
    ensure!(number <= max, "{number} {what} are more than can be measured ({max})");
    Ok(())
}
