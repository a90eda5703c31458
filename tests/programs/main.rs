//! The programs in C, each driven by hand: answers, relations and counts, never speeds.
#![cfg(test)]

mod architectures;
mod builds;
mod chains;
mod commands;
mod counts;
mod delays;
mod elf;
mod frames;
mod hand;
mod loads;
mod rates;
mod requests;
mod threads;
