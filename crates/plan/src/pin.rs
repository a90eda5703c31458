//! The CPU on which each copy runs, and the borders that copies cross as their number grows.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use anyhow::{Result, bail};

use journal::{Cpu, Topology};

/// The placement of copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pin {
    /// Wherever the scheduler puts them.
    #[default]
    None,
    /// One on each core, the fastest first, socket after socket; their SMT siblings come last.
    Core,
    /// SMT siblings next to each other: core after core is filled.
    Smt,
    /// One memory node after the other is filled, each with its cores first and then their
    /// siblings.
    Node,
    /// All on this processor.
    Cpu(u32),
}

/// Copies beyond this number differ from those before, for this reason. 0 if copies differ at every
/// number.
pub type Border = (u32, String);

impl FromStr for Pin {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Pin> {
        Ok(match text {
            "none" => Pin::None,
            "core" => Pin::Core,
            "smt" => Pin::Smt,
            "node" => Pin::Node,
            number => match number.parse() {
                Ok(cpu) => Pin::Cpu(cpu),
                Err(_) => bail!(
                    "'{text}' is not a place to run; try none, core, smt, node or a processor's number"
                ),
            },
        })
    }
}

impl Display for Pin {
    /// Writes the name in journals and on the command line.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Pin::None => f.write_str("none"),
            Pin::Core => f.write_str("core"),
            Pin::Smt => f.write_str("smt"),
            Pin::Node => f.write_str("node"),
            Pin::Cpu(cpu) => write!(f, "{cpu}"),
        }
    }
}

impl Pin {
    /// The CPUs that copies take round-robin; empty if the scheduler chooses.
    pub fn order(self, topology: &Topology) -> Vec<u32> {
        match self {
            Pin::None => Vec::new(),
            // The program reports it if it may not run there.
            Pin::Cpu(cpu) => vec![cpu],
            _ => self.sort_cpus(topology).iter().map(|cpu| cpu.number).collect(),
        }
    }

    /// The borders among up to `max_copies` copies, in the order of their numbers.
    pub fn borders(self, topology: &Topology, max_copies: u32) -> Vec<Border> {
        let cpus = self.sort_cpus(topology);
        let cores = count_distinct(&cpus, |cpu| cpu.core);
        let has_siblings = (cores as usize) < cpus.len();

        let mut borders: Vec<Border> = Vec::new();
        match self {
            // The scheduler may put any two copies on different nodes or kinds of cores.
            Pin::None => {
                let nodes = count_distinct(&cpus, |cpu| cpu.node);
                if nodes > 1 {
                    borders.push((0, format!("{nodes} NUMA nodes")));
                }
                let kinds = count_distinct(&cpus, |cpu| cpu.kind);
                if kinds > 1 {
                    borders.push((0, format!("{kinds} kinds of cores")));
                }
                if has_siblings {
                    borders.push((cores, "SMT siblings".to_owned()));
                }
            }
            Pin::Smt if has_siblings => borders.push((0, "SMT siblings".to_owned())),
            Pin::Core | Pin::Smt | Pin::Node | Pin::Cpu(_) => {}
        }
        if self != Pin::None {
            borders.extend(find_crossings(&cpus, self != Pin::Smt));
        }

        if let Some(quota) = topology.quota.filter(|quota| *quota < cpus.len() as f64) {
            borders.push((quota as u32, format!("the control group's quota of {quota:.2} CPUs")));
        }
        borders.push((cpus.len() as u32, "more copies than processors".to_owned()));

        borders.retain(|(copies, _)| *copies < max_copies && max_copies > 1);
        borders.sort_by_key(|border| border.0);
        borders
    }

    /// The processors in the order in which copies take them.
    fn sort_cpus(self, topology: &Topology) -> Vec<Cpu> {
        let mut cpus = topology.cpus.clone();
        if let Pin::Cpu(only) = self {
            cpus.retain(|cpu| cpu.number == only);
        }

        cpus.sort_by_cached_key(|cpu| {
            let Cpu { number, core, socket, node, kind } = *cpu;
            // 0 for the first CPU of its core, 1 for its sibling.
            let sibling = topology
                .cpus
                .iter()
                .filter(|other| other.core == core && other.number < number)
                .count() as u32;
            match self {
                Pin::None | Pin::Core | Pin::Cpu(_) => [sibling, kind, socket, node, core, number],
                Pin::Smt => [kind, socket, node, core, number, 0],
                Pin::Node => [socket, node, sibling, kind, core, number],
            }
        });
        cpus
    }
}

fn count_distinct(cpus: &[Cpu], property: impl Fn(&Cpu) -> u32) -> u32 {
    cpus.iter().map(property).collect::<BTreeSet<u32>>().len() as u32
}

