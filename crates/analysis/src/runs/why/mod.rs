//! Why systems differ: the facts that go with the differences, as hints. `docs/methodology.md` has
//! the reasoning.
//!
//! 1. The tests that all systems have are a [`Matrix`] of scores ([`scores_in_common`]).
//! 2. The facts that differ are *candidates* ([`candidates`]).
//! 3. A fact can only explain what it can *reach* ([`reach`]): a C library starts programs,
//!    mitigations cost at system calls, a clock moves everything. Each candidate is tried with each
//!    of its reaches ([`best_matches`]): does it explain what the systems' scores have more inside
//!    the reach than outside ([`fit`])?
//! 4. Each candidate that does so becomes a hint, or joins the hint of a fact that splits the
//!    systems in the same way ([`Why::from_systems`]).

mod fit;
mod reach;
#[cfg(test)]
mod tests;

use catalogue::{Catalogue, Metric};
use fit::{Fit, Grouping, Matrix, Score};
use journal::{Fact, Key};
pub use reach::Reach;
use serde::Serialize;
use stats::{Estimate, Exact};
use words::Grouped;

use crate::figures::Measure;
use crate::findings::Results;

/// Smallest fit of a fact that is named: half, where 1 is a fact that explains all differences and
/// whose reach has all of them ([`Fit`]).
const MIN_NAMED_FIT: f64 = 0.5;

/// Smallest effect that is named: the best value above the worst, in per cent of the worst. (A
/// hint's effect is in per cent of the best.)
const MIN_NAMED_PERCENT: f64 = 2.0;

/// The probability of any hint where nothing differs, over all candidates and reaches.
const FALSE_ALARM_LEVEL: f64 = 0.05;

/// Facts that say which system it is, but not what it is like, by how their names begin.
const IDENTITY_FACTS: [&str; 4] = ["system.host", "system.hostname", "run.", "imported."];

/// The build of the programs as a fact: its name and its label. Journals have it beside the facts.
const BUILD: &str = "software.build";
const BUILD_LABEL: &str = "Programs, build";

/// The facts that go with the differences between systems.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Why {
    /// The number of systems compared.
    pub systems: usize,
    /// The number of tests that all of them have with an interval.
    pub tests: usize,
    /// The number of facts that differ and could be examined.
    pub examined: usize,
    /// The facts that go with the differences, the best first.
    pub hints: Vec<Hint>,
    /// Why nothing could be examined; empty if something was.
    pub silence: String,
}

/// A fact that goes with differences.
#[derive(Debug, Clone, Serialize)]
pub struct Hint {
    /// The fact's name.
    pub name: String,
    /// Its name in reports.
    pub label: String,
    /// Each value with the letters of the systems that have it, best first.
    pub values: Vec<(String, Vec<String>)>,
    /// The kind of work that shows it.
    pub reach: Reach,
    /// The tests that show it, by name.
    pub tests: Vec<String>,
    /// The amount by which the worst value is slower than the best there, in per cent; negative.
    pub effect: f64,
    /// The agreement with the differences, from 0 to 1.
    pub fit: f64,
    /// The number of systems at the smaller of its two ends.
    pub rests_on: usize,
    /// The share of the ways to deal the values out to the systems that go with them as well.
    pub chance: f64,
    /// Labels of facts that split the systems alike and reach as far: they cannot be told from it.
    pub also: Vec<String>,
}

/// What hints need to know of a system.
#[derive(Debug, Clone)]
pub struct System<'a> {
    /// Its letter.
    pub name: &'a str,
    /// The score of each cell.
    pub scores: Vec<SystemScore<'a>>,
    /// Its facts.
    pub facts: Vec<&'a Fact>,
    /// The build of its programs, if that may be among the reasons.
    pub build: Option<String>,
}

/// A system's score in one cell.
#[derive(Debug, Clone, Copy)]
pub struct SystemScore<'a> {
    /// The cell.
    pub key: &'a Key,
    /// The unit of the score.
    pub unit: &'a str,
    /// Whether the score is a rate or a time.
    pub metric: Metric,
    /// The score with its interval.
    pub score: Estimate,
}

