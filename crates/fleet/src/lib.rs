//! Many machines: an engine (Slurm, Ansible, Kubernetes, any ssh) starts a run on each node and
//! moves the journals; this crate makes one fleet run of them.
//!
//! The tool brings no scheduler, no daemon and no database for it. A journal's first line says
//! which attempt of which node it is ([`Attempt`](journal::Attempt)), so that collecting is a
//! matter of files: the same ones give the same fleet, however often, in which order and by how
//! many collectors they are gathered.
//!
//! - `collect`: finds journals, and stores each under a name made of its attempt and its content.
//! - `alone`: lets one collector at a time work in a fleet's directory.
//! - `state`: reads that directory: each node's attempt that counts, and the nodes that are
//!   missing.
//! - `slurm`: the jobs of the nodes that have not delivered yet.

mod alone;
mod collect;
pub mod slurm;
mod state;

pub use alone::{Alone, keep_others_out};
pub use collect::{Collected, Refused, alias, collect};
pub use state::{Entry, Fleet, Journals, NoFleet, State, journals};
