//! The clock of the CPUs, and its governor.

use super::{Machine, counts, parse};

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";

/// Reading one CPU's frequency may interrupt it, so on a big machine only some are asked.
const MAX_ASKED_CPUS: usize = 8;

/// The start of /proc/cpuinfo that is read: about ten CPUs' worth.
const CPUINFO_START_BYTES: u64 = 16_384;

/// The mean frequency of a few CPUs now, in MHz.
pub fn now_mhz(machine: &Machine) -> Option<f64> {
    mean(&from_cpufreq(machine)).or_else(|| mean(&from_cpuinfo(machine)))
}

/// A file of every frequency policy, such as `scaling_governor`, each value with its number.
pub fn policies(machine: &Machine, file: &str) -> Option<String> {
    let policies = machine.numbered(CPUFREQ, "policy");
    let value = |policy: &String| machine.read(&format!("{CPUFREQ}/{policy}/{file}"));
    parse::tally(policies.iter().filter_map(value))
}

/// A frequency of every policy, such as `cpuinfo_max_freq`, in MHz.
pub fn policies_mhz(machine: &Machine, file: &str) -> Vec<u64> {
    let policies = machine.numbered(CPUFREQ, "policy");
    let khz = |policy: &String| machine.number::<u64>(&format!("{CPUFREQ}/{policy}/{file}"));
    policies.iter().filter_map(khz).map(|khz| khz / 1000).collect()
}

/// True if the CPUs may exceed their base frequency; `None` where nothing tells.
pub fn boost(machine: &Machine) -> Option<bool> {
    let on = |path: &str, value: &str| machine.read(path).map(|text| text == value);
    on("/sys/devices/system/cpu/intel_pstate/no_turbo", "0")
        .or_else(|| on("/sys/devices/system/cpu/cpufreq/boost", "1"))
}

/// The command that switches boosting off here.
pub fn boost_off(machine: &Machine) -> &'static str {
    if machine.exists("/sys/devices/system/cpu/intel_pstate/no_turbo") {
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    } else {
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    }
}

fn from_cpufreq(machine: &Machine) -> Vec<f64> {
    let cpus = counts::online(machine);
    let step = cpus.len().div_ceil(MAX_ASKED_CPUS).max(1);
    let khz = |cpu: &usize| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        machine.number::<f64>(&path)
    };
    cpus.iter().step_by(step).map_while(khz).map(|khz| khz / 1000.0).collect()
}

fn from_cpuinfo(machine: &Machine) -> Vec<f64> {
    let text = machine.read_start("/proc/cpuinfo", CPUINFO_START_BYTES).unwrap_or_default();
    let mhz = |line: &str| parse::field(line, "cpu MHz")?.parse().ok();
    text.lines().filter_map(mhz).collect()
}

/// The mean of what makes sense as a frequency.
fn mean(mhz: &[f64]) -> Option<f64> {
    let sane: Vec<f64> = mhz.iter().copied().filter(|mhz| (1.0..100_000.0).contains(mhz)).collect();
    (!sane.is_empty()).then(|| sane.iter().sum::<f64>() / sane.len() as f64)
}
