//! What changes the system under test: conditions and kernel auditing are switched on and back, one
//! test at a time.
#![cfg(test)]

mod agents;
mod audit;
mod conditions;
mod disks;
mod experiment;
mod files;
mod kills;
mod leaving;
mod ledger;
mod paths;
mod planted;
mod production;
mod quiet;
mod room;
mod schedulers;
mod why;
