//! The half of the command line that measures, one verb a file. Where there is no Linux,
//! `elsewhere` stands in for it.

mod ab;
mod bill;
mod bisect;
mod boots;
mod build;
mod builds;
mod burnin;
mod card;
mod clean;
mod cost;
mod doctor;
mod hints;
mod hyperfine;
mod job;
mod latency;
mod new;
mod options;
mod quiet;
mod restore;
mod run;
mod scale;
mod seeds;
mod servers;
mod slurm;
mod start;
mod terminal;
mod unixbench;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::status::Status;
use crate::terminal::say;
use catalogue::{Need, Switch};
use machine::Machine;

pub(crate) use hyperfine::is_hyperfine;
pub(crate) use restore::mention_left_changes;
pub(crate) use slurm::Arguments as Slurm;
pub(crate) use start::{QUESTIONS, guess_command};
pub(crate) use unixbench::is_unixbench;

/// The verbs that measure, and those that make that possible.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure tests or groups; by default the UnixBench index
    Run(run::Arguments),
    /// Measure which of several commands is faster, by how much, and how certain that is
    Ab(ab::Arguments),
    /// Drop-in replacement for hyperfine: the same options, text, files and exit codes
    Hyperfine(Box<hyperfine::Arguments>),
    /// Find the commit that made a command slower, and say how certain that is
    Bisect(bisect::Arguments),
    /// Sum up a machine in three minutes: scores, memory, disk, wake-up latency, disturbances
    Card(card::Arguments),
    /// Drop-in replacement for UnixBench's Run: the same options, variables, files and text
    Unixbench(unixbench::Arguments),
    /// Measure whether interactive tasks stay smooth while loads run
    Latency(latency::Arguments),
    /// Measure how tests scale from one copy to many
    Scale(scale::Arguments),
    /// Measure what a condition costs: auditing, a filter, a kernel setting
    Cost(cost::Arguments),
    /// Show, continue or end an experiment over boots, which `cost boot:…` begins
    Boots(boots::Arguments),
    /// Run a command while what makes results vary is switched off, and put everything back; with
    /// --prove, measure the benefit
    Quiet(quiet::Arguments),
    /// Predict what a condition will cost a command, system call by system call, and measure what
    /// it does cost
    Bill(bill::Arguments),
    /// Stress-test cooling or memory, and look for faults
    Burnin(burnin::Arguments),
    /// Check this machine for what would distort results, and say how to fix it
    Doctor(doctor::Arguments),
    /// Make a test of your own: its C file and its row in the catalogue
    New(new::Arguments),
    /// Compile a test of your own against the kit that comes with the tool
    Build(build::Arguments),
    /// Remove builds from the cache that have not been used for a while
    Clean(clean::Arguments),
    /// Undo system changes left behind by a run that was killed
    Restore(restore::Arguments),
}

impl Verb {
    /// Carries the verb out. Changes that a killed run left behind are mentioned first.
    pub(crate) fn run(&self) -> Result<Status> {
        if !matches!(self, Verb::Restore(_)) {
            mention_left_changes();
            say_cache_folder();
        }
        match self {
            Verb::Run(arguments) => run::run(arguments),
            Verb::Ab(arguments) => ab::run(arguments),
            Verb::Hyperfine(arguments) => hyperfine::run(arguments),
            Verb::Bisect(arguments) => bisect::run(arguments),
            Verb::Card(arguments) => card::run(arguments),
            Verb::Unixbench(arguments) => unixbench::run(arguments),
            Verb::Latency(arguments) => latency::run(arguments),
            Verb::Scale(arguments) => scale::run(arguments),
            Verb::Cost(arguments) => match arguments.boot_list() {
                Some(list) => boots::begin(arguments, list),
                None => cost::run(arguments),
            },
            Verb::Boots(arguments) => boots::run(arguments),
            Verb::Quiet(arguments) => quiet::run(arguments),
            Verb::Bill(arguments) => bill::run(arguments),
            Verb::Burnin(arguments) => burnin::run(arguments),
            Verb::Doctor(arguments) => doctor::run(arguments),
            Verb::New(arguments) => new::run(arguments),
            Verb::Build(arguments) => build::run(arguments),
            Verb::Clean(arguments) => clean::run(arguments),
            Verb::Restore(arguments) => restore::run(arguments),
        }
    }
}

/// Says where builds are kept, if that is not the usual place.
fn say_cache_folder() {
    if let Some(note) = ::build::cache_note() {
        say(&format!("unixmark: {note}"));
    }
}

/// Makes signals mean what the tool relies on, whatever it was started with.
pub(crate) fn meet_signals() {
    processes::meet_signals();
}

/// Runs what is not a verb, if the command line asks for it: the guardian, the private X server,
/// one of UnixBench's programs. `None` for any other command line.
pub(crate) fn run_hidden(words: &[OsString]) -> Option<ExitCode> {
    match words {
        [name, scratch, ledger] if name == runner::GUARDIAN => {
            runner::guardian(&PathBuf::from(scratch), &PathBuf::from(ledger));
            Some(ExitCode::SUCCESS)
        }
        [name, words @ ..] if name == ::display::XVFB => {
            ::display::xvfb(words);
            Some(ExitCode::FAILURE)
        }
        words => unixbench::run_as_program(words),
    }
}

/// A command line in this tool's own words, where it is in UnixBench's, Interbench's or
/// hyperfine's.
pub(crate) fn to_own_words(words: Vec<OsString>) -> Vec<OsString> {
    let words = unixbench::add_verb(words);
    let words = hyperfine::add_verb(words);
    let words = start::translate_interbench(words);
    options::split_parameters(words)
}

/// The reason why something with these needs cannot run here; `None` if it can.
pub(crate) fn unmet(needs: &[Need]) -> Option<String> {
    machine::unmet(&Machine::here(), needs)
}

/// The reason why a level of a switch cannot be set here; `None` if it can.
pub(crate) fn unavailable(switch: &Switch, level: &str) -> Option<String> {
    conditions::available(switch, level, &Machine::here()).err()
}

#[cfg(test)]
mod tests;
