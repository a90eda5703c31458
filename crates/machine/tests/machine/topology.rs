//! Where CPUs lie, on recorded and invented machines.

use super::fixture::{Fixture, MACHINES, Outcome};
use ::journal::Cpu;
use ::machine::topology;
use plan::Pin;

fn cores(fixture: &Fixture) -> Vec<(u32, u32)> {
    topology(&fixture.machine()).cpus.iter().map(|cpu| (cpu.number, cpu.core)).collect()
}

#[test]
fn recorded_machines() -> Outcome {
    let intel = Fixture::unpack("bare-metal-intel")?;
    assert_eq!(cores(&intel), [(0, 0), (1, 1), (2, 0), (3, 1)]);
    let intel = topology(&intel.machine());
    assert_eq!(Pin::Core.order(&intel), [0, 1, 2, 3]);
    assert_eq!(Pin::Smt.order(&intel), [0, 2, 1, 3]);
    assert_eq!(Pin::None.borders(&intel, 4), [(2, "SMT siblings".to_owned())]);
    for name in ["this-vm", "arm64"] {
        assert_eq!(cores(&Fixture::unpack(name)?), [(0, 0), (1, 1)], "{name}");
    }
    let container = topology(&Fixture::unpack("container-v1")?.machine());
    assert!(container.quota.is_some());
    for name in MACHINES {
        assert!(!topology(&Fixture::unpack(name)?.machine()).cpus.is_empty(), "{name}");
    }
    Ok(())
}

/// An empty machine but for `cpus` that are online and allowed.
fn invented(online: &str, allowed: &str) -> Result<Fixture, Box<dyn std::error::Error>> {
    let fixture = Fixture { root: tempfile::tempdir()? };
    fixture.write("/sys/devices/system/cpu/online", online)?;
    fixture.write("/proc/self/status", format!("Cpus_allowed_list:\t{allowed}\n"))?;
    Ok(fixture)
}

#[test]
fn only_cpus_that_may_be_used() -> Outcome {
    assert_eq!(cores(&invented("0-7", "2,5,90")?), [(2, 2), (5, 5)]);
    Ok(())
}

#[test]
fn nodes_and_sockets() -> Outcome {
    let fixture = invented("0-3", "0-3")?;
    fixture.write("/sys/devices/system/node/node0/cpulist", "0,2")?;
    fixture.write("/sys/devices/system/node/node1/cpulist", "1,3")?;
    fixture.write("/sys/devices/system/cpu/cpu3/topology/physical_package_id", "1")?;
    fixture.write("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1")?;
    let cpus = topology(&fixture.machine()).cpus;
    assert_eq!(cpus[3], Cpu { number: 3, core: 3, socket: 1, node: 1, kind: 0 });
    assert_eq!(cpus.iter().map(|cpu| cpu.node).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert_eq!(cpus[0].socket, 0);
    Ok(())
}

#[test]
fn kinds_of_cores() -> Outcome {
    let kinds = |fixture: &Fixture| {
        topology(&fixture.machine()).cpus.iter().map(|cpu| cpu.kind).collect::<Vec<_>>()
    };
    let named = invented("0-3", "0-3")?;
    named.write("/sys/devices/cpu_core/cpus", "2-3")?;
    named.write("/sys/devices/cpu_atom/cpus", "0-1")?;
    assert_eq!(kinds(&named), [1, 1, 0, 0]);
    // Cores that clock a little higher are of one kind with the others.
    let measured = invented("0-4", "0-4")?;
    for (cpu, capacity) in ["446", "1024", "990", "871", "439"].iter().enumerate() {
        measured.write(&format!("/sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), capacity)?;
    }
    assert_eq!(kinds(&measured), [2, 0, 0, 1, 2]);
    Ok(())
}

/// A phone's little, big and prime cores, and two designs of which the kernel says nothing but
/// their MIDR.
#[test]
fn kinds_of_arm_cores() -> Outcome {
    const A55: &str = "0x00000000411fd050";
    const A78: &str = "0x00000000410fd411";
    const A78_NEWER: &str = "0x00000000411fd410";
    const X1: &str = "0x00000000411fd440";
    let machine = |cores: &[(&str, Option<&str>)]| -> Result<Vec<u32>, Box<dyn std::error::Error>> {
        let all = format!("0-{}", cores.len() - 1);
        let fixture = invented(&all, &all)?;
        for (cpu, (midr, capacity)) in cores.iter().enumerate() {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
            fixture.write(&format!("{folder}/regs/identification/midr_el1"), midr)?;
            if let Some(capacity) = capacity {
                fixture.write(&format!("{folder}/cpu_capacity"), capacity)?;
            }
        }
        Ok(topology(&fixture.machine()).cpus.iter().map(|cpu| cpu.kind).collect())
    };
    let phone =
        [(A55, Some("250")), (A78, Some("947")), (A78_NEWER, Some("947")), (X1, Some("1024"))];
    // Within a tenth of each other, and yet of two designs; a later revision is the same one.
    assert_eq!(machine(&phone)?, [2, 1, 1, 0]);
    assert_eq!(machine(&[(X1, None), (A55, None), (A55, None)])?, [0, 1, 1]);
    assert_eq!(machine(&[(A78, Some("871")), (A78, Some("1024"))])?, [1, 0]);
    Ok(())
}
