//! Which of many commits made a command slower: a search by halves that allows for wrong answers.
//!
//! One commit is to blame, each as likely as another at first. A comparison of two revisions shows the whole change if
//! that commit lies between them, and none if not. What it measures deviates from that as Student's t with four degrees
//! of freedom: by its own error, and by a tenth of the change, as the other commits shift what is measured. Such tails
//! keep any single comparison from being believed beyond all others. Bayes' rule makes each commit's chance of these;
//! what is compared next parts the chances most evenly, so a wrong answer is found out by later ones.

use std::collections::{BTreeMap, BTreeSet};

use stats::{Estimate, Exact, NORMAL_975};

/// The chance that ends a search.
const CERTAIN: f64 = 0.99;

/// The chance from which what was before a change is compared with what came after it.
const LIKELY: f64 = 0.9;

/// The change that the other commits may make, as a share of the change that is looked for.
const SCATTER: f64 = 0.1;

/// Degrees of freedom of a comparison's deviation.
const FREEDOM: f64 = 4.0;

/// The state of a search. Revisions are numbered from the good end, 0, to the bad one; commit c is what makes revision
/// c of c − 1.
#[derive(Debug, Clone)]
pub struct Search {
    last: usize,
    /// Revisions that cannot be measured.
    skipped: BTreeSet<usize>,
    /// Changes of the logarithm of the time and 1 ÷ their squared errors, by the two revisions.
    evidence: BTreeMap<(usize, usize), Vec<(f64, f64)>>,
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Compare a revision with both ends.
    Halve(usize),
    /// Compare what was before a likely change with what came after it.
    Confirm(Span),
    /// Nothing: the chance is high enough, or too many comparisons have not made it so.
    End(Span),
}

/// The commits after one revision and up to another: one, unless revisions between them cannot be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The last revision before the change.
    pub before: usize,
    /// The first with it.
    pub after: usize,
}

impl Search {
    /// Returns the search for one of `last` commits.
    pub fn new(last: usize) -> Search {
        Search { last, skipped: BTreeSet::new(), evidence: BTreeMap::new() }
    }

    /// Adds a comparison: by how many per cent the time changed from the first revision to the second. The ends come
    /// first.
    pub fn add(&mut self, revisions: (usize, usize), change: Estimate) {
        let Estimate { value, low, high } = change.map(|percent| (percent / 100.0).log_of_1_plus());
        let error = (high - low) / 2.0 / NORMAL_975;
        if value.is_finite() && error.is_finite() {
            self.evidence.entry(revisions).or_default().push((value, error.max(f64::EPSILON).powi(-2)));
        }
    }

    /// Leaves out a revision that cannot be measured.
    pub fn skip(&mut self, revision: usize) {
        self.skipped.insert(revision);
    }

    /// Returns the change of the time from one end to the other, as a share.
    pub fn change(&self) -> f64 {
        self.whole().exponential_less_1()
    }

    fn whole(&self) -> f64 {
        self.evidence.get(&(0, self.last)).map_or(0.0, |values| pooled(values).0)
    }

    /// Returns each commit's chance to be the one, from the first after the good end.
    pub fn chances(&self) -> Vec<f64> {
        let whole = self.whole();
        let scatter = (SCATTER * whole).powi(2);
        let pairs = self.evidence.iter().filter(|(revisions, _)| **revisions != (0, self.last));
        let pairs: Vec<_> = pairs.map(|(revisions, values)| (*revisions, pooled(values))).collect();
        let log = |commit: usize| -> f64 {
            let of_pair = |((from, to), (change, weight)): &((usize, usize), (f64, f64))| {
                let expected = if *from < commit && commit <= *to { whole } else { 0.0 };
                let squared = (change - expected).powi(2) / (weight.recip() + scatter);
                -(FREEDOM + 1.0) / 2.0 * (squared / FREEDOM).log_of_1_plus()
            };
            pairs.iter().map(of_pair).sum()
        };
        let logs: Vec<f64> = (1..=self.last).map(log).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = logs.iter().map(|log| (log - most).exponential()).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| share / sum).collect()
    }

    /// Returns the chance that the change is among some commits.
    pub fn chance(&self, span: Span) -> f64 {
        self.chances()[span.before..span.after].iter().sum()
    }

    /// Returns true if a chance ends a search.
    pub fn is_certain(&self, span: Span) -> bool {
        self.chance(span) >= CERTAIN
    }

    /// Returns what is to be done next.
    pub fn next(&self) -> Next {
        let chances = self.chances();
        let usable: Vec<usize> = (1..self.last).filter(|revision| !self.skipped.contains(revision)).collect();
        let ends = [&[0], &usable[..], &[self.last]].concat();
        let chance = |span: &Span| -> f64 { chances[span.before..span.after].iter().sum() };
        let spans = ends.windows(2).map(|ends| Span { before: ends[0], after: ends[1] });
        let first = Span { before: 0, after: self.last };
        let span = spans.max_by(|a, b| chance(a).total_cmp(&chance(b))).unwrap_or(first);
        let is_compared = self.evidence.contains_key(&(span.before, span.after));
        if !is_compared && chance(&span) >= LIKELY {
            return Next::Confirm(span);
        }
        let most = 8 + 3 * self.last.ilog2() as usize;
        if chance(&span) >= CERTAIN || self.evidence.values().map(Vec::len).sum::<usize>() >= 2 * most {
            return Next::End(span);
        }
        let gain = |revision: &usize| {
            let below: f64 = chances[..*revision].iter().sum();
            let times = self.evidence.get(&(0, *revision)).map_or(0, Vec::len);
            below.min(1.0 - below) / (1 + times) as f64
        };
        let best = usable.into_iter().max_by(|a, b| gain(a).total_cmp(&gain(b)));
        best.map_or(Next::End(span), Next::Halve)
    }
}

/// Returns the mean of changes by their weights, and its weight.
fn pooled(values: &[(f64, f64)]) -> (f64, f64) {
    let weight: f64 = values.iter().map(|(_, weight)| weight).sum();
    (values.iter().map(|(change, weight)| change * weight).sum::<f64>() / weight, weight)
}
