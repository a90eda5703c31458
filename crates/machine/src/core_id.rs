//! The make of a machine's cores, where `cpu.vendor` and `cpu.stepping` do not say it.

use super::Machine;

/// The key of the cores in catalogue/processors.toml: implementer and part of MIDR on Arm,
/// `cpu` on POWER, `uarch` on RISC-V, `Model Name` on LoongArch; `None` on others, and if cores are
/// of several kinds.
pub fn core_id(machine: &Machine) -> Option<String> {
    let cpuinfo = machine.read("/proc/cpuinfo")?;
    let [implementer, part, uarch, cpu] =
        ["CPU implementer", "CPU part", "uarch", "cpu"].map(|key| common_value(&cpuinfo, key));
    if let Some((implementer, part)) = implementer.zip(part) {
        return Some(format!("{implementer} {part}").to_lowercase());
    }

    let power =
        cpu.filter(|cpu| cpu.starts_with("POWER")).and_then(|cpu| cpu.split([',', ' ']).next());
    let model =
        common_value(&cpuinfo, "Model Name").or_else(|| common_value(&cpuinfo, "model name"));
    uarch.or(power).or(model.filter(|name| name.starts_with("Loongson"))).map(str::to_owned)
}

/// The value of a key, if there is one and it is the same wherever it occurs.
fn common_value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    let values = cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.trim() == key);
    let mut values = values.map(|(_, value)| value.trim());
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Catalogue;

    fn id(cpuinfo: &str) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc/cpuinfo"), cpuinfo).unwrap();
        core_id(&Machine::at(root.path()))
    }

    fn arm(parts: &[&str]) -> String {
        let one = |part: &&str| {
            format!(
                "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: {part}\n\n"
            )
        };
        parts.iter().map(one).collect()
    }

    /// As kernels print it.
    #[test]
    fn cores_of_each_architecture_are_known() {
        let arm32 = "processor\t: 0\nmodel name\t: ARMv7 Processor rev 4 (v7l)\nCPU implementer\t: 0x41\nCPU part\t: 0xD03\n";
        let power = |cpu: &str| {
            format!(
                "processor\t: 0\ncpu\t\t: {cpu}\nclock\t\t: 3800.0MHz\n\ntimebase\t: 512000000\n"
            )
        };
        let riscv = "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t: sifive,u74-mc\n";
        let loong = "system type\t\t: generic-loongson-machine\n\nprocessor\t\t: 0\nModel Name\t\t: Loongson-3A5000-HV\n";
        let catalogue = Catalogue::load().unwrap();
        for (cpuinfo, name) in [
            (arm(&["0xd0c", "0xd0c"]), "Arm Neoverse N1"),
            (arm32.to_owned(), "Arm Cortex-A53"),
            (power("POWER8E (raw), altivec supported"), "IBM POWER8"),
            (power("POWER9, altivec supported"), "IBM POWER9"),
            (power("POWER10 (architected), altivec supported"), "IBM POWER10"),
            (riscv.to_owned(), "SiFive U74"),
            (riscv.replace("sifive,u74-mc", "spacemit,x60"), "SpacemiT X60"),
            (loong.to_owned(), "Loongson LA464"),
            (loong.replace("Model Name", "model name"), "Loongson LA464"),
        ] {
            let core = id(&cpuinfo).unwrap();
            assert_eq!(catalogue.core(&core).map(|row| row.name.as_str()), Some(name), "{core}");
        }
    }

    #[test]
    fn others_and_mixed_ones_are_not() {
        assert_eq!(id(&arm(&["0xd0b", "0xd05"])), None, "two kinds");
        assert_eq!(
            id("vendor_id\t: GenuineIntel\nmodel name\t: Xeon\n"),
            None,
            "x86 has other facts"
        );
        assert_eq!(id("cpu\t\t: TI UltraSparc T2\n"), None);
        assert_eq!(id(""), None);
        let unknown = id("uarch\t: acme,one\n").unwrap();
        assert!(Catalogue::load().unwrap().core(&unknown).is_none());
    }
}
