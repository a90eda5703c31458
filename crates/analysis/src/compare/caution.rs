//! Cautions for the reader of a comparison: how the runs differ apart from what is asked about.

use super::{Compared, Design};
use crate::{Remark, Results};
use journal::{Fact, Facts, InCommon, Run};
use stats::Exact;
use words::{Grouped, Unique};

/// The fact that says how fast the interactive tests' work was when the run began.
const SPEED: &str = "run.work-speed";

/// A system with fewer facts is not described.
const DESCRIBED: usize = 20;

/// The stand-in for a value that is not known.
const UNKNOWN: &str = "unknown";

/// The speed of work may differ by this share without a word.
const SPEED_SLACK: f64 = 0.02;

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
    /// Returns true if there are two values of it that are known.
    pub fn is_known_twice(&self) -> bool {
        self.values.iter().filter(|(value, _)| value != UNKNOWN).nth(1).is_some()
    }
}

/// Returns the facts that differ, in the order of the first run. The speed of work is a warning instead.
pub(super) fn differences(runs: &[Compared]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for fact in runs.iter().flat_map(|run| &run.results.facts) {
        if fact.name == SPEED || found.iter().any(|known| known.name == fact.name) {
            continue;
        }
        let values = grouped(runs, |results| {
            (!is_undescribed(results)).then(|| results.facts.value(&fact.name).unwrap_or(UNKNOWN).to_owned())
        });
        if values.len() > 1 {
            let is_of_a_moment = fact.is_of_a_moment();
            found.push(Difference { name: fact.name.clone(), label: fact.label.clone(), is_of_a_moment, values });
        }
    }
    found
}

/// Returns true if a run comes from a report that says next to nothing of its system.
fn is_undescribed(results: &Results) -> bool {
    results.run.build.is_none() && results.facts.iter().count() < DESCRIBED
}

/// A sentence for runs that do not describe their systems.
fn undescribed(runs: &[Compared]) -> Option<String> {
    let letters = runs.iter().filter(|run| is_undescribed(&run.results)).map(|run| run.letter.as_str());
    let letters: Vec<&str> = letters.collect();
    (!letters.is_empty() && letters.len() < runs.len()).then(|| {
        let what = match letters.len() {
            1 => "comes from a report that does not describe its system: facts that it leaves out cannot be compared",
            _ => "come from reports that do not describe their systems: facts that they leave out cannot be compared",
        };
        format!("{} {what}", letters.join(", "))
    })
}

