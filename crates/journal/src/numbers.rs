//! Numbers that nothing can have measured. Sums of those that remain fit their types.

use anyhow::{Result, ensure};

use super::{Cell, Copy, Execution, Frames, Record, Sample, Trial};

/// Two years in ns: what is timed by itself takes less.
const MOST_NS: u64 = 1 << 56;

/// More than anything is counted that is added up in whole numbers.
const MOST_COUNT: u64 = 1 << 48;

/// Blocks of a run: a trial of each would take a month.
const MOST_BLOCKS: u32 = 10_000_000;

/// Copies of a test, threads, processors: no machine has as many.
const MOST_COPIES: u32 = 1 << 20;

/// Checks the numbers of a line.
///
/// # Errors
/// One is larger than anything that can be measured: the message has it.
pub(super) fn check(record: &Record) -> Result<()> {
    match record {
        Record::Run(run) => most(run.cpus as u64, MOST_COPIES.into(), "processors"),
        Record::Cell(cell) => check_cell(cell),
        Record::Trial(trial) => check_trial(trial),
        Record::Counts(counts) => counts.counts.values().try_for_each(|count| most(*count, MOST_NS, "of a count")),
        Record::BurnIn(burnin) => most(burnin.threads.into(), MOST_COPIES.into(), "threads"),
        Record::Sample(sample) => check_sample(sample),
        Record::Fault(fault) => most(fault.pass, MOST_COUNT, "passes"),
        Record::Pass(pass) => all([pass.pass, pass.faults, pass.bytes], MOST_COUNT, "of a pass"),
        Record::Fact(_) | Record::Warning(_) | Record::End(_) => Ok(()),
    }
}

fn check_cell(cell: &Cell) -> Result<()> {
    most(cell.key.copies.into(), MOST_COPIES.into(), "copies")?;
    most(cell.slice, MOST_NS, "ns")
}

fn check_trial(trial: &Trial) -> Result<()> {
    most(trial.block.into(), MOST_BLOCKS.into(), "blocks")?;
    trial.late.iter().try_for_each(|ns| most(*ns, MOST_NS, "ns"))?;
    trial.copies.iter().chain(trial.background.iter().map(|load| &load.copy)).try_for_each(check_copy)?;
    let Some(trail) = trial.evidence.as_ref().and_then(|evidence| evidence.trail.as_ref()) else { return Ok(()) };
    let counts =
        [trail.events, trail.records, trail.bytes, trail.all_events, trail.all_bytes, trail.lost, trail.queued];
    all(counts, MOST_COUNT, "of a trail")
}

fn check_copy(copy: &Copy) -> Result<()> {
    // Counts are not added up in whole numbers.
    let ends = copy.slices.iter().flat_map(|slice| [slice.start, slice.end]);
    ends.max().map_or(Ok(()), |ns| most(ns, MOST_NS, "ns"))?;
    if let Some(usage) = &copy.usage {
        let counts = [usage.minor_faults, usage.major_faults, usage.voluntary, usage.involuntary, usage.maxrss_kib];
        all(counts, MOST_COUNT, "of a program's usage")?;
    }
    copy.executions.iter().try_for_each(check_execution)?;
    let rounds = copy.printed.iter().flat_map(|printed| &printed.rounds);
    rounds.map(|(round, _)| *round).max().map_or(Ok(()), |round| most(round, MOST_COUNT, "rounds"))?;
    copy.frames.as_deref().map_or(Ok(()), check_frames)
}

fn check_execution(one: &Execution) -> Result<()> {
    all([one.start, one.end, one.user, one.system], MOST_NS, "ns")?;
    let counts = [one.round, one.minor_faults, one.major_faults, one.voluntary, one.involuntary, one.maxrss_kib];
    all(counts, MOST_COUNT, "of an execution")
}

fn check_frames(frames: &Frames) -> Result<()> {
    let Frames { schedule, done, late, .. } = frames;
    all([schedule.planned, *done, *late], MOST_COUNT, "frames")?;
    let of_frames = frames.worst.iter().chain(&frames.last);
    let moments = of_frames.flat_map(|frame| [frame.planned, frame.sent, frame.woke, frame.done.unwrap_or(0)]);
    let own = [schedule.period, schedule.deadline, schedule.work, frames.broke.unwrap_or(0)];
    all(moments.chain(own).chain(frames.seconds.iter().copied()), MOST_NS, "ns")?;
    let Some(holders) = &frames.holders else { return Ok(()) };
    let counts = holders.causes.iter().map(|cause| cause.frames).chain([holders.late, holders.traced]);
    all(counts, MOST_COUNT, "frames")?;
    let waits = holders.worst.iter().flatten().map(|(_, ns)| *ns).chain(holders.causes.iter().map(|cause| cause.ns));
    all(waits, MOST_NS, "ns")
}

fn check_sample(sample: &Sample) -> Result<()> {
    for beat in &sample.beats {
        most(beat.thread.max(beat.cpu).into(), MOST_COPIES.into(), "threads or processors")?;
        most(beat.count.max(beat.wrong), MOST_COUNT, "of a thread's work")?;
    }
    let stage = sample.stage.iter().flat_map(|stage| [stage.pass, stage.done, stage.total]);
    let sensors = sample.sensors.count.values().chain(sample.sensors.cooling.values()).copied();
    all(stage.chain(sensors).chain([sample.faults]), MOST_COUNT, "of a sample")
}

fn all(numbers: impl IntoIterator<Item = u64>, limit: u64, what: &str) -> Result<()> {
    numbers.into_iter().try_for_each(|number| most(number, limit, what))
}

fn most(number: u64, most: u64, what: &str) -> Result<()> {
    ensure!(number <= most, "{number} {what} are more than can be measured ({most})");
    Ok(())
}