impl<'a> System<'a> {
    fn new(name: &'a str, results: &'a Results) -> System<'a> {
        let scores = results.figures.iter().map(|figure| SystemScore {
            key: &figure.cell.key,
            unit: &figure.cell.unit,
            metric: figure.cell.metric,
            score: figure.score,
        });
        let build = results.run.build.as_ref();
        System {
            name,
            scores: scores.collect(),
            facts: results.facts.iter().collect(),
            build: build.map(|build| format!("{} {}, {}", build.name, build.compiler, build.flags)),
        }
    }

    fn score(&self, key: &Key, unit: &str) -> Option<Estimate> {
        let mut scores = self.scores.iter();
        scores.find(|one| one.key == key && one.unit == unit).map(|one| one.score)
    }

    fn fact(&self, name: &str) -> Option<&'a Fact> {
        self.facts.iter().copied().find(|fact| fact.name == name)
    }
}

impl Why {
    /// The facts that go with the differences between systems, each given with its letter.
    pub fn new(systems: &[(&str, &Results)], catalogue: &Catalogue) -> Why {
        let systems: Vec<System<'_>> =
            systems.iter().map(|(name, results)| System::new(name, results)).collect();
        Why::from_systems(&systems, catalogue)
    }

    /// [`Why::new`] for systems whose results are not at hand.
    pub fn from_systems(systems: &[System<'_>], catalogue: &Catalogue) -> Why {
        let Common { tests, matrix } = scores_in_common(systems);
        let mut why = Why { systems: systems.len(), tests: tests.len(), ..Why::default() };
        if systems.len() < 2 {
            why.silence = "there is only one system".to_owned();
            return why;
        }
        if tests.len() < 2 {
            why.silence =
                "the systems have fewer than two tests with intervals in common".to_owned();
            return why;
        }

        let candidates = candidates(systems);
        why.examined = candidates.len();
        for found in best_matches(&candidates, &tests, &matrix, catalogue) {
            let candidate = found.candidate;
            let twin = why
                .hints
                .iter_mut()
                .find(|hint| hint.reach == found.reach && candidate.splits_like(hint, systems));
            match twin {
                Some(hint) => hint.also.push(candidate.label.clone()),
                None => why.hints.push(found.to_hint(&tests, systems, &matrix)),
            }
        }
        why
    }
}

/// The tests that all systems have with an interval.
#[derive(Default)]
struct Common {
    tests: Vec<String>,
    matrix: Matrix,
}

fn scores_in_common(systems: &[System<'_>]) -> Common {
    let mut common = Common::default();
    let Some(first) = systems.first() else { return common };
    for SystemScore { key, unit, metric, .. } in &first.scores {
        let scores = systems.iter().map(|system| to_log_score(system.score(key, unit)?, *metric));
        if let Some(scores) = scores.collect::<Option<Vec<Score>>>() {
            common.tests.push(key.test.clone());
            common.matrix.push(scores);
        }
    }
    common
}

/// A score as a logarithm that is larger where better; `None` if it has no interval or no
/// logarithm.
fn to_log_score(score: Estimate, metric: Metric) -> Option<Score> {
    let log = Measure::Score.goodness(metric, score.value);
    let error = (score.high / score.low).natural_log() / (2.0 * stats::NORMAL_975);
    let has_error = score.bounded() && score.low > 0.0;
    (has_error && log.is_finite()).then_some(Score { log, error })
}

/// A fact over all systems.
struct Candidate {
    name: String,
    label: String,
    /// By system.
    values: Vec<String>,
    grouping: Grouping,
}

/// The facts that differ and that all systems report.
fn candidates(systems: &[System<'_>]) -> Vec<Candidate> {
    let Some(first) = systems.first() else { return Vec::new() };
    let facts = first.facts.iter().filter(|fact| !fact.is_of_a_moment());
    facts
        .map(|fact| (fact.name.as_str(), fact.label.as_str()))
        .chain([(BUILD, BUILD_LABEL)])
        .filter_map(|(name, label)| Candidate::new(name, label, systems))
        .collect()
}

impl Candidate {
    /// `None` if a system lacks the fact, or if it only identifies the systems.
    fn new(name: &str, label: &str, systems: &[System<'_>]) -> Option<Candidate> {
        if IDENTITY_FACTS.iter().any(|start| name.starts_with(start)) {
            return None;
        }

        let values = systems.iter().map(|system| {
            if name == BUILD {
                return system.build.clone();
            }
            system.fact(name).map(|fact| fact.value.clone())
        });
        let numbers = systems.iter().map(|system| {
            let quantity = system.fact(name)?.quantity.as_ref()?;
            Some(quantity.number.natural_log()).filter(|log| log.is_finite())
        });
        let values: Vec<String> = values.collect::<Option<_>>()?;
        let grouping = Grouping::new(&values, numbers.collect())?;
        Some(Candidate { name: name.to_owned(), label: label.to_owned(), values, grouping })
    }

    /// True if two systems have the same value of this fact exactly where they have the same value
    /// of the hint's.
    fn splits_like(&self, hint: &Hint, systems: &[System<'_>]) -> bool {
        let groups: Vec<Option<usize>> = systems
            .iter()
            .map(|system| {
                let mut groups = hint.values.iter();
                groups.position(|(_, letters)| letters.iter().any(|letter| letter == system.name))
            })
            .collect();
        (0..systems.len())
            .all(|a| (0..a).all(|b| (self.values[a] == self.values[b]) == (groups[a] == groups[b])))
    }
}

/// A candidate that goes with the differences in the tests of a reach.
struct Match<'a> {
    candidate: &'a Candidate,
    reach: Reach,
    /// By test: true if the reach has it.
    inside: Vec<bool>,
    fit: Fit,
}

/// The candidates that explain differences, each with the reach that it fits best; the best fit
/// first.
fn best_matches<'a>(
    candidates: &'a [Candidate],
    tests: &[String],
    matrix: &Matrix,
    catalogue: &Catalogue,
) -> Vec<Match<'a>> {
    // Those that are passed over below count, too, which makes the level a little stricter.
    let possible_tries: usize =
        candidates.iter().map(|candidate| Reach::from_fact(&candidate.name).len()).sum();
    let level = FALSE_ALARM_LEVEL / possible_tries.max(1) as f64;

    let mut matches = Vec::new();
    for candidate in candidates {
        let mut best: Option<Match<'_>> = None;
        for reach in Reach::from_fact(&candidate.name) {
            let inside = reach.contains(tests, catalogue);
            let has_all_tests = inside.iter().all(|inside| *inside);
            if has_all_tests && *reach != Reach::Everything {
                // Its fit would be that of everything: without tests outside, nobody can tell a
                // system that is slow from one that is slow at this work.
                continue;
            }
            let fit = matrix.fit(&candidate.grouping, &inside, level, MIN_NAMED_PERCENT);
            let Some(fit) = fit.filter(|fit| fit.fit >= MIN_NAMED_FIT) else {
                continue;
            };
            // Of equal fits the first reach counts.
            if best.as_ref().is_none_or(|best| best.fit.fit < fit.fit) {
                best = Some(Match { candidate, reach: *reach, inside, fit });
            }
        }
        matches.extend(best);
    }

    // Stable: of equal fits the first candidate comes first.
    matches.sort_by(|a, b| b.fit.fit.total_cmp(&a.fit.fit));
    matches
}

impl Match<'_> {
    fn to_hint(&self, tests: &[String], systems: &[System<'_>], matrix: &Matrix) -> Hint {
        let Candidate { name, label, values, grouping } = self.candidate;
        let fitted = &self.fit.fitted;
        let mut best_first: Vec<usize> = (0..systems.len()).collect();
        best_first.sort_by(|a, b| fitted[*b].total_cmp(&fitted[*a]).then(a.cmp(b)));

        let letters_by_value: Vec<(String, Vec<String>)> = best_first
            .into_iter()
            .map(|system| (values[system].clone(), systems[system].name.to_owned()))
            .grouped();
        let systems_at =
            |end: Option<&(String, Vec<String>)>| end.map_or(0, |(_, letters)| letters.len());
        let rests_on =
            systems_at(letters_by_value.first()).min(systems_at(letters_by_value.last()));
        let tests_inside = tests.iter().zip(&self.inside).filter(|(_, inside)| **inside);
        Hint {
            name: name.clone(),
            label: label.clone(),
            values: letters_by_value,
            reach: self.reach,
            tests: tests_inside.map(|(test, _)| test.clone()).collect(),
            effect: 100.0 * (-self.fit.size).exponential_less_1(),
            fit: self.fit.fit,
            rests_on,
            chance: matrix.chance(grouping, &self.inside),
            also: Vec::new(),
        }
    }
}
