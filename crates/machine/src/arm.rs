//! Names of ARM cores: their /proc/cpuinfo has numbers only.

use super::parse;

/// Implementer, part and name of cores, one a line.
const CORES: &str = include_str!("arm-cores.txt");

/// The cores of a /proc/cpuinfo, each kind with its number; unknown ones by their numbers.
pub fn cores(cpuinfo: &str) -> Option<String> {
    let blocks = cpuinfo.split("\n\n");
    parse::tally(blocks.filter_map(core))
}

/// The cores' revisions as Arm writes them: r0p3.
pub fn revisions(cpuinfo: &str) -> Option<String> {
    let revision = |block: &str| {
        let variant =
            u32::from_str_radix(parse::field(block, "CPU variant")?.strip_prefix("0x")?, 16)
                .ok()?;
        Some(format!("r{variant}p{}", parse::field(block, "CPU revision")?))
    };
    parse::tally(cpuinfo.split("\n\n").filter_map(revision))
}

fn core(block: &str) -> Option<String> {
    let [implementer, part] = ["CPU implementer", "CPU part"].map(|key| parse::field(block, key));
    let (implementer, part) = (implementer?.to_lowercase(), part?.to_lowercase());
    let prefix = format!("{implementer} {part} ");
    let name = CORES.lines().find_map(|line| line.strip_prefix(&prefix)).map(str::to_owned);
    Some(name.unwrap_or_else(|| format!("ARM implementer {implementer} part {part}")))
}
