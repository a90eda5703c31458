//! Checks whose finding depends on one file, and the mends they propose.

use crate::fixture::{DIR, Fixture, MACHINES, Outcome};
use ::journal::Severity;
use ::machine::{examine, sample};
use std::error::Error;
use std::fs;
use std::path::Path;

#[test]
fn the_worst_comes_first() -> Outcome {
    for name in MACHINES {
        let fixture = Fixture::unpack(name)?;
        let now = sample(&fixture.machine());
        let findings = examine(&fixture.machine(), Path::new(DIR), &now, &now);
        assert!(findings.is_sorted_by_key(|finding| finding.severity), "{name}");
        for finding in findings {
            assert!(!finding.what.is_empty() && !finding.fix.is_empty(), "{}", finding.name);
        }
    }
    Ok(())
}

/// The severity and the text of one finding after a file was changed.
fn finding_after(
    fixture: &Fixture,
    name: &str,
    path: &str,
    body: &str,
) -> Result<Option<(Severity, String)>, std::io::Error> {
    fixture.write(path, body)?;
    Ok(fixture.findings().remove(name))
}

#[test]
fn power_is_from_the_mains_or_the_battery_is_of_a_mouse() -> Outcome {
    let fixture = Fixture::unpack("bare-metal-intel")?;
    let supply = "/sys/class/power_supply";
    let battery = |file: &str, body: &str| {
        finding_after(&fixture, "load.battery", &format!("{supply}/{file}"), body)
    };
    assert_eq!(battery("AC/online", "1")?, None, "plugged in");
    assert!(battery("AC/online", "0")?.is_some(), "unplugged");
    assert_eq!(battery("BAT0/scope", "Device")?, None, "a mouse");
    assert!(battery("BAT0/scope", "System")?.is_some());
    assert_eq!(battery("BAT0/status", "Charging")?, None);
    Ok(())
}

#[test]
fn a_battery_that_is_online_is_not_the_mains() -> Outcome {
    let fixture = Fixture::unpack("bare-metal-intel")?;
    let path = "/sys/class/power_supply/BAT0/online";
    assert!(finding_after(&fixture, "load.battery", path, "1")?.is_some());
    Ok(())
}

#[test]
fn memory_that_is_short() -> Outcome {
    let fixture = Fixture::unpack("this-vm")?;
    let severity = |total: u64, available: u64| {
        let body = format!("MemTotal: {} kB\nMemAvailable: {} kB\n", total << 10, available << 10);
        let found = finding_after(&fixture, "memory.available", "/proc/meminfo", &body);
        found.map(|finding| finding.map(|(severity, _)| severity))
    };
    assert_eq!(severity(4000, 200)?, Some(Severity::Spoils));
    assert_eq!(severity(4000, 900)?, Some(Severity::Disturbs));
    assert_eq!(severity(40_000, 3000)?, Some(Severity::Disturbs), "under a tenth");
    assert_eq!(severity(4000, 2000)?, None);
    Ok(())
}

#[test]
fn fixes_fit_the_machine() -> Outcome {
    let fixture = Fixture::unpack("bare-metal-intel")?;
    let fix = |name: &str, path: &str, body: &str| -> Result<String, Box<dyn Error>> {
        let (_, text) = finding_after(&fixture, name, path, body)?.ok_or("nothing was found")?;
        Ok(text.split_once(" | ").ok_or("no fix")?.1.to_string())
    };
    let clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    assert!(fix("kernel.clock_source", clocks, "hpet acpi_pm")?.starts_with("sudo dmesg"));
    let limits = "/proc/self/limits";
    let files = |limit: &str| format!("Max open files            {limit}      files\n");
    assert_eq!(fix("limits.nofile", limits, &files("64 4096"))?, "ulimit -n 160");
    assert_eq!(fix("limits.nofile", limits, &files("64 160"))?, "ulimit -n 160");
    assert!(fix("limits.nofile", limits, &files("64 159"))?.starts_with("as root:"));
    let mounts = "/proc/self/mountinfo";
    assert!(
        fix("storage.file_system", mounts, "1 0 0:9 / /srv rw - fuse.mergerfs a rw")?
            .contains("--dir")
    );
    assert!(
        fix("storage.file_system", mounts, "1 0 0:9 / /srv rw - aufs none rw")?.contains("--dir")
    );
    assert!(
        fix("storage.read_only", mounts, "1 0 0:9 / /srv ro - ext4 /dev/sda rw")?.contains("--dir")
    );
    assert!(
        fix("cpu.boost", "/sys/devices/system/cpu/intel_pstate/no_turbo", "0")?
            .starts_with("echo 1")
    );
    fs::remove_file(fixture.path("/sys/devices/system/cpu/intel_pstate/no_turbo"))?;
    assert!(fix("cpu.boost", "/sys/devices/system/cpu/cpufreq/boost", "1")?.starts_with("echo 0"));
    Ok(())
}
