//! Cautions for the reader of a comparison: how the runs differ apart from what is asked about.

use super::{Compared, machines};
use crate::figures::Remark;
use crate::findings::Results;
use crate::products::comparison::Design;
use journal::{Fact, Facts, InCommon, Run};
use stats::Exact;
use words::{Grouped, Unique};

/// The fact that says how fast the interactive tests' work was when the run began.
const SPEED_FACT: &str = "run.work-speed";

/// A system with fewer facts is not described.
const MIN_FACTS_OF_DESCRIPTION: usize = 20;

/// The stand-in for a value that is not known.
const UNKNOWN: &str = "unknown";

/// The speed of work may differ by this share without a word.
const MAX_SPEED_DIFFERENCE: f64 = 0.02;

/// Values with the letters of the runs that have them.
type Values = Vec<(String, Vec<String>)>;

/// A fact that is not the same of all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The fact's name.
    pub name: String,
    /// Its name in reports.
    pub label: String,
    /// True if it holds for a moment only, and so differs between any two runs.
    pub is_of_a_moment: bool,
    /// Each value, with the letters of the runs that have it.
    pub values: Values,
}

impl Difference {
    /// True if at least two of the values are known.
    pub fn is_known_twice(&self) -> bool {
        self.values.iter().filter(|(value, _)| value != UNKNOWN).nth(1).is_some()
    }
}

/// The facts that differ, in the order of the first run. The speed of work is a warning instead.
pub(super) fn differences(runs: &[Compared]) -> Vec<Difference> {
    let mut differences: Vec<Difference> = Vec::new();
    for fact in runs.iter().flat_map(|run| &run.results.facts) {
        let is_listed = differences.iter().any(|difference| difference.name == fact.name);
        if fact.name == SPEED_FACT || is_listed {
            continue;
        }
        let values = runs_by_value(runs, |results| {
            let value = results.facts.value(&fact.name).unwrap_or(UNKNOWN);
            (!is_undescribed(results)).then(|| value.to_owned())
        });
        if values.len() > 1 {
            differences.push(Difference {
                name: fact.name.clone(),
                label: fact.label.clone(),
                is_of_a_moment: fact.is_of_a_moment(),
                values,
            });
        }
    }
    differences
}

/// True if a run comes from a report that says next to nothing about its system.
fn is_undescribed(results: &Results) -> bool {
    results.run.build.is_none() && results.facts.iter().count() < MIN_FACTS_OF_DESCRIPTION
}

/// A warning if some of the runs, but not all, do not describe their systems.
fn warning_of_undescribed(runs: &[Compared]) -> Option<String> {
    let letters: Vec<&str> = runs
        .iter()
        .filter(|run| is_undescribed(&run.results))
        .map(|run| run.letter.as_str())
        .collect();
    if letters.is_empty() || letters.len() == runs.len() {
        return None;
    }

    let predicate = match letters.len() {
        1 => {
            "comes from a report that does not describe its system: facts that it leaves out cannot be compared"
        }
        _ => {
            "come from reports that do not describe their systems: facts that they leave out cannot be compared"
        }
    };
    Some(format!("{} {predicate}", letters.join(", ")))
}

/// The distinct values, each with the letters of the runs that have it.
fn runs_by_value(runs: &[Compared], value: impl Fn(&Results) -> Option<String>) -> Values {
    runs.iter().filter_map(|run| Some((value(&run.results)?, run.letter.clone()))).grouped()
}

/// Differences between runs that forbid to compare or to rank them, in the plural.
pub mod unlike {
    /// Programs of different compilers or flags.
    pub const BUILDS: &str = "builds";
    /// Different windows and orders.
    pub const PROCEDURES: &str = "procedures";
    /// Copies pinned in different ways.
    pub const PLACEMENTS: &str = "CPU placements";
}

/// The hosts, which cards are compared for.
const HOSTS: &str = "hosts";

/// The tools, whose difference alone makes no other difference doubtful.
const TOOLS: &str = "tools";

/// A property that runs should share.
struct SharedProperty {
    /// Its name in the plural.
    name: &'static str,
    /// What follows where it differs, or what to do.
    advice: &'static str,
}

/// A shared property that differs between runs.
struct Unlike {
    property: SharedProperty,
    /// The values, each with the letters of its runs: `a (A), b (B, C)`.
    values: String,
}

/// The properties that runs should share, apart from facts, with the values that `run` has.
fn common_properties(run: &Run) -> [(SharedProperty, String); 6] {
    let Run { build, host, pin, settings, tool, .. } = run;
    let build = build.as_ref().map_or(UNKNOWN.to_owned(), |build| {
        format!("{} {:.12}, {}, {}", build.name, build.hash, build.compiler, build.flags)
    });
    let pin = if pin.is_empty() { "unpinned".to_owned() } else { format!("pinned by {pin}") };
    let options = if settings.is_empty() { "none".to_owned() } else { settings.join(" ") };
    [
        (
            unlike::BUILDS,
            "part of every difference may be the compiler's: try --build portable for all runs",
            build,
        ),
        (HOSTS, "these are differences between machines", host.clone()),
        (
            unlike::PROCEDURES,
            "they measure differently: use the same --procedure",
            run.procedure.name().to_owned(),
        ),
        (unlike::PLACEMENTS, "use the same --pin", pin),
        (
            "options",
            "the tests did not do the same work: repeat one run with the options of the other",
            options,
        ),
        (TOOLS, "their programs may not do the same work", tool.clone()),
    ]
    .map(|(name, advice, value)| (SharedProperty { name, advice }, value))
}

