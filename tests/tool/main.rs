//! The tool as its users run it: with fake programs, recorded and made-up runs, and real programs
//! for a moment.
#![cfg(test)]

mod ab;
#[cfg(feature = "parquet")]
mod archive;
mod bad_luck;
mod bare;
mod bill;
mod bisect;
mod builds;
mod burnin;
mod ci;
mod command_line;
mod commands;
mod compare;
mod completion;
mod corpus;
mod counts;
mod energy;
mod executions;
mod figures;
mod functions;
mod graphics;
mod harness;
mod help;
mod hyperfine;
mod imports;
mod latency;
mod manual;
mod own;
mod paths;
mod plan;
mod reference;
mod resources;
mod samples;
mod sandboxes;
mod scaling;
mod servers;
mod short;
mod site;
mod strangers;
mod trend;
mod unixbench;
mod words;
