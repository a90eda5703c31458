//! The energy of invented machines: what is counted, once, and what is not.

use crate::fixture::{Fixture, MACHINES, Outcome};
use ::machine::{Energy, EnergySource};

const RAPL: &str = "/sys/class/powercap/intel-rapl";

fn empty() -> Result<Fixture, Box<dyn std::error::Error>> {
    Ok(Fixture { root: tempfile::tempdir()? })
}

fn energy(fixture: &Fixture) -> Result<Energy, String> {
    match EnergySource::find(&fixture.machine()) {
        EnergySource::Found(energy) => Ok(energy),
        other => Err(format!("{other:?}")),
    }
}

/// Writes a domain with a range of 1,000 J.
fn domain(fixture: &Fixture, zone: &str, name: &str, joules: f64) -> std::io::Result<()> {
    fixture.write(&format!("{RAPL}:{zone}/name"), format!("{name}\n"))?;
    fixture.write(&format!("{RAPL}:{zone}/max_energy_range_uj"), "1000000000\n")?;
    count(fixture, zone, joules)
}

fn count(fixture: &Fixture, zone: &str, joules: f64) -> std::io::Result<()> {
    fixture.write(&format!("{RAPL}:{zone}/energy_uj"), format!("{}\n", joules * 1e6))
}

#[test]
fn packages_and_their_memory_are_counted_once() -> Outcome {
    let fixture = empty()?;
    for (zone, name) in
        [("0", "package-0"), ("0:0", "core"), ("0:1", "dram"), ("1", "package-1"), ("2", "psys")]
    {
        domain(&fixture, zone, name, 100.0)?;
    }
    fixture.write("/sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n")?;
    fixture.write("/sys/class/powercap/intel-rapl-mmio:0/energy_uj", "5\n")?;
    let energy = energy(&fixture)?;
    assert_eq!(energy.name(), "powercap: package-0, package-0 dram, package-1");
    let before = energy.read().ok_or("no reading")?;
    for (zone, joules) in [("0", 110.0), ("0:0", 107.0), ("0:1", 101.0), ("1", 104.0), ("2", 130.0)]
    {
        count(&fixture, zone, joules)?;
    }
    let after = energy.read().ok_or("no reading")?;
    assert_eq!(energy.joules(&before, &after, 1.0), Some(15.0));
    assert_eq!(energy.joules(&before, &before, 1.0), None, "no machine draws nothing");
    assert_eq!(energy.joules(&before, &after, 1e-6), None, "nor 15 MW");
    Ok(())
}

#[test]
fn a_counter_begins_at_0_again() -> Outcome {
    let fixture = empty()?;
    domain(&fixture, "0", "package-0", 990.0)?;
    let energy = energy(&fixture)?;
    let before = energy.read().ok_or("no reading")?;
    count(&fixture, "0", 15.0)?;
    let after = energy.read().ok_or("no reading")?;
    assert_eq!(energy.joules(&before, &after, 1.0), Some(25.0));
    fixture.write(&format!("{RAPL}:0/energy_uj"), "gone\n")?;
    assert_eq!(energy.read(), None, "what has no number has no reading");
    std::fs::remove_file(fixture.path(&format!("{RAPL}:0/max_energy_range_uj")))?;
    count(&fixture, "0", 990.0)?;
    let energy = self::energy(&fixture)?;
    assert_eq!(energy.joules(&before, &after, 1.0), None, "without a range nobody knows where");
    Ok(())
}

#[test]
fn psys_counts_where_it_is_alone() -> Outcome {
    let fixture = empty()?;
    domain(&fixture, "1", "psys", 10.0)?;
    assert_eq!(energy(&fixture)?.name(), "powercap: psys");
    Ok(())
}

#[test]
fn sensor_chips_count_where_powercap_does_not() -> Outcome {
    let fixture = empty()?;
    let chip = |number: u32, file: &str, text: &str| {
        fixture.write(&format!("/sys/class/hwmon/hwmon{number}/{file}"), format!("{text}\n"))
    };
    chip(0, "name", "i915")?;
    chip(0, "energy1_input", "7000000")?;
    assert!(
        matches!(EnergySource::find(&fixture.machine()), EnergySource::Missing),
        "a card is not the machine"
    );
    chip(3, "name", "fam15h_power")?;
    chip(3, "power1_input", "30000000")?;
    chip(4, "name", "power_meter")?;
    chip(4, "power1_average", "90500000")?;
    let power = energy(&fixture)?;
    assert_eq!(power.name(), "hwmon: power_meter power1", "the whole machine's");
    let reading = power.read().ok_or("no reading")?;
    assert_eq!(power.joules(&reading, &reading, 2.0), Some(181.0));
    chip(5, "name", "amd_energy")?;
    for (number, label) in [(1, "Ecore000"), (2, "Ecore001"), (3, "Esocket0"), (4, "Esocket1")] {
        chip(5, &format!("energy{number}_label"), label)?;
        chip(5, &format!("energy{number}_input"), "2000000")?;
    }
    assert_eq!(
        energy(&fixture)?.name(),
        "hwmon: amd_energy Esocket0, amd_energy Esocket1",
        "cores are in sockets"
    );
    domain(&fixture, "0", "package-0", 1.0)?;
    assert_eq!(energy(&fixture)?.name(), "powercap: package-0");
    Ok(())
}

#[test]
fn machines_that_tell_nothing_and_nonsense() -> Outcome {
    for name in MACHINES {
        let source = EnergySource::find(&Fixture::unpack(name)?.machine());
        assert!(matches!(source, EnergySource::Missing), "{name}: {source:?}");
    }
    for garbage in [&b"\xff\xfe\x1b[31m"[..], b"NaN", b"inf", b""] {
        let fixture = empty()?;
        domain(&fixture, "0", "package-0", 1.0)?;
        for file in fixture.files()? {
            fixture.write(&file, garbage)?;
        }
        let source = EnergySource::find(&fixture.machine());
        assert!(matches!(source, EnergySource::Missing), "{garbage:?}: {source:?}");
    }
    Ok(())
}