/// The shared properties that differ between runs.
fn unlike_properties(runs: &[Compared]) -> Vec<Unlike> {
    // Cards are of machines that differ: that is what they are compared for.
    let are_cards = runs.iter().all(machines::is_card);
    let mut checked = Vec::new();
    for (place, (property, _)) in common_properties(&Run::default()).into_iter().enumerate() {
        if are_cards && property.name == HOSTS {
            continue;
        }
        let value = |results: &Results| Some(common_properties(&results.run)[place].1.clone());
        checked.push((property, runs_by_value(runs, value)));
    }
    for InCommon { fact, what, advice, if_known } in Facts::common().filter(|_| !are_cards) {
        let unknown = (!if_known).then_some(UNKNOWN);
        let value = |results: &Results| results.facts.value(fact).or(unknown).map(str::to_owned);
        checked.push((SharedProperty { name: what, advice }, runs_by_value(runs, value)));
    }

    let mut unlike = Vec::new();
    for (property, values) in checked.into_iter().filter(|(_, values)| values.len() > 1) {
        let values: Vec<String> = values
            .iter()
            .map(|(value, letters)| format!("{value} ({})", letters.join(", ")))
            .collect();
        unlike.push(Unlike { property, values: values.join(", ") });
    }
    unlike
}

/// A sentence for each thing that makes the runs unlike each other in more than what is asked
/// about, and the names of the properties that any difference may be due to.
pub(super) fn warnings(runs: &[Compared], design: Design) -> (Vec<String>, Vec<&'static str>) {
    let differences = unlike_properties(runs);
    let unlike: Vec<&str> = differences
        .iter()
        .map(|difference| difference.property.name)
        .filter(|name| *name != TOOLS)
        .collect();

    // A single difference is what was changed between rounds, and a kernel is always changed on
    // purpose.
    let is_wanted = unlike.len() == 1 && (design.is_by_round() || unlike == [Facts::KERNELS]);
    let mut warnings = Vec::new();
    if !unlike.is_empty() && !is_wanted {
        warnings.push(format!(
            "these runs are not comparable, because they differ in {}; unless that difference is what you want to \
             measure, make runs that agree in it",
            unlike.join(", ")
        ));
    }
    for Unlike { property: SharedProperty { name, advice }, values } in &differences {
        let consequence = match is_wanted && *name != TOOLS {
            true => "this is the difference that you asked to measure",
            false => *advice,
        };
        warnings.push(format!("the {name} differ: {values}; {consequence}"));
    }
    warnings.extend(warning_of_undescribed(runs));
    warnings.extend(warning_of_work_speeds(runs));
    warnings.extend(warnings_of_runs(runs));
    if design.is_by_round() && !are_alternating(runs) {
        warnings
            .push("the runs did not alternate, so rounds do not share drift: make them in the order given".to_owned());
    }
    (warnings, unlike)
}

/// The warnings that the runs' own reports have on the whole run, each with the letters of its
/// runs.
fn warnings_of_runs(runs: &[Compared]) -> Vec<String> {
    let mut texts = Vec::new();
    for run in runs {
        // That intervals allow for drift is among the notes.
        let warnings =
            run.results.warnings.iter().filter(|remark| !matches!(remark, Remark::Drift(_)));
        // A run may say it twice.
        for text in warnings.map(Remark::to_string).unique() {
            texts.push((text, &*run.letter));
        }
    }
    let grouped = texts.into_iter().grouped().into_iter();
    grouped.map(|(text, letters)| format!("{}: {text}", letters.join(", "))).collect()
}

/// A warning where the interactive tests' work was not the same.
fn warning_of_work_speeds(runs: &[Compared]) -> Option<String> {
    let facts: Vec<(&str, &Fact)> = runs
        .iter()
        .filter_map(|run| Some((run.letter.as_str(), run.results.facts.get(SPEED_FACT)?)))
        .collect();
    let first = facts.first()?.1;
    if !facts.iter().any(|(_, fact)| is_other_speed(first, fact)) {
        return None;
    }

    let speeds: Vec<String> =
        facts.iter().map(|(letter, fact)| format!("{} ({letter})", fact.value)).collect();
    Some(format!(
        "the speed of work differs: {}; frames of interactive tests therefore hold different amounts of work and \
         are comparable only to within that difference",
        speeds.join(", ")
    ))
}

/// True if two speeds of work differ by so much that it is reported.
fn is_other_speed(fact: &Fact, other: &Fact) -> bool {
    match (work_speed(fact), work_speed(other)) {
        (Some(speed), Some(other)) => (other / speed).natural_log().abs() > MAX_SPEED_DIFFERENCE,
        _ => fact.value != other.value,
    }
}

fn work_speed(fact: &Fact) -> Option<f64> {
    fact.quantity.as_ref().map(|speed| speed.number).filter(|number| *number > 0.0)
}

/// True if no side began all of its runs after the last run of the other. Runs without a known time
/// count as alternating.
fn are_alternating(runs: &[Compared]) -> bool {
    let times: Option<Vec<jiff::Timestamp>> =
        runs.iter().map(|run| run.results.run.started.parse().ok()).collect();
    let Some(times) = times.filter(|times| times.len() > 2) else {
        return true;
    };

    let a = times.iter().step_by(2);
    let b = times.iter().skip(1).step_by(2);
    let is_a_before_b = a.clone().max() < b.clone().min();
    let is_b_before_a = b.max() < a.min();
    !is_a_before_b && !is_b_before_a
}
