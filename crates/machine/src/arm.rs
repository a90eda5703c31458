//! Names of ARM cores: their /proc/cpuinfo has numbers only.

use super::parse;

/// (implementer, part, name), from the kernel's `arch/arm64/include/asm/cputype.h`.
const CORES: &[(&str, &str, &str)] = &[
    ("0x41", "0xb76", "ARM1176"),
    ("0x41", "0xc07", "Arm Cortex-A7"),
    ("0x41", "0xc08", "Arm Cortex-A8"),
    ("0x41", "0xc09", "Arm Cortex-A9"),
    ("0x41", "0xc0f", "Arm Cortex-A15"),
    ("0x41", "0xd03", "Arm Cortex-A53"),
    ("0x41", "0xd04", "Arm Cortex-A35"),
    ("0x41", "0xd05", "Arm Cortex-A55"),
    ("0x41", "0xd07", "Arm Cortex-A57"),
    ("0x41", "0xd08", "Arm Cortex-A72"),
    ("0x41", "0xd09", "Arm Cortex-A73"),
    ("0x41", "0xd0a", "Arm Cortex-A75"),
    ("0x41", "0xd0b", "Arm Cortex-A76"),
    ("0x41", "0xd0c", "Arm Neoverse N1"),
    ("0x41", "0xd0d", "Arm Cortex-A77"),
    ("0x41", "0xd40", "Arm Neoverse V1"),
    ("0x41", "0xd41", "Arm Cortex-A78"),
    ("0x41", "0xd44", "Arm Cortex-X1"),
    ("0x41", "0xd46", "Arm Cortex-A510"),
    ("0x41", "0xd47", "Arm Cortex-A710"),
    ("0x41", "0xd48", "Arm Cortex-X2"),
    ("0x41", "0xd49", "Arm Neoverse N2"),
    ("0x41", "0xd4b", "Arm Cortex-A78C"),
    ("0x41", "0xd4d", "Arm Cortex-A715"),
    ("0x41", "0xd4e", "Arm Cortex-X3"),
    ("0x41", "0xd4f", "Arm Neoverse V2"),
    ("0x41", "0xd80", "Arm Cortex-A520"),
    ("0x41", "0xd81", "Arm Cortex-A720"),
    ("0x41", "0xd82", "Arm Cortex-X4"),
    ("0x41", "0xd84", "Arm Neoverse V3"),
    ("0x41", "0xd8e", "Arm Neoverse N3"),
    ("0x43", "0x0a1", "Cavium ThunderX"),
    ("0x43", "0x0af", "Cavium ThunderX2"),
    ("0x46", "0x001", "Fujitsu A64FX"),
    ("0x48", "0xd01", "HiSilicon TaiShan v110"),
    ("0x48", "0xd02", "HiSilicon TaiShan v120"),
    ("0x4e", "0x004", "NVIDIA Carmel"),
    ("0x50", "0x000", "APM X-Gene"),
    ("0x51", "0x001", "Qualcomm Oryon"),
    ("0x51", "0xc00", "Qualcomm Falkor"),
    ("0x61", "0x022", "Apple M1 Icestorm"),
    ("0x61", "0x023", "Apple M1 Firestorm"),
    ("0x61", "0x032", "Apple M2 Blizzard"),
    ("0x61", "0x033", "Apple M2 Avalanche"),
    ("0x6d", "0xd49", "Microsoft Cobalt 100"),
    ("0xc0", "0xac3", "Ampere-1"),
    ("0xc0", "0xac4", "Ampere-1A"),
];

/// The cores of a /proc/cpuinfo, each kind with its number; unknown ones by their numbers.
pub fn cores(cpuinfo: &str) -> Option<String> {
    let blocks = cpuinfo.split("\n\n");
    parse::tally(blocks.filter_map(core))
}

/// The cores' revisions as Arm writes them: r0p3.
pub fn revisions(cpuinfo: &str) -> Option<String> {
    let revision = |block: &str| {
        let variant = u32::from_str_radix(parse::field(block, "CPU variant")?.strip_prefix("0x")?, 16).ok()?;
        Some(format!("r{variant}p{}", parse::field(block, "CPU revision")?))
    };
    parse::tally(cpuinfo.split("\n\n").filter_map(revision))
}

fn core(block: &str) -> Option<String> {
    let implementer = parse::field(block, "CPU implementer")?.to_lowercase();
    let part = parse::field(block, "CPU part")?.to_lowercase();
    let known = CORES.iter().find(|(i, p, _)| *i == implementer && *p == part);
    let unknown = || format!("ARM implementer {implementer} part {part}");
    Some(known.map_or_else(unknown, |(_, _, name)| name.to_string()))
}
