//! Sensors of invented machines: an Intel notebook, an AMD server, a board, and machines that tell
//! nothing.

use crate::fixture::{Fixture, MACHINES, Outcome};
use ::journal::SensorKind;
use ::machine::{Sensors, memory_free};

fn empty() -> Result<Fixture, Box<dyn std::error::Error>> {
    Ok(Fixture { root: tempfile::tempdir()? })
}

/// Writes files of one folder.
fn folder(fixture: &Fixture, path: &str, files: &[(&str, &str)]) -> std::io::Result<()> {
    files
        .iter()
        .try_for_each(|(name, body)| fixture.write(&format!("{path}/{name}"), format!("{body}\n")))
}

fn notebook() -> Result<Fixture, Box<dyn std::error::Error>> {
    let fixture = empty()?;
    fixture.write("/sys/devices/system/cpu/online", "0-1\n")?;
    fixture.write("/proc/stat", "cpu  1000 0 1000 8000 0 0 0 0 0 0\n")?;
    folder(
        &fixture,
        "/sys/class/hwmon/hwmon2",
        &[
            ("name", "coretemp"),
            ("temp1_input", "61000"),
            ("temp1_label", "Package id 0"),
            ("temp1_max", "90000"),
            ("temp1_crit", "100000"),
            ("temp2_input", "60000"),
            ("temp2_label", "Core 0"),
            ("temp2_crit", "0"),
            ("temp3_input", "-274000"),
        ],
    )?;
    folder(
        &fixture,
        "/sys/class/hwmon/hwmon3",
        &[("name", "nvme"), ("temp1_input", "38850"), ("temp1_label", "Composite")],
    )?;
    folder(
        &fixture,
        "/sys/class/hwmon/hwmon10",
        &[("name", "nvme"), ("temp1_input", "40850"), ("temp1_label", "Composite")],
    )?;
    folder(&fixture, "/sys/class/hwmon/hwmon4", &[("name", "acpitz"), ("temp1_input", "30000")])?;
    folder(&fixture, "/sys/class/thermal/thermal_zone0", &[("type", "acpitz"), ("temp", "30000")])?;
    folder(
        &fixture,
        "/sys/class/thermal/thermal_zone1",
        &[("type", "x86_pkg_temp"), ("temp", "61000")],
    )?;
    folder(
        &fixture,
        "/sys/class/thermal/thermal_zone2",
        &[
            ("type", "SEN1"),
            ("temp", "44000"),
            ("trip_point_0_type", "passive"),
            ("trip_point_0_temp", "70000"),
            ("trip_point_1_type", "critical"),
            ("trip_point_1_temp", "85000"),
        ],
    )?;
    for (device, kind, state) in [(0, "Processor", 0), (1, "Processor", 2), (2, "Fan", 1)] {
        let path = format!("/sys/class/thermal/cooling_device{device}");
        folder(&fixture, &path, &[("type", kind), ("cur_state", &state.to_string())])?;
    }
    for cpu in 0..2 {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}");
        fixture.write(&format!("{path}/cpufreq/scaling_cur_freq"), "3400123\n")?;
        folder(
            &fixture,
            &format!("{path}/thermal_throttle"),
            &[
                ("core_throttle_count", "7"),
                ("package_throttle_count", "9"),
                ("package_power_limit_count", "3"),
            ],
        )?;
    }
    for (zone, name, energy) in
        [("0", "package-0", 1_000_000), ("0:0", "core", 500_000), ("1", "psys", 10)]
    {
        let path = format!("/sys/class/powercap/intel-rapl:{zone}");
        folder(
            &fixture,
            &path,
            &[
                ("name", name),
                ("energy_uj", &energy.to_string()),
                ("max_energy_range_uj", "262143328850"),
            ],
        )?;
    }
    fixture.write("/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "15000000\n")?;
    folder(
        &fixture,
        "/sys/class/powercap/intel-rapl-mmio:0",
        &[("name", "package-0"), ("energy_uj", "5")],
    )?;
    Ok(fixture)
}

