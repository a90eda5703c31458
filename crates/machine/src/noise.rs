//! Disturbances of a window of time: time stolen by the hypervisor, stalls, load, heat.
//!
//! A [`Sample`] costs some tens of microseconds and is taken before a window opens and after it
//! has closed, never inside. The kernel counts CPU time in ticks of 10 ms, so a difference over a
//! window shorter than about a second is coarse.

use super::{Machine, frequency};
use journal::{Noise, SensorKind};

/// The first line of /proc/stat is all that is needed, and it is shorter than this.
const STAT_START_BYTES: u64 = 512;

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

/// The disturbances between two samples. A counter that went backwards, as `steal` does on some
/// hypervisors, counts as not having moved.
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

/// The shares of CPU time, 0 to 1, that were spent working and that were stolen between two
/// samples. `None` if no time has passed.
pub fn shares(before: &Sample, after: &Sample) -> Option<(f64, f64)> {
    let (before, after) = (before.cpu?, after.cpu?);
    let busy = (after.busy - before.busy).max(0.0);
    let idle = (after.idle - before.idle).max(0.0);
    let steal = (after.steal.unwrap_or(0.0) - before.steal.unwrap_or(0.0)).max(0.0);

    let total = busy + idle + steal;
    (total > 0.0).then(|| (busy / total, steal / total))
}

/// The [`shares`] from boot to the sample.
pub fn shares_since_boot(sample: &Sample) -> Option<(f64, f64)> {
    let boot = CpuSeconds { busy: 0.0, idle: 0.0, steal: None };
    shares(&Sample { cpu: Some(boot), ..Sample::default() }, sample)
}

/// The counters now.
pub fn sample(machine: &Machine) -> Sample {
    let load = machine.read("/proc/loadavg").unwrap_or_default();
    let mut words = load.split_whitespace();
    let pressure =
        |resource: &str| stalled_seconds(&machine.read(&format!("/proc/pressure/{resource}"))?);
    Sample {
        cpu: read_cpu_seconds(machine),
        psi_cpu_s: pressure("cpu"),
        psi_io_s: pressure("io"),
        psi_memory_s: pressure("memory"),
        load1: words.next().and_then(parse_amount),
        procs_running: words.nth(2).and_then(parse_running),
        frequency_mhz: frequency::now_mhz(machine),
        temperature_c: hottest_celsius(machine),
    }
}

/// `2/345` of /proc/loadavg: two of 345 tasks run or want to. /proc/stat has the same figure at
/// its end, behind every interrupt's counter.
fn parse_running(tasks: &str) -> Option<u64> {
    tasks.split('/').next()?.parse().ok()
}

fn read_cpu_seconds(machine: &Machine) -> Option<CpuSeconds> {
    let text = machine.read_start("/proc/stat", STAT_START_BYTES)?;
    let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
    let seconds: Vec<f64> = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(parse_amount)
        .map(|ticks| ticks / ticks_per_second)
        .collect();

    // Guest time is in user time already. Old kernels have the first four only.
    let [user, nice, system, idle] = *seconds.first_chunk()?;
    let [iowait, irq, softirq] = [4, 5, 6].map(|i| seconds.get(i).copied().unwrap_or(0.0));
    Some(CpuSeconds {
        busy: user + nice + system + irq + softirq,
        idle: idle + iowait,
        steal: seconds.get(7).copied(),
    })
}

/// The seconds of the `some` line of a pressure file (Documentation/accounting/psi.rst).
pub fn stalled_seconds(pressure: &str) -> Option<f64> {
    let some_line = pressure.lines().find(|line| line.starts_with("some "))?;
    let total = some_line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    Some(parse_amount(total)? / 1e6)
}

/// A number that can be a time or a load: finite, and not negative.
fn parse_amount(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

fn hottest_celsius(machine: &Machine) -> Option<f64> {
    zone_files(machine)
        .into_iter()
        .chain(cpu_sensor_files(machine))
        .filter_map(|path| machine.number::<f64>(&path))
        .map(|millidegrees| millidegrees / 1000.0)
        .filter(|celsius| SANE_CELSIUS.contains(celsius))
        .max_by(f64::total_cmp)
}

fn zone_files(machine: &Machine) -> Vec<String> {
    let zones = machine.numbered("/sys/class/thermal", "thermal_zone");
    zones.iter().map(|zone| format!("/sys/class/thermal/{zone}/temp")).collect()
}

/// Many machines, all of AMD's among them, have no thermal zone for the CPU but a sensor chip.
fn cpu_sensor_files(machine: &Machine) -> Vec<String> {
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
        let (before, after) =
            (sample_of(10.0, 100.0, Some(1.0)), sample_of(12.0, 105.0, Some(4.0)));
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
        let read = ["1.5", "-1", "inf", "NaN", "x"].map(parse_amount);
        assert_eq!(read, [Some(1.5), None, None, None, None]);
    }

    #[test]
    fn an_old_kernel_has_no_steal() {
        let noise = super::noise(&sample_of(1.0, 1.0, None), &sample_of(2.0, 1.0, None));
        assert_eq!((noise.steal_s, noise.busy_s), (None, Some(1.0)));
    }
}
