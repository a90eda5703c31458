//! `unixmark compare --pool RUN RUN RUN …`: one answer of runs on several machines.

use anyhow::Result;

use super::Arguments;
use crate::limits::{Limit, Limits};
use crate::reports::find;
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::Subject;
use analysis::{Pooled, Results};
use catalogue::Catalogue;

/// Shows the answer. Status 1 if it is a loss of the size of --fail-on; 4 if --strict-gate is given
/// and such a loss is neither shown nor ruled out.
pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let limits = Limit::split(&arguments.fail_on).and_then(Limits::without_tail).map_err(usage)?;
    let Limits { time, counts, .. } = limits;
    if !counts.is_empty() {
        return Err(usage(anyhow::anyhow!(
            "--pool judges times and figures; counts are the same on every machine, so gate them in one run"
        )));
    }
    let store = arguments.results.store()?;
    let catalogue = Catalogue::load()?;
    let mut runs = Vec::new();
    for name in &arguments.runs {
        let path = find(&store, name)?;
        runs.push(Results::new(&arguments.redact.read(&path)?, &catalogue, None));
    }
    let pooled = Pooled::new(&runs, arguments.threshold).map_err(usage)?;
    print(&::report::render(Subject::Pooled(&pooled), arguments.form.layout())?)?;
    Ok(time.map_or(Status::Fine, |limit| judge(&pooled, limit, arguments.strict_gate)))
}

fn judge(pooled: &Pooled, limit: f64, is_strict: bool) -> Status {
    let lost = pooled.rows.iter().find(|row| row.is_loss_of(limit));
    if let Some(row) = lost {
        say(&format!(
            "unixmark: {} of {} is worse by {} % on machines like these, and --fail-on is {limit} %",
            row.label,
            row.key.condition,
            words::fine(row.change.value.abs())
        ));
        return Status::Failed;
    }
    let is_open = pooled.rows.iter().any(|row| row.may_be_loss_of(limit));
    if is_strict && is_open { Status::Unseen } else { Status::Fine }
}
