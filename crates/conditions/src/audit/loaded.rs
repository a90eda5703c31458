//! The second stage of switching auditing on: the rules are loaded, before those of the machine's
//! own. They match the measured programs only ([`limit_to_programs`]).

use rustix::io::Errno;

use crate::audit::receiving::{Receiver, Receiving};
use crate::audit::rule::{ALWAYS, Rule, field, list};
use crate::audit::scope::{exclude_others, is_own, limit_to_programs};
use crate::audit::syntax::{RuleSet, SourcedRule};
use crate::audit::system::System;

/// The stage in which the rules are loaded.
pub(crate) struct Loaded {
    pub receiving: Receiving,
    pub counts: Counts,
}

/// Numbers of rules.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Rules that the kernel took.
    pub loaded: usize,
    /// Rules of the level.
    pub wanted: usize,
    /// True if they record every system call, so that there must be events.
    pub records_every_call: bool,
}

impl Loaded {
    /// Loads the rules of the trial.
    pub(crate) fn new(mut receiving: Receiving, set: RuleSet) -> Result<Loaded, String> {
        if receiving.state.status.enabled == 0 {
            receiving.system.prepend(&exclude_others())?;
        }
        receiving.notes.extend(set.notes);
        let counts =
            load_rules(&receiving.system, &set.rules, &receiving.receiver, &mut receiving.notes)?;
        Ok(Loaded { receiving, counts })
    }
}

/// Loads rules, in their order, before those that are there. A rule is left out, with a note, if
/// its path does not exist or an identical rule follows it.
fn load_rules(
    system: &System,
    rules: &[SourcedRule],
    receiver: &Receiver,
    notes: &mut Vec<String>,
) -> Result<Counts, String> {
    // The kernel spares whoever receives the records. If that is not the tool, the rules do.
    let spared = receiver.daemon().map(|_| std::process::id());
    let mut counts = Counts { wanted: rules.len(), ..Counts::default() };
    let mut left_out = Vec::new();
    // From the last, since each goes before those that are there.
    for sourced in rules.iter().rev() {
        let rule = limit_to_programs(sourced.rule.clone(), spared);
        match system.kernel.prepend(&rule) {
            Ok(()) => {
                counts.loaded += 1;
                counts.records_every_call |= is_every_call(&rule);
            }
            Err(Errno::NOENT | Errno::NOTDIR) => {
                left_out.push(format!("{}: its path does not exist", sourced.at))
            }
            Err(Errno::EXIST) => {
                left_out.push(format!("{}: an identical rule follows", sourced.at))
            }
            Err(error) => {
                return Err(format!("{}: the kernel refuses the rule ({error})", sourced.at));
            }
        }
    }

    notes.extend(left_out.into_iter().rev());
    Ok(counts)
}

/// True if a rule records whatever the programs do.
fn is_every_call(rule: &Rule) -> bool {
    // Fields that hold for every call of the programs.
    let is_no_limit = |id: u32| matches!(id, field::LOGIN_UID | field::PID | field::KEY);
    rule.list == list::EXIT
        && rule.action == ALWAYS
        && rule.has_every_call()
        && rule.fields.iter().all(|field| is_no_limit(field.id))
        && is_own(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::found::Found;
    use crate::audit::levels::Level;
    use crate::audit::state::{State, put_back};
    use crate::audit::tests::fake::catalogue_levels;

    #[test]
    #[ignore = "changes the system"]
    fn which_levels_must_have_events() {
        for (name, level) in catalogue_levels() {
            let Level::On(set) = level else { continue };
            let limited =
                set.rules.iter().map(|line| limit_to_programs(line.rule.clone(), Some(1)));
            assert_eq!(limited.filter(is_every_call).count(), usize::from(name == "all"), "{name}");
        }
    }

    /// The real kernel, with auditing off as found: rules and a receiver may come and go without
    /// switching it on.
    #[test]
    #[ignore = "changes the system"]
    fn the_kernel_takes_the_rules_of_every_level() {
        let system = match System::here() {
            Ok(system) => system,
            Err(why) => return testing::skip(&format!("auditing cannot be set here: {why}")),
        };
        let _machine = testing::Machine::alone();
        let before = State::read(&system).unwrap();
        let found = Found::unchanged(before.status);
        if before.status.enabled != 0
            || before.status.pid != 0
            || before.check_can_enter(&Level::Off, &system.machine).is_err()
        {
            return testing::skip("auditing is in use here");
        }

        for (name, level) in catalogue_levels() {
            let Level::On(set) = level else { continue };
            let mut missing = Vec::new();
            let counts = load_rules(&system, &set.rules, &Receiver::Tool, &mut missing);
            let listed = system.rules().unwrap();
            let restored = put_back(&system, &found);
            let counts = counts.unwrap();
            assert_eq!(counts.loaded + missing.len(), counts.wanted, "{name}: {missing:?}");
            let is_missing =
                |at: &str| missing.iter().any(|why| why.starts_with(&format!("{at}: ")));
            let lines = set.rules.iter().filter(|line| !is_missing(&line.at));
            let expected: Vec<Rule> =
                lines.map(|line| limit_to_programs(line.rule.clone(), None)).collect();
            let own: Vec<Rule> = listed.into_iter().filter(is_own).collect();
            assert_eq!(own, expected, "{name}");
            restored.unwrap();
            assert_eq!(system.rules().unwrap(), before.rules);
        }

        let records = system.kernel.receive().unwrap();
        assert_eq!(system.status().unwrap().pid, std::process::id());
        put_back(&system, &found).unwrap();
        assert_eq!(system.status().unwrap().pid, 0);
        drop(records);
    }
}