#[test]
fn an_intel_notebook() -> Outcome {
    let fixture = notebook()?;
    let mut sensors = Sensors::find(&fixture.machine());
    let first = sensors.read(0.0);
    let temperatures: Vec<(&str, f64)> =
        first.temperature.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(
        temperatures,
        [
            ("SEN1", 44.0),
            ("acpitz temp1", 30.0),
            ("coretemp Core 0", 60.0),
            ("coretemp Package id 0", 61.0),
            ("nvme Composite", 38.85),
            ("nvme Composite #2", 40.85),
        ]
    );
    assert_eq!(sensors.limits.temperature["coretemp Package id 0"], 100.0);
    assert_eq!(sensors.limits.temperature["SEN1"], 85.0);
    assert!(!sensors.limits.temperature.contains_key("coretemp Core 0"), "a limit of 0 is none");
    assert_eq!(sensors.limits.power["package-0"], 15.0);
    assert_eq!(first.frequency, [(0, 3400.123), (1, 3400.123)]);
    let counts: Vec<(&str, u64)> =
        first.count.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(
        counts,
        [("power_limit.package", 3), ("throttle.core", 14), ("throttle.package", 9)]
    );
    assert_eq!((first.cooling["Processor"], first.cooling["Fan"]), (2, 1));
    assert!(first.power.is_empty() && first.steal.is_none(), "a difference takes two readings");
    assert!(
        sensors
            .summary()
            .contains("6 temperatures, 3 power meters, 2 frequencies, throttle counters")
    );
    Ok(())
}

#[test]
fn power_is_the_energy_of_the_time_between() -> Outcome {
    let fixture = notebook()?;
    let mut sensors = Sensors::find(&fixture.machine());
    sensors.read(10.0);
    fixture.write("/sys/class/powercap/intel-rapl:0/energy_uj", "31000000\n")?;
    fixture.write("/sys/class/powercap/intel-rapl:1/energy_uj", "5\n")?;
    fixture.write("/proc/stat", "cpu  1080 0 1000 8100 0 0 0 20 0 0\n")?;
    let next = sensors.read(12.0);
    assert_eq!((next.power["package-0"], next.power["package-0 core"]), (15.0, 0.0));
    // The counter starts again at the end of its range.
    assert_eq!(next.power.get("psys"), Some(&131_071.66));
    assert_eq!(next.steal, Some(10.0));
    fixture.write("/sys/class/powercap/intel-rapl:0/energy_uj", "gone\n")?;
    assert!(!sensors.read(13.0).power.contains_key("package-0"), "what cannot be read is absent");
    fixture.write("/sys/class/powercap/intel-rapl:0/energy_uj", "32000000\n")?;
    assert!(!sensors.read(14.0).power.contains_key("package-0"), "and has no difference");
    Ok(())
}

#[test]
fn an_amd_server() -> Outcome {
    let fixture = empty()?;
    folder(
        &fixture,
        "/sys/class/hwmon/hwmon0",
        &[
            ("name", "k10temp"),
            ("temp1_input", "55125"),
            ("temp1_label", "Tctl"),
            ("temp3_input", "50000"),
        ],
    )?;
    folder(
        &fixture,
        "/sys/class/hwmon/hwmon1",
        &[
            ("name", "power_meter"),
            ("power1_average", "187000000"),
            ("power2_average", "1"),
            ("power2_input", "90500000"),
        ],
    )?;
    for controller in [0, 1, 10] {
        let path = format!("/sys/devices/system/edac/mc/mc{controller}");
        folder(&fixture, &path, &[("ce_count", &controller.to_string()), ("ue_count", "0")])?;
    }
    let mut sensors = Sensors::find(&fixture.machine());
    let reading = sensors.read(0.0);
    assert_eq!(
        (reading.temperature["k10temp Tctl"], reading.temperature["k10temp temp3"]),
        (55.125, 50.0)
    );
    assert_eq!(
        (reading.power["power_meter power1"], reading.power["power_meter power2"]),
        (187.0, 90.5)
    );
    assert_eq!((reading.count["edac.mc10.ce"], reading.count["edac.mc1.ue"]), (10, 0));
    assert_eq!(reading.count.len(), 6);
    assert!(sensors.summary().ends_with("memory error counters"));
    Ok(())
}

