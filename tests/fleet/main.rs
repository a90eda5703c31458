//! Fleets: journals of many nodes make one run, and Slurm, Ansible and Kubernetes start and collect them.
#![cfg(test)]

mod ansible;
mod cluster;
mod collect;
mod kubernetes;
mod report;
mod slurm;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The right to measure for a fleet; a host has one. Nodes in namespaces are hosts of their own.
fn turn() -> MutexGuard<'static, ()> {
    static HOST: Mutex<()> = Mutex::new(());
    HOST.lock().unwrap_or_else(PoisonError::into_inner)
}
