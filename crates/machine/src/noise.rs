//! Disturbances of a window of time: time stolen by the hypervisor, stalls, load, heat.
//!
//! A [`Sample`] costs some tens of microseconds and is taken before a window opens and after it
//! has closed, never inside. The kernel counts CPU time in ticks of 10 ms, so a difference over a
//! window shorter than about a second is coarse.

use super::{Machine, frequency};
use journal::{Noise, SensorKind};

/// The first line of /proc/stat is all that is needed, and it is shorter than this.
const STAT_START: u64 = 512;

/// Temperatures that can be real. Sensors without a value report others, such as −274 or 255 °C.
pub const SANE_CELSIUS: std::ops::RangeInclusive<f64> = -40.0..=150.0;

/// The state of the noise counters at one moment; the difference of two describes a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Seconds since boot, summed over the CPUs.
    cpu: Option<CpuSeconds>,
    psi_cpu_s: Option<f64>,
    psi_io_s: Option<f64>,
    psi_memory_s: Option<f64>,
    load1: Option<f64>,
    procs_running: Option<u64>,
    frequency_mhz: Option<f64>,
    temperature_c: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct CpuSeconds {
    busy: f64,
    idle: f64,
    /// Kernels before 2.6.11 do not count it.
    steal: Option<f64>,
}

/// Returns what happened between two samples. A counter that went backwards, as `steal` does on some hypervisors,
/// counts as not having moved.
pub fn noise(before: &Sample, after: &Sample) -> Noise {
    let steal = |sample: &Sample| sample.cpu.and_then(|cpu| cpu.steal);
    let busy = |sample: &Sample| sample.cpu.map(|cpu| cpu.busy);
    Noise {
        steal_s: difference(steal(before), steal(after)),
        busy_s: difference(busy(before), busy(after)),
        procs_running: after.procs_running,
        psi_cpu_some_s: difference(before.psi_cpu_s, after.psi_cpu_s),
        psi_io_some_s: difference(before.psi_io_s, after.psi_io_s),
        psi_memory_some_s: difference(before.psi_memory_s, after.psi_memory_s),
        frequency_mhz: after.frequency_mhz,
        load1: after.load1,
        temperature_c: after.temperature_c,
    }
}

impl Sample {
    /// CPU seconds since boot: working, idle, stolen.
    fn totals(&self) -> Option<(f64, f64, f64)> {
        self.cpu.map(|cpu| (cpu.busy, cpu.idle, cpu.steal.unwrap_or(0.0)))
    }
}

/// The shares of CPU time, 0 to 1, that were spent working and that were stolen between two
/// samples; `None` where no time passed.
pub fn shares(before: &Sample, after: &Sample) -> Option<(f64, f64)> {
    let (a, b) = (before.totals()?, after.totals()?);
    let [busy, idle, steal] = [b.0 - a.0, b.1 - a.1, b.2 - a.2].map(|seconds| seconds.max(0.0));
    let all = busy + idle + steal;
    (all > 0.0).then(|| (busy / all, steal / all))
}

/// The same shares from boot to the sample.
pub fn shares_since_boot(sample: &Sample) -> Option<(f64, f64)> {
    let boot = CpuSeconds { busy: 0.0, idle: 0.0, steal: None };
    shares(&Sample { cpu: Some(boot), ..Sample::default() }, sample)
}

/// The counters now.
pub fn sample(machine: &Machine) -> Sample {
    let load = machine.read("/proc/loadavg").unwrap_or_default();
    let mut words = load.split_whitespace();
    let pressure = |resource: &str| stalled_seconds(&machine.read(&format!("/proc/pressure/{resource}"))?);
    Sample {
        cpu: cpu_seconds(machine),
        psi_cpu_s: pressure("cpu"),
        psi_io_s: pressure("io"),
        psi_memory_s: pressure("memory"),
        load1: words.next().and_then(seconds),
        procs_running: words.nth(2).and_then(running),
        frequency_mhz: frequency::now_mhz(machine),
        temperature_c: hottest(machine),
    }
}