#[test]
fn what_a_sensor_is_about() {
    for name in [
        "coretemp Package id 0",
        "k10temp Tctl",
        "cpu-thermal",
        "cpu_thermal temp1",
        "x86_pkg_temp",
        "cpu0-thermal",
    ] {
        assert_eq!(SensorKind::from_name(name), SensorKind::Processor, "{name}");
    }
    for (name, kind) in [
        ("nvme Composite", SensorKind::Other),
        ("acpitz temp1", SensorKind::Other),
        ("iwlwifi_1 temp1", SensorKind::Other),
        ("", SensorKind::Other),
        ("spd5118 temp1", SensorKind::Memory),
        ("throttle.core", SensorKind::Throttling),
        ("power_limit.package", SensorKind::PowerLimit),
        ("edac.mc0.ce", SensorKind::MemoryErrors),
    ] {
        assert_eq!(SensorKind::from_name(name), kind, "{name}");
    }
}

#[test]
fn machines_that_tell_nothing_and_nonsense() -> Outcome {
    let mut sensors = Sensors::find(&empty()?.machine());
    assert_eq!(sensors.summary(), "");
    assert_eq!(sensors.read(0.0), Default::default());
    for garbage in [&b"\xff\xfe\x1b[31m"[..], b"-1", b"1e308", b"NaN", b"99999999999999999999", b""]
    {
        let fixture = notebook()?;
        for file in fixture.files()? {
            fixture.write(&file, garbage)?;
        }
        let mut sensors = Sensors::find(&fixture.machine());
        for at in [0.0, 1.0, 1.0, 0.5] {
            let reading = sensors.read(at);
            let values = reading.temperature.values().chain(reading.power.values());
            assert!(values.chain(&reading.steal).all(|value| value.is_finite()), "{reading:?}");
            let names = reading
                .temperature
                .keys()
                .chain(reading.power.keys())
                .chain(reading.cooling.keys());
            assert!(!names.clone().any(|name| name.contains(char::is_control)), "{reading:?}");
        }
    }
    for name in MACHINES {
        let mut sensors = Sensors::find(&Fixture::unpack(name)?.machine());
        sensors.read(0.0);
    }
    Ok(())
}

#[test]
fn memory_that_may_be_taken() -> Outcome {
    let fixture = empty()?;
    assert_eq!(memory_free(&fixture.machine()), None);
    fixture.write(
        "/proc/meminfo",
        "MemTotal: 20971520 kB\nMemFree: 1 kB\nMemAvailable: 10485760 kB\n",
    )?;
    // A twentieth of 20 GiB stays.
    assert_eq!(memory_free(&fixture.machine()), Some(9 << 30));
    fixture.write("/proc/self/cgroup", "0::/box\n")?;
    fixture
        .write("/proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")?;
    folder(
        &fixture,
        "/sys/fs/cgroup/box",
        &[
            ("memory.max", "4294967296"),
            ("memory.current", "2147483648"),
            ("memory.stat", "anon 5\ninactive_file 1073741824"),
        ],
    )?;
    // Of the group's 4 GiB, 2 are used and 1 of those can be dropped; 256 MiB stay.
    assert_eq!(memory_free(&fixture.machine()), Some((3 << 30) - (256 << 20)));
    fixture.write("/sys/fs/cgroup/box/memory.max", "max\n")?;
    assert_eq!(memory_free(&fixture.machine()), Some(9 << 30));
    Ok(())
}
