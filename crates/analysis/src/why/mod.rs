//! Why systems differ: the facts that go with the differences, as hints. `docs/methodology.md` has the reasoning.
//!
//! A fact can only explain what it can reach ([`reach`]): a C library starts programs, mitigations cost at system
//! calls, a clock moves everything. For each fact that differs, the systems' *contrast* is what its tests have more
//! than all others ([`fit`]). It is named if its values explain the contrast, the contrast is larger than chance and
//! intervals allow, and the differences have the shape of its reach.

mod fit;
mod reach;
#[cfg(test)]
mod tests;

use catalogue::{Catalogue, Metric};
use fit::{Fit, Grouping, Matrix};
use journal::{Fact, Key};
pub use reach::Reach;
use serde::Serialize;
use stats::{Estimate, Exact};
use words::Grouped;

use super::{Measure, Results};

/// A fact that fits worse is not named: half of what there is to explain.
const NAMED: f64 = 0.5;

/// The least effect that is named, in per cent.
const SMALLEST: f64 = 2.0;

/// How often chance alone may name anything, where nothing differs.
const LEVEL: f64 = 0.05;

/// Facts that say which system it is, and nothing of what it is like.
const IDENTITY: [&str; 4] = ["system.host", "system.hostname", "run.", "imported."];

/// The build, which stands beside the facts.
const BUILD: (&str, &str) = ("software.build", "Programs, build");

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

/// The part of a system that hints rest on.
#[derive(Debug, Clone)]
pub struct System<'a> {
    /// Its letter.
    pub name: &'a str,
    /// The score of each cell, with its unit and what kind of number it is.
    pub scores: Vec<(&'a Key, &'a str, Metric, Estimate)>,
    /// Its facts.
    pub facts: Vec<&'a Fact>,
    /// The build of its programs, if that may be among the reasons.
    pub build: Option<String>,
}

impl<'a> System<'a> {
    fn new((name, results): &(&'a str, &'a Results)) -> System<'a> {
        let score = |row: &'a super::Figure| (&row.cell.key, row.cell.unit.as_str(), row.cell.metric, row.score);
        let build = results.run.build.as_ref();
        System {
            name,
            scores: results.figures.iter().map(score).collect(),
            facts: results.facts.iter().collect(),
            build: build.map(|build| format!("{} {}, {}", build.name, build.compiler, build.flags)),
        }
    }

    fn score(&self, key: &Key, unit: &str) -> Option<Estimate> {
        let same = |one: &&(&Key, &str, Metric, Estimate)| one.0 == key && one.1 == unit;
        self.scores.iter().find(same).map(|one| one.3)
    }

    fn fact(&self, name: &str) -> Option<&'a Fact> {
        self.facts.iter().copied().find(|fact| fact.name == name)
    }
}

/// A fact over all systems.
struct Candidate {
    name: String,
    label: String,
    values: Vec<String>,
    grouping: Grouping,
}