/// The borders where one more of `cpus` is on a new part of the machine. The first SMT sibling is
/// one if `siblings`.
fn find_crossings(cpus: &[Cpu], siblings: bool) -> Vec<Border> {
    let mut borders: Vec<Border> = Vec::new();
    let mut looks_for_siblings = siblings;
    for (place, cpu) in cpus.iter().enumerate().skip(1) {
        let before = &cpus[..place];
        let mut cross = |why: String| borders.push((place as u32, why));

        if looks_for_siblings && before.iter().any(|other| other.core == cpu.core) {
            looks_for_siblings = false;
            cross("SMT siblings".to_owned());
        }
        if before.iter().all(|other| other.node != cpu.node) {
            let nodes = count_distinct(before, |other| other.node) as usize;
            cross(format!("the {} NUMA node", ordinal(nodes + 1)));
        } else if before.iter().all(|other| other.socket != cpu.socket) {
            let sockets = count_distinct(before, |other| other.socket) as usize;
            cross(format!("the {} socket", ordinal(sockets + 1)));
        }
        if before.iter().all(|other| other.kind < cpu.kind) {
            cross("slower cores".to_owned());
        }
    }
    borders
}

fn ordinal(number: usize) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        n => format!("{n}th"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(number: u32, core: u32, socket: u32, node: u32, kind: u32) -> Cpu {
        Cpu { number, core, socket, node, kind }
    }

    fn machine(cpus: Vec<Cpu>) -> Topology {
        Topology { cpus, quota: None }
    }

    /// Two sockets of two cores of two threads, numbered as Linux does: threads of the second half
    /// are siblings.
    fn server() -> Topology {
        machine((0..8).map(|n| cpu(n, n % 4, n % 4 / 2, n % 4 / 2, 0)).collect())
    }

    /// Two fast cores of two threads, numbered pairwise, then two slow ones without.
    fn hybrid() -> Topology {
        machine(
            (0..6)
                .map(|n| cpu(n, if n < 4 { n / 2 * 2 } else { n }, 0, 0, u32::from(n >= 4)))
                .collect(),
        )
    }

    fn shown(pin: Pin, topology: &Topology, most: u32) -> String {
        let words = pin
            .borders(topology, most)
            .into_iter()
            .map(|(copies, what)| format!("{copies} {what}"));
        words.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn orders() {
        assert!(Pin::None.order(&server()).is_empty());
        assert_eq!(Pin::Core.order(&server()), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(Pin::Smt.order(&server()), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(Pin::Node.order(&server()), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(Pin::Core.order(&hybrid()), [0, 2, 4, 5, 1, 3]);
        assert_eq!(Pin::Smt.order(&hybrid()), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn borders() {
        let server = server();
        assert_eq!(
            shown(Pin::Core, &server, 9),
            "2 the second NUMA node; 4 SMT siblings; 8 more copies than processors"
        );
        assert_eq!(shown(Pin::Core, &server, 4), "2 the second NUMA node");
        assert_eq!(shown(Pin::Smt, &server, 8), "0 SMT siblings; 4 the second NUMA node");
        assert_eq!(shown(Pin::Node, &server, 8), "2 SMT siblings; 4 the second NUMA node");
        assert_eq!(shown(Pin::None, &server, 8), "0 2 NUMA nodes; 4 SMT siblings");
        assert_eq!(shown(Pin::Core, &hybrid(), 6), "2 slower cores; 4 SMT siblings");
        assert_eq!(shown(Pin::None, &hybrid(), 6), "0 2 kinds of cores; 4 SMT siblings");
        assert_eq!(shown(Pin::None, &server, 1), "");
    }

    #[test]
    fn one_processor() {
        assert_eq!(
            ("5".parse::<Pin>().unwrap(), Pin::Cpu(5).to_string()),
            (Pin::Cpu(5), "5".to_owned())
        );
        assert!(
            "everywhere"
                .parse::<Pin>()
                .unwrap_err()
                .to_string()
                .contains("try none, core, smt, node")
        );
        assert_eq!(Pin::Cpu(5).order(&server()), [5]);
        assert_eq!(shown(Pin::Cpu(5), &server(), 2), "1 more copies than processors");
        assert_eq!(shown(Pin::Cpu(5), &server(), 1), "");
    }

    #[test]
    fn sockets_without_nodes_and_quotas() {
        let sockets = machine((0..4).map(|n| cpu(n, n, n / 2, 0, 0)).collect());
        assert_eq!(shown(Pin::Core, &sockets, 4), "2 the second socket");
        assert_eq!(shown(Pin::None, &sockets, 4), "");
        let limited = Topology { quota: Some(1.5), ..sockets };
        assert_eq!(shown(Pin::None, &limited, 4), "1 the control group's quota of 1.50 CPUs");
    }
}