/// Returns the distinct values with the letters of the runs that have them.
fn grouped(runs: &[Compared], of: impl Fn(&Results) -> Option<String>) -> Values {
    runs.iter().filter_map(|run| Some((of(&run.results)?, run.letter.clone()))).grouped()
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

/// The tools, whose difference alone makes no other difference doubtful.
const TOOLS: &str = "tools";

/// Returns the properties that runs should share, beside facts: each with what follows where they have not, and a run's
/// own.
fn common(run: &Run) -> [(&'static str, &'static str, String); 6] {
    let Run { build, host, pin, settings, tool, .. } = run;
    let build = build.as_ref().map_or(UNKNOWN.to_owned(), |build| {
        format!("{} {:.12}, {}, {}", build.name, build.hash, build.compiler, build.flags)
    });
    let pin = if pin.is_empty() { "unpinned".to_owned() } else { format!("pinned by {pin}") };
    let options = if settings.is_empty() { "none".to_owned() } else { settings.join(" ") };
    [
        (unlike::BUILDS, "part of every difference may be the compiler's: try --build portable for all runs", build),
        ("hosts", "these are differences between machines", host.clone()),
        (unlike::PROCEDURES, "they measure differently: use the same --procedure", run.procedure.name().to_owned()),
        (unlike::PLACEMENTS, "use the same --pin", pin),
        ("options", "the tests did not do the same work: repeat one run with the options of the other", options),
        (TOOLS, "their programs may not do the same work", tool.clone()),
    ]
}

/// Returns what makes the runs unlike each other in more than what is asked about, a sentence each, and the names of
/// what any difference may be due to.
pub(super) fn warnings(runs: &[Compared], design: Design) -> (Vec<String>, Vec<&'static str>) {
    let mut differences = Vec::new();
    let mut check = |what: &'static str, advice: &'static str, groups: Values| {
        if groups.len() > 1 {
            let values = groups.iter().map(|(value, letters)| format!("{value} ({})", letters.join(", ")));
            differences.push((what, values.collect::<Vec<String>>().join(", "), advice));
        }
    };
    for (place, (what, advice, _)) in common(&Run::default()).into_iter().enumerate() {
        check(what, advice, grouped(runs, |results| Some(common(&results.run)[place].2.clone())));
    }
    for InCommon { fact, what, advice, if_known } in Facts::common() {
        let unknown = (!if_known).then_some(UNKNOWN);
        check(what, advice, grouped(runs, |results| results.facts.value(fact).or(unknown).map(str::to_owned)));
    }
    let unlike: Vec<&str> = differences.iter().map(|(what, ..)| *what).filter(|what| *what != TOOLS).collect();
    // A single difference is what was changed between rounds, and a kernel is always changed on purpose.
    let is_wanted = unlike.len() == 1 && (design.is_in_turn() || unlike == [Facts::KERNELS]);
    let warning = |(what, values, advice): &(&str, String, &str)| match is_wanted && *what != TOOLS {
        true => format!("the {what} differ: {values}; this is what the runs compare"),
        false => format!("the {what} differ: {values}; {advice}"),
    };
    let mut warnings: Vec<String> = differences.iter().map(warning).collect();
    if !unlike.is_empty() && !is_wanted {
        let told = format!(
            "these runs are not comparable, because they differ in {}; unless that difference is what you want to \
             measure, make runs that agree in it",
            unlike.join(", ")
        );
        warnings.insert(0, told);
    }
    warnings.extend(undescribed(runs));
    warnings.extend(speeds(runs));
    warnings.extend(whole_runs(runs));
    if design.is_in_turn() && !alternating(runs) {
        warnings
            .push("the runs did not alternate, so rounds do not share drift: make them in the order given".to_owned());
    }
    (warnings, unlike)
}

/// Returns the remarks of the runs' own reports on the whole run.
fn whole_runs(runs: &[Compared]) -> Vec<String> {
    let of_run = |run: &Compared| {
        // That intervals allow for drift is among the notes.
        let remarks = run.results.warnings.iter().filter(|remark| !matches!(remark, Remark::Drift(_)));
        // A run may say it twice.
        let texts = remarks.map(Remark::to_string).unique();
        texts.into_iter().map(|text| (text, run.letter.clone())).collect::<Vec<_>>()
    };
    let texts = runs.iter().flat_map(of_run).grouped();
    texts.into_iter().map(|(text, letters)| format!("{}: {text}", letters.join(", "))).collect()
}

/// A warning where the interactive tests' work was not the same.
fn speeds(runs: &[Compared]) -> Option<String> {
    let facts: Vec<(&str, &Fact)> =
        runs.iter().filter_map(|run| Some((run.letter.as_str(), run.results.facts.get(SPEED)?))).collect();
    let number = |fact: &Fact| fact.quantity.as_ref().map(|speed| speed.number).filter(|number| *number > 0.0);
    let first = facts.first()?.1;
    let differs = facts.iter().any(|(_, fact)| match (number(first), number(fact)) {
        (Some(one), Some(other)) => (other / one).natural_log().abs() > SPEED_SLACK,
        _ => fact.value != first.value,
    });
    differs.then(|| {
        let told: Vec<String> = facts.iter().map(|(letter, fact)| format!("{} ({letter})", fact.value)).collect();
        format!(
            "the speed of work differs: {}; frames of interactive tests therefore hold different amounts of work and \
             are comparable only to within that difference",
            told.join(", ")
        )
    })
}

/// Returns true if no run of one side began after all runs of the other; unknown times are passed over.
fn alternating(runs: &[Compared]) -> bool {
    let times: Option<Vec<jiff::Timestamp>> = runs.iter().map(|run| run.results.run.started.parse().ok()).collect();
    let Some(times) = times else { return true };
    let side = |which: usize| times.iter().skip(which).step_by(2);
    let apart = |a: usize, b: usize| match (side(a).max(), side(b).min()) {
        (Some(last), Some(first)) => last < first,
        _ => false,
    };
    times.len() <= 2 || !(apart(0, 1) || apart(1, 0))
}