impl Why {
    /// Returns what goes with the differences between systems, each with the letter that it is called by.
    pub fn new(systems: &[(&str, &Results)], catalogue: &Catalogue) -> Why {
        Why::from_systems(&systems.iter().map(System::new).collect::<Vec<System<'_>>>(), catalogue)
    }

    /// Returns the same of systems of which no more is known.
    pub fn from_systems(systems: &[System<'_>], catalogue: &Catalogue) -> Why {
        let (ids, matrix) = matrix(systems);
        let mut why = Why { systems: systems.len(), tests: ids.len(), ..Why::default() };
        if systems.len() < 2 || ids.len() < 2 {
            why.silence = match systems.len() {
                0 | 1 => "there is only one system".to_owned(),
                _ => "the systems have fewer than two tests with intervals in common".to_owned(),
            };
            return why;
        }
        let candidates = candidates(systems);
        why.examined = candidates.len();
        let tries: Vec<(usize, Reach)> = candidates
            .iter()
            .enumerate()
            .flat_map(|(place, one)| Reach::from_fact(&one.name).into_iter().map(move |reach| (place, reach)))
            .collect();
        let level = LEVEL / tries.len().max(1) as f64;
        let mut found: Vec<(usize, Reach, Vec<bool>, Fit)> = Vec::new();
        for (place, reach) in tries {
            let inside = reach.among(&ids, catalogue);
            if reach != Reach::Everything && !inside.contains(&false) {
                // Without other tests a slow system cannot be told from a slow part of it.
                continue;
            }
            let Some(fit) = matrix.fit(&candidates[place].grouping, &inside, level, SMALLEST) else { continue };
            let better = |known: &(usize, Reach, Vec<bool>, Fit)| known.0 == place && known.3.fit >= fit.fit;
            if fit.fit >= NAMED && !found.iter().any(better) {
                found.retain(|known| known.0 != place);
                found.push((place, reach, inside, fit));
            }
        }
        found.sort_by(|a, b| b.3.fit.total_cmp(&a.3.fit).then(a.0.cmp(&b.0)));
        for (place, reach, inside, fit) in found {
            let candidate = &candidates[place];
            let twin = |hint: &&mut Hint| hint.reach == reach && candidate.splits_like(hint, systems);
            match why.hints.iter_mut().find(twin) {
                Some(hint) => hint.also.push(candidate.label.clone()),
                None => why.hints.push(candidate.hint(reach, &ids, &inside, fit, systems, &matrix)),
            }
        }
        why
    }
}

impl Candidate {
    fn hint(
        &self,
        reach: Reach,
        ids: &[String],
        inside: &[bool],
        fit: Fit,
        systems: &[System<'_>],
        matrix: &Matrix,
    ) -> Hint {
        let mut order: Vec<usize> = (0..systems.len()).collect();
        order.sort_by(|a, b| fit.fitted[*b].total_cmp(&fit.fitted[*a]).then(a.cmp(b)));
        let value = |system: usize| (self.values[system].clone(), systems[system].name.to_owned());
        let values: Vec<(String, Vec<String>)> = order.into_iter().map(value).grouped();
        let ends = [values.first(), values.last()].map(|end| end.map_or(0, |(_, letters)| letters.len()));
        let tests = ids.iter().zip(inside).filter(|(_, inside)| **inside).map(|(id, _)| id.clone()).collect();
        let chance = matrix.chance(&self.grouping, inside);
        Hint {
            name: self.name.clone(),
            label: self.label.clone(),
            values,
            reach,
            tests,
            effect: 100.0 * (-fit.size).exponential_less_1(),
            fit: fit.fit,
            rests_on: ends[0].min(ends[1]),
            chance,
            also: Vec::new(),
        }
    }

    /// Returns true if two systems have the same value of this fact exactly where they have the same of the hint's.
    fn splits_like(&self, hint: &Hint, systems: &[System<'_>]) -> bool {
        let group = |letter: &str| hint.values.iter().position(|(_, letters)| letters.iter().any(|one| one == letter));
        let pairs = (0..systems.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        { pairs }.all(|(a, b)| (self.values[a] == self.values[b]) == (group(systems[a].name) == group(systems[b].name)))
    }
}

/// Returns the tests that all systems have with an interval, and their figures.
fn matrix(systems: &[System<'_>]) -> (Vec<String>, Matrix) {
    let (mut ids, mut matrix) = (Vec::new(), Matrix::default());
    for (key, unit, metric, _) in systems.first().map_or(&[][..], |first| &first.scores) {
        let of = |system: &System<'_>| {
            let score = system.score(key, unit)?;
            let good = Measure::Score.goodness(*metric, score.value);
            let error = (score.high / score.low).natural_log() / (2.0 * stats::NORMAL_975);
            (score.bounded() && score.low > 0.0 && good.is_finite()).then_some((good, error))
        };
        if let Some(figures) = systems.iter().map(of).collect::<Option<Vec<(f64, f64)>>>() {
            ids.push(key.test.clone());
            matrix.push(figures);
        }
    }
    (ids, matrix)
}

/// Returns the facts that differ, that all systems tell, and that more than one has in common unless they are numbers.
fn candidates(systems: &[System<'_>]) -> Vec<Candidate> {
    let first = systems.iter().take(1).flat_map(|first| first.facts.iter().copied());
    let facts = first.filter(|fact| !fact.is_of_a_moment()).map(|fact| (fact.name.as_str(), fact.label.as_str()));
    facts.chain([BUILD]).filter_map(|named| candidate(named, systems)).collect()
}

/// Returns a fact as a candidate; `None` if it tells systems apart by their names, or a system lacks it.
fn candidate((name, label): (&str, &str), systems: &[System<'_>]) -> Option<Candidate> {
    if IDENTITY.iter().any(|start| name.starts_with(start)) {
        return None;
    }
    let value = |system: &System<'_>| match name == BUILD.0 {
        true => system.build.clone(),
        false => system.fact(name).map(|fact| fact.value.clone()),
    };
    let number = |system: &System<'_>| {
        let quantity = system.fact(name)?.quantity.as_ref()?;
        Some(quantity.number.natural_log()).filter(|log| log.is_finite())
    };
    let values: Vec<String> = systems.iter().map(value).collect::<Option<_>>()?;
    let numbers: Option<Vec<f64>> = systems.iter().map(number).collect();
    let grouping = Grouping::new(&values, numbers)?;
    Some(Candidate { name: name.to_owned(), label: label.to_owned(), values, grouping })
}
