//! Kernel auditing as a condition.

use super::{Active, Ledger, Refusal, Scene, Seen, Undo};
use audit::{Auditing, Context, Ready, Window};
use journal::Evidence;
use machine::Machine;

/// Returns a level that can be entered here; or a sentence saying why not.
pub(super) fn ready(level: &str, machine: &Machine) -> Result<Ready, String> {
    if !machine.is_live() {
        return Err("a machine that is only recorded cannot be audited".to_owned());
    }
    audit::ready(level)
}

/// Enters a level.
pub(super) fn enter(level: &str, scene: &mut Scene<'_>) -> Result<Box<dyn Active>, Refusal> {
    let settings = scene.settings;
    let mut context = Context { settings: &settings.trail, scratch: &settings.scratch, ledger: scene.ledger };
    let auditing = ready(level, scene.machine).map_err(Refusal::Unavailable)?.enter(&mut context)?;
    Ok(Box::new(auditing))
}

impl Active for Auditing {
    fn prove(&mut self, seen: &Seen<'_>, evidence: &mut Evidence) -> Result<(), String> {
        Auditing::prove(self, Window { start: seen.start, end: seen.end }, evidence)
    }

    fn is_fatal(&self) -> bool {
        Auditing::is_fatal(self)
    }
}

impl audit::Ledger for Ledger {
    fn record(&mut self, undo: audit::Undo) -> Result<(), String> {
        self.will(&match undo {
            audit::Undo::Restore(found) => Undo::Audit { found },
            audit::Undo::RemoveFile(path) => Undo::RemoveFile { path },
            audit::Undo::RemoveDirectory(path) => Undo::RemoveDirectory { path },
            audit::Undo::End { program, argument } => Undo::End { program, argument },
        })
    }
}
