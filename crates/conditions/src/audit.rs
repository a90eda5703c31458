//! Kernel auditing as a condition.

use super::{Active, Context, FinishedTrial, Ledger, Refusal, Settings, Undo};
use audit::{Auditing, Ready, Window};
use catalogue::Switch;
use journal::Evidence;
use machine::Machine;

/// Returns a level that can be entered here; or a sentence saying why not.
pub(super) fn ready(switch: &Switch, level: &str, machine: &Machine) -> Result<Ready, String> {
    if !machine.is_live() {
        return Err("a machine that is only recorded cannot be audited".to_owned());
    }
    audit::ready(level, switch.level(level).and_then(|row| row.rules.as_deref()))
}

/// Enters a level.
pub(super) fn enter(ready: Ready, context: &mut Context<'_>) -> Result<Box<dyn Active>, Refusal> {
    let Settings { trail, scratch, .. } = context.settings;
    let auditing = ready.enter(&mut audit::Context { settings: trail, scratch, ledger: context.ledger })?;
    Ok(Box::new(auditing))
}

impl Active for Auditing {
    fn prove(&mut self, finished: &mut FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), String> {
        Auditing::prove(self, Window { start: finished.start, end: finished.end }, evidence)
    }

    fn is_fatal(&self) -> bool {
        Auditing::is_fatal(self)
    }
}

impl audit::Ledger for Ledger {
    fn record(&mut self, undo: audit::Undo) -> Result<(), String> {
        Ledger::record(
            self,
            &match undo {
                audit::Undo::Restore(found) => Undo::Audit { found },
                audit::Undo::RemoveFile(path) => Undo::RemoveFile { path },
                audit::Undo::RemoveDirectory(path) => Undo::RemoveDirectory { path },
                audit::Undo::End { program, argument } => Undo::End { program, argument },
            },
        )
        .map(drop)
    }
}