/// `2/345` of /proc/loadavg: two of 345 tasks run or want to. /proc/stat has the same figure at
/// its end, behind every interrupt's counter.
fn running(tasks: &str) -> Option<u64> {
    tasks.split('/').next()?.parse().ok()
}

fn cpu_seconds(machine: &Machine) -> Option<CpuSeconds> {
    let text = machine.read_start("/proc/stat", STAT_START)?;
    let ticks = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(seconds);
    let ticks: Vec<f64> = ticks.map(|ticks| ticks / rustix::param::clock_ticks_per_second() as f64).collect();
    // user nice system idle iowait irq softirq steal; guest time is in user already.
    let at = |index: usize| ticks.get(index).copied();
    let or_none = |index: usize| at(index).unwrap_or(0.0);
    Some(CpuSeconds {
        busy: at(0)? + at(1)? + at(2)? + or_none(5) + or_none(6),
        idle: at(3)? + or_none(4),
        steal: at(7),
    })
}

/// Returns the seconds of the `some` line of a pressure file (Documentation/accounting/psi.rst).
pub fn stalled_seconds(pressure: &str) -> Option<f64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let total = some.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    Some(seconds(total)? / 1e6)
}

/// A number that can be a duration; /proc has no others.
fn seconds(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

fn hottest(machine: &Machine) -> Option<f64> {
    let celsius = |path: String| Some(machine.number::<f64>(&path)? / 1000.0);
    let paths = zones(machine).into_iter().chain(cpu_sensors(machine));
    paths.filter_map(celsius).filter(|value| SANE_CELSIUS.contains(value)).max_by(f64::total_cmp)
}

fn zones(machine: &Machine) -> Vec<String> {
    let zones = machine.numbered("/sys/class/thermal", "thermal_zone");
    zones.iter().map(|zone| format!("/sys/class/thermal/{zone}/temp")).collect()
}

/// Many machines, all of AMD's among them, have no thermal zone for the CPU but a sensor chip.
fn cpu_sensors(machine: &Machine) -> Vec<String> {
    let mut paths = Vec::new();
    for chip in machine.numbered("/sys/class/hwmon", "hwmon") {
        let chip = format!("/sys/class/hwmon/{chip}");
        let name = machine.read(&format!("{chip}/name")).unwrap_or_default();
        if SensorKind::from_name(&name) == SensorKind::Processor {
            let mut files = machine.list(&chip);
            files.retain(|file| file.starts_with("temp") && file.ends_with("_input"));
            paths.extend(files.iter().map(|file| format!("{chip}/{file}")));
        }
    }
    paths
}

fn difference(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    let difference = (after? - before?).max(0.0);
    // The counters are exact to a microsecond at best; more digits would only fill the journal.
    Some((difference * 1e6).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_of(busy: f64, idle: f64, steal: Option<f64>) -> Sample {
        Sample { cpu: Some(CpuSeconds { busy, idle, steal }), ..Sample::default() }
    }

    #[test]
    fn shares_of_a_window() {
        let (before, after) = (sample_of(10.0, 100.0, Some(1.0)), sample_of(12.0, 105.0, Some(4.0)));
        assert_eq!(shares(&before, &after), Some((0.2, 0.3)));
        assert_eq!(shares(&after, &after), None, "no time passed");
        assert_eq!(shares(&Sample::default(), &after), None);
    }

    #[test]
    fn steal_that_runs_backwards_is_none() {
        let (before, after) = (sample_of(1.0, 1.0, Some(5.0)), sample_of(2.0, 1.0, Some(4.0)));
        let noise = super::noise(&before, &after);
        assert_eq!((noise.steal_s, noise.busy_s), (Some(0.0), Some(1.0)));
    }

    #[test]
    fn what_cannot_be_a_duration() {
        let read = ["1.5", "-1", "inf", "NaN", "x"].map(seconds);
        assert_eq!(read, [Some(1.5), None, None, None, None]);
    }

    #[test]
    fn an_old_kernel_has_no_steal() {
        let noise = super::noise(&sample_of(1.0, 1.0, None), &sample_of(2.0, 1.0, None));
        assert_eq!((noise.steal_s, noise.busy_s), (None, Some(1.0)));
    }
}
