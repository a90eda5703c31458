//! The tool as its users run it: with fake programs, recorded and made-up runs, and real programs for a moment.
#![cfg(test)]

mod ab;
mod archive;
mod bad_luck;
mod bare;
mod bill;
mod bisect;
mod burnin;
mod ci;
mod command_line;
mod compare;
mod completion;
mod counts;
mod energy;
mod graphics;
mod harness;
mod help;
mod imports;
mod latency;
mod manual;
mod own;
mod plan;
mod reference;
mod resources;
mod scaling;
mod site;
mod strangers;
mod unixbench;
mod wayland;
mod words;
