//! What measured programs do to themselves, who starts them, and what runs beside them and counts what they do.

use super::{Active, Context, FinishedTrial, Refusal, tracing};
use catalogue::{Need, Switch};
use journal::Evidence;

/// What the programs must report: each of them a value of this name.
struct Claim {
    name: String,
    /// What it must be; without one, more than nothing.
    wanted: Option<f64>,
    /// Whether a program that does not report it is believed, since it refuses an argument that it does not know.
    optional: bool,
}

/// What the companion counts.
struct Watched;

/// Has the programs do it to themselves.
pub(super) fn argument(switch: &Switch, level: &str, context: &mut Context<'_>) -> Box<dyn Active> {
    give_arguments(switch, level, context);
    // Where the user names the argument, it is that which a program may tell of.
    let any = switch.args.iter().any(|word| word == "{level}");
    let (name, value) = if any { level.split_once('=').unwrap_or((level, "")) } else { (switch.id.as_str(), level) };
    Box::new(Claim { name: name.to_owned(), wanted: value.parse().ok(), optional: any })
}

/// Has the programs started by another, and a companion run beside them.
pub(super) fn enter(switch: &Switch, level: &str, context: &mut Context<'_>) -> Result<Box<dyn Active>, Refusal> {
    if switch.needs.contains(&Need::Tracefs) {
        tracing::mount(context)?;
    }
    give_arguments(switch, level, context);
    if let Some((starter, words)) = switch.prefix.split_first() {
        if !context.staging.prefix.is_empty() {
            return Err(Refusal::Unavailable("only one switch of a condition can start the programs".to_owned()));
        }
        let path = machine::find_command(starter).ok_or(Refusal::Unavailable(format!("there is no {starter} here")))?;
        let scratch = context.settings.scratch.display().to_string();
        context.staging.prefix = vec![path.display().to_string()];
        context.staging.prefix.extend(words.iter().map(|word| word.replace("{scratch}", &scratch)));
    }
    let Some(companion) = &switch.companion else {
        return Ok(Box::new(Claim { name: "tracer".to_owned(), wanted: None, optional: false }));
    };
    if let Some((other, _)) = &context.staging.companion {
        return Err(Refusal::Unavailable(format!("{other} runs beside the programs already; try one after the other")));
    }
    let args = if level.is_empty() { Vec::new() } else { vec![format!("kind={level}")] };
    context.staging.companion = Some((companion.clone(), args));
    Ok(Box::new(Watched))
}

fn give_arguments(switch: &Switch, level: &str, context: &mut Context<'_>) {
    context.staging.args.extend(switch.args.iter().map(|word| word.replace("{level}", level)));
}

impl Active for Claim {
    fn prove(&mut self, finished: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), String> {
        // Threads are copies too, but only the first tells what is true of their program.
        let programs = finished.trial.copies.iter().filter(|copy| copy.usage.is_some());
        let mut told = None;
        for copy in programs {
            told = copy.values.get(&self.name).cloned();
            match (&told, self.wanted) {
                (None, _) if self.optional => {}
                (None, _) => return Err(format!("a program did not report the value '{}'", self.name)),
                (Some((value, _)), Some(wanted)) if (value - wanted).abs() > 1e-6 => {
                    return Err(format!("a program reports {} {value} and not {wanted}", self.name));
                }
                (Some((value, _)), None) if *value <= 0.0 => {
                    return Err(format!("a program reports {} {value}", self.name));
                }
                (Some(_), _) => {}
            }
        }
        match told {
            Some(told) => drop(evidence.figures.insert(self.name.clone(), told)),
            None if self.optional => evidence.notes.push(format!("the programs took the argument {}", self.name)),
            None => return Err("no program has reported anything".to_owned()),
        }
        Ok(())
    }
}

impl Active for Watched {
    /// A companion is only ready when it has seen something, and one that ends early is an error: here it is only the count.
    fn prove(&mut self, finished: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), String> {
        let count = finished.companion.ok_or("what runs beside the programs has reported no count")?;
        evidence.figures.insert("events".to_owned(), (count, "events".to_owned()));
        if count == 0.0 {
            evidence.notes.push("it was watched, but nothing happened that it watches".to_owned());
        }
        Ok(())
    }
}
