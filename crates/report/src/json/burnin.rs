//! A burn-in in the JSON report: docs/format.md names its keys.

use serde::Serialize;

use analysis::{self, CoolDown, Pattern, Rise, Sensor};
use journal::{self, Fault, Pass, Sample, Stage, Word};
use stats::Estimate;

#[derive(Serialize)]
pub(super) struct BurnIn<'a> {
    test: &'a str,
    label: &'a str,
    verdict: &'a str,
    good: bool,
    worked: f64,
    asked: &'a journal::BurnIn,
    #[serde(skip_serializing_if = "Option::is_none")]
    cooling: Option<Cooling<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Memory<'a>>,
    sensors: &'a [Sensor],
    cool_down: Option<&'a CoolDown>,
    passes: &'a [Pass],
    faults: Vec<Found<'a>>,
    samples: &'a [Sample],
}

#[derive(Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    fault: &'a Fault,
    xor: Word,
}

#[derive(Serialize)]
struct Cooling<'a> {
    clock: Option<Held>,
    throughput: Option<Held>,
    fell: Option<Fall<'a>>,
    dip: Option<f64>,
    slowed: Option<f64>,
    recovery: Option<f64>,
    wrong: u64,
    steal: Option<f64>,
    cores: Vec<Core>,
}

#[derive(Serialize)]
struct Held {
    initial: Estimate,
    sustained: Estimate,
    kept: Estimate,
    lowest: f64,
}

#[derive(Serialize)]
struct Fall<'a> {
    at: f64,
    cause: &'static str,
    thermal: &'a [String],
    power: &'a [String],
}

#[derive(Serialize)]
struct Core {
    thread: u32,
    cpu: u32,
    clock: Option<Held>,
    fell: Option<f64>,
    wrong: u64,
}

#[derive(Serialize)]
struct Memory<'a> {
    bytes: u64,
    passes: u64,
    unfinished: Option<&'a Stage>,
    moved: u64,
    rate: Option<Estimate>,
    faults: u64,
    patterns: &'a [Pattern],
    counted: bool,
    errors: &'a [Rise],
}

pub(super) fn burnin(burnin: &analysis::BurnIn) -> BurnIn<'_> {
    BurnIn {
        test: &burnin.test,
        label: &burnin.label,
        verdict: &burnin.verdict,
        good: burnin.good,
        worked: burnin.worked,
        asked: &burnin.asked,
        cooling: burnin.cooling.as_ref().map(cooling),
        memory: burnin.memory.as_ref().map(memory),
        sensors: &burnin.sensors,
        cool_down: burnin.cool_down.as_ref(),
        passes: &burnin.passes,
        faults: burnin.faults.iter().map(|fault| Found { fault, xor: fault.difference() }).collect(),
        samples: &burnin.samples,
    }
}

fn cooling(cooling: &analysis::Cooling) -> Cooling<'_> {
    let core = |core: &analysis::Core| Core {
        thread: core.thread,
        cpu: core.cpu,
        clock: core.clock.as_ref().map(held),
        fell: core.fell,
        wrong: core.wrong,
    };
    Cooling {
        clock: cooling.clock.as_ref().map(held),
        throughput: cooling.throughput.as_ref().map(held),
        fell: cooling.fall.as_ref().map(|fall| Fall {
            at: fall.at,
            cause: fall.cause.kind(),
            thermal: &fall.cause.thermal,
            power: &fall.cause.power,
        }),
        dip: cooling.dip,
        slowed: cooling.slowed,
        recovery: cooling.recovery,
        wrong: cooling.wrong,
        steal: cooling.steal,
        cores: cooling.cores.iter().map(core).collect(),
    }
}

fn held(held: &analysis::Held) -> Held {
    let analysis::Held { initial, sustained, ratio, lowest } = *held;
    Held { initial, sustained, kept: ratio, lowest }
}

fn memory(memory: &analysis::Memory) -> Memory<'_> {
    Memory {
        bytes: memory.bytes,
        passes: memory.passes,
        unfinished: memory.unfinished.as_ref(),
        moved: memory.moved,
        rate: memory.rate,
        faults: memory.faults,
        patterns: &memory.patterns,
        counted: memory.is_counted,
        errors: &memory.errors,
    }
}
