//! What journals come to: by simulation, and in journals that are made up.
#![cfg(test)]

extern crate unixmark_analysis as analysis;

mod ab;
mod chain;
mod cost;
mod executed;
mod fleet;
mod harness;
mod latency;
mod machines;
mod pooled;
mod quiet;
mod search;
mod shared_machine;
mod speeds;
mod tails;
mod throttle;
mod units;
