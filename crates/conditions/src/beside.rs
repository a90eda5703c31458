//! Switches that measured programs set for themselves, programs that start them, and companions that count what they
//! do.

use super::{Context, FinishedTrial, Proof, Refusal};
use catalogue::Switch;
use journal::Evidence;

/// A value that each program must report.
struct ReportedValue {
    name: String,
    /// The number it must be; `None` if anything above 0 will do.
    wanted: Option<f64>,
    /// True if a program may leave it out: it refuses arguments that it does not know.
    optional: bool,
}

/// Makes the programs do it to themselves.
pub(super) fn enter_argument(switch: &Switch, level: &str, context: &mut Context<'_>) -> Proof {
    give_arguments(switch, level, context);
    // If the user gives the argument, its name is that of the value.
    let any = switch.args.iter().any(|word| word == "{level}");
    let (name, value) = if any { level.split_once('=').unwrap_or((level, "")) } else { (switch.id.as_str(), level) };
    let value = ReportedValue { name: name.to_owned(), wanted: value.parse().ok(), optional: any };
    Box::new(move |finished, evidence| value.prove(finished, evidence))
}

/// Makes another program start the programs, and a companion run beside them.
pub(super) fn enter(switch: &Switch, level: &str, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    give_arguments(switch, level, context);
    start(switch, context)?;
    let Some(companion) = &switch.companion else {
        let tracer = ReportedValue { name: "tracer".to_owned(), wanted: None, optional: false };
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

/// Has the row's command start the programs, if it has one.
fn start(switch: &Switch, context: &mut Context<'_>) -> Result<(), Refusal> {
    let Some((starter, words)) = switch.prefix.split_first() else { return Ok(()) };
    if !context.staging.prefix.is_empty() {
        return Err(Refusal::Unavailable("only one switch of a condition can start the programs".to_owned()));
    }
    let path = machine::find_command(starter).ok_or(Refusal::Unavailable(format!("there is no {starter} here")))?;
    let scratch = context.settings.scratch.display().to_string();
    context.staging.prefix = vec![path.display().to_string()];
    context.staging.prefix.extend(words.iter().map(|word| word.replace("{scratch}", &scratch)));
    Ok(())
}

/// Has the row's command start the programs in a container, and returns their proof that they are in one.
pub(super) fn start_inside(switch: &Switch, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    start(switch, context)?;
    let outside = std::fs::read_link("/proc/self/ns/mnt").unwrap_or_default();
    context.staging.args.push(format!("outside={}", outside.display()));
    let inside = ReportedValue { name: "inside".to_owned(), wanted: Some(1.0), optional: false };
    Ok(Box::new(move |finished, evidence| inside.prove(finished, evidence)))
}

fn give_arguments(switch: &Switch, level: &str, context: &mut Context<'_>) {
    context.staging.args.extend(switch.args.iter().map(|word| word.replace("{level}", level)));
}

impl ReportedValue {
    fn prove(&self, finished: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), Refusal> {
        // Threads are copies too, but only the first reports for their program.
        let programs = finished.trial.copies.iter().filter(|copy| copy.usage.is_some());
        let mut reported = None;
        for copy in programs {
            reported = copy.values.get(&self.name).cloned();
            match (&reported, self.wanted) {
                (None, _) if self.optional => {}
                (None, _) => return Err(format!("a program did not report the value '{}'", self.name).into()),
                (Some((value, _)), Some(wanted)) if (value - wanted).abs() > 1e-6 => {
                    return Err(format!("a program reports {} {value} and not {wanted}", self.name).into());
                }
                (Some((value, _)), None) if *value <= 0.0 => {
                    return Err(format!("a program reports {} {value}", self.name).into());
                }
                (Some(_), _) => {}
            }
        }
        match reported {
            Some(value) => drop(evidence.figures.insert(self.name.clone(), value)),
            None if self.optional => evidence.notes.push(format!("the programs took the argument {}", self.name)),
            None => return Err("no program reported anything".to_owned().into()),
        }
        Ok(())
    }
}

/// Proves that a companion watched. It is only ready once it works, and one that ends early is an
/// error, so only the count is left to check.
fn prove_count(finished: &mut FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), Refusal> {
    let count = finished.companion.ok_or_else(|| "the companion reported no count".to_owned())?;
    evidence.figures.insert("events".to_owned(), (count, "events".to_owned()));
    if count == 0.0 {
        evidence.notes.push("the companion was watching, but nothing that it counts happened".to_owned());
    }
    Ok(())
}
