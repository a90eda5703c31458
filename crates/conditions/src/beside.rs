//! Switches that measured programs set for themselves, programs that start them, and companions
//! that count what they do.

use super::{Context, FinishedTrial, Proof, Refusal};
use catalogue::Switch;
use journal::Evidence;

/// A value that each program must report.
struct ReportedValue {
    name: String,
    /// The number it must be; `None` if anything above 0 will do.
    wanted: Option<f64>,
    /// True if a program may leave it out: it refuses arguments that it does not know.
    is_optional: bool,
}

/// Gives the programs the arguments by which they set the switch for themselves, and returns their
/// proof: the value that they report.
pub(super) fn enter_argument(switch: &Switch, level: &str, context: &mut Context<'_>) -> Proof {
    give_arguments(switch, level, context);
    // If the user gives the argument, it has the value's name.
    let is_users = switch.args.iter().any(|word| word == "{level}");
    let (name, wanted) = if is_users {
        level.split_once('=').unwrap_or((level, ""))
    } else {
        (switch.id.as_str(), level)
    };

    let value =
        ReportedValue { name: name.to_owned(), wanted: wanted.parse().ok(), is_optional: is_users };
    Box::new(move |finished, evidence| value.prove(finished, evidence))
}

/// Makes another program start the programs, and a companion run beside them.
pub(super) fn enter(
    switch: &Switch,
    level: &str,
    context: &mut Context<'_>,
) -> Result<Proof, Refusal> {
    give_arguments(switch, level, context);
    set_starter(switch, "", context)?;
    let Some(companion) = &switch.companion else {
        let tracer = ReportedValue { name: "tracer".to_owned(), wanted: None, is_optional: false };
        return Ok(Box::new(move |finished, evidence| tracer.prove(finished, evidence)));
    };

    if let Some((other, _)) = &context.staging.companion {
        return Err(Refusal::Unavailable(format!(
            "{other} already runs alongside the programs; try one after the other"
        )));
    }

    let args = if level.is_empty() { Vec::new() } else { vec![format!("kind={level}")] };
    context.staging.companion = Some((companion.clone(), args));
    Ok(Box::new(prove_count))
}

/// Has the row's command start the programs, if it has one; `id` is what it calls its own.
fn set_starter(switch: &Switch, id: &str, context: &mut Context<'_>) -> Result<(), Refusal> {
    let Some((starter, words)) = switch.prefix.split_first() else {
        return Ok(());
    };

    if !context.staging.prefix.is_empty() {
        return Err(Refusal::Unavailable(
            "only one switch of a condition can start the programs".to_owned(),
        ));
    }

    let path = machine::find_command(starter)
        .ok_or_else(|| Refusal::Unavailable(format!("there is no {starter} here")))?;
    let scratch = context.settings.scratch.display().to_string();
    let prefix = &mut context.staging.prefix;
    prefix.push(path.display().to_string());
    prefix.extend(words.iter().map(|word| word.replace("{scratch}", &scratch).replace("{id}", id)));
    Ok(())
}

/// Has the row's command start the programs in a container, and returns their proof that they are
/// in one.
pub(super) fn enter_container(
    switch: &Switch,
    id: &str,
    context: &mut Context<'_>,
) -> Result<Proof, Refusal> {
    set_starter(switch, id, context)?;

    // In a container a program has another mount namespace than this process.
    let outside = std::fs::read_link("/proc/self/ns/mnt").unwrap_or_default();
    context.staging.args.push(format!("outside={}", outside.display()));
    let inside = ReportedValue { name: "inside".to_owned(), wanted: Some(1.0), is_optional: false };
    Ok(Box::new(move |finished, evidence| inside.prove(finished, evidence)))
}

fn give_arguments(switch: &Switch, level: &str, context: &mut Context<'_>) {
    context.staging.args.extend(switch.args.iter().map(|word| word.replace("{level}", level)));
}

/// A reported value is the one that it must be if it differs by no more than this.
const MAX_VALUE_DIFFERENCE: f64 = 1e-6;

impl ReportedValue {
    /// Proves that every program reported the value, and adds that of the last to the evidence.
    fn prove(&self, finished: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), Refusal> {
        // Threads are copies too, but only the first reports for their program.
        let programs = finished.trial.copies.iter().filter(|copy| copy.usage.is_some());
        let mut reported = None;
        for copy in programs {
            reported = copy.values.get(&self.name).cloned();
            match &reported {
                Some((value, _)) => self.check(*value)?,
                None if self.is_optional => {}
                None => {
                    return Err(
                        format!("a program did not report the value '{}'", self.name).into()
                    );
                }
            }
        }

        match reported {
            Some(value) => drop(evidence.figures.insert(self.name.clone(), value)),
            None if self.is_optional => {
                evidence.notes.push(format!("the programs took the argument {}", self.name))
            }
            None => return Err("no program reported anything".into()),
        }
        Ok(())
    }

    /// Checks that a reported value is the one that it must be.
    fn check(&self, value: f64) -> Result<(), String> {
        match self.wanted {
            Some(wanted) if (value - wanted).abs() > MAX_VALUE_DIFFERENCE => {
                Err(format!("a program reports {} {value} and not {wanted}", self.name))
            }
            None if value <= 0.0 => Err(format!("a program reports {} {value}", self.name)),
            _ => Ok(()),
        }
    }
}

/// Proves that a companion watched. It is only ready once it works, and one that ends early is an
/// error, so only the count is left to check.
fn prove_count(finished: &mut FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), Refusal> {
    let count = finished.companion.ok_or("the companion reported no count")?;

    evidence.figures.insert("events".to_owned(), (count, "events".to_owned()));
    if count == 0.0 {
        evidence
            .notes
            .push("the companion was watching, but nothing that it counts happened".to_owned());
    }
    Ok(())
}
