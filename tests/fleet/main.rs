//! Fleets: journals of many nodes make one run, and Slurm, Ansible and Kubernetes start and collect
//! them.
#![cfg(test)]

mod ansible;
mod cluster;
mod collect;
mod kubernetes;
mod report;
mod slurm;
