//! Other builds of the measured programs.

use super::{Context, Proof};
use catalogue::Switch;

/// Checks that the compiler is there.
pub(super) fn available(switch: &Switch, level: &str) -> Result<(), String> {
    if switch.id != "cc" || level.is_empty() || machine::find_command(level).is_some() {
        return Ok(());
    }

    Err(format!(
        "there is no compiler '{level}' here; try the name of one that is installed, or its path"
    ))
}

/// Has the runner take the programs of the build `SWITCH=LEVEL`.
pub(super) fn enter(
    switch: &Switch,
    level: &str,
    context: &mut Context<'_>,
) -> Result<Proof, String> {
    if let Some(other) = &context.staging.build {
        return Err(format!("the programs are built as '{other}' already"));
    }

    let name = format!("{}={level}", switch.id);
    context.staging.build = Some(name.clone());
    // The runner takes the programs from the directory of that build, and has no others.
    Ok(Box::new(move |_, evidence| {
        evidence.notes.push(format!("the programs' build is {name}"));
        Ok(())
    }))
}
