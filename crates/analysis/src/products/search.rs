//! Which of many commits made a command slower: a search by halves that allows for wrong answers.
//!
//! One commit is to blame, and at first each is as likely as another. The search repeats:
//!
//! 1. *Compare* two revisions. The comparison shows the whole change if the commit to blame lies
//!    between them, and none if not. What it measures deviates from that as Student's t with four
//!    degrees of freedom: by its own error, and by a tenth of the change, as the other commits
//!    shift what is measured. Such tails keep any single comparison from being believed beyond all
//!    others.
//! 2. *Conclude*: by Bayes' rule every commit gets its chance ([`Search::chances`]).
//! 3. *Choose* what is compared next ([`Search::next`]): the revision that parts the chances most
//!    evenly, so that a wrong answer is found out by later ones.

use std::collections::{BTreeMap, BTreeSet};

use stats::{Estimate, Exact, NORMAL_975};

/// The chance that ends a search.
const CERTAIN_CHANCE: f64 = 0.99;

/// The chance from which the revision before a change is compared with the one after it.
const LIKELY_CHANCE: f64 = 0.9;

/// The change that the other commits may make, as a share of the change that is looked for.
const SCATTER_SHARE: f64 = 0.1;

/// Degrees of freedom of a comparison's deviation.
const DEGREES_OF_FREEDOM: f64 = 4.0;

/// A search compares at most this many revisions with both ends, and more for each doubling of the
/// number of commits.
const MAX_REVISIONS: usize = 8;
const MAX_REVISIONS_PER_DOUBLING: usize = 3;

/// The state of a search. Revisions are numbered from the good end, 0, to the bad one; commit c
/// turns revision c − 1 into c.
#[derive(Debug, Clone)]
pub struct Search {
    /// The bad end.
    last: usize,
    /// Revisions that cannot be measured.
    skipped: BTreeSet<usize>,
    /// The comparisons of each two revisions.
    evidence: BTreeMap<(usize, usize), Vec<Change>>,
}

/// A measured change of the time, as a logarithm.
#[derive(Debug, Clone, Copy)]
struct Change {
    log: f64,
    /// 1 ÷ the squared error of `log`.
    weight: f64,
}

impl Change {
    /// The weighted mean of changes.
    fn mean(changes: &[Change]) -> Change {
        let weight: f64 = changes.iter().map(|change| change.weight).sum();
        let sum = changes.iter().map(|change| change.log * change.weight).sum::<f64>();
        Change { log: sum / weight, weight }
    }
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Compare a revision with both ends.
    Halve(usize),
    /// Compare the revision before a likely change with the one after it.
    Confirm(Span),
    /// Stop: the chance is high enough, or too many comparisons have not made it so.
    End(Span),
}

/// The commits after one revision and up to another: one, unless revisions between them cannot be
/// measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The last revision before the change.
    pub before: usize,
    /// The first revision with the change.
    pub after: usize,
}

impl Span {
    /// The chance of its commits, given that of each.
    fn chance(self, chances: &[f64]) -> f64 {
        chances[self.before..self.after].iter().sum()
    }
}

impl Search {
    /// A search for one of `last` commits.
    pub fn new(last: usize) -> Search {
        Search { last, skipped: BTreeSet::new(), evidence: BTreeMap::new() }
    }

    /// Adds a comparison: by how many per cent the time changed from the first revision to the
    /// second. The first comparison is of the two ends.
    pub fn add(&mut self, revisions: (usize, usize), change: Estimate) {
        let Estimate { value: log, low, high } =
            change.map(|percent| (percent / 100.0).log_of_1_plus());
        let error = (high - low) / 2.0 / NORMAL_975;
        if log.is_finite() && error.is_finite() {
            let weight = error.max(f64::EPSILON).powi(-2);
            self.evidence.entry(revisions).or_default().push(Change { log, weight });
        }
    }

    /// Leaves out a revision that cannot be measured.
    pub fn skip(&mut self, revision: usize) {
        self.skipped.insert(revision);
    }

    /// The change of the time from one end to the other, as a share.
    pub fn change(&self) -> f64 {
        self.whole_change().exponential_less_1()
    }

    /// The logarithm of the change from one end to the other.
    fn whole_change(&self) -> f64 {
        self.evidence.get(&(0, self.last)).map_or(0.0, |changes| Change::mean(changes).log)
    }

    /// The chance of each commit to be the one, from the first after the good end.
    pub fn chances(&self) -> Vec<f64> {
        let log_likelihoods: Vec<f64> =
            (1..=self.last).map(|commit| self.log_likelihood(commit)).collect();
        // Relative to the likeliest, since the likelihoods themselves may be too small for a float.
        let highest = log_likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let likelihoods: Vec<f64> =
            log_likelihoods.iter().map(|log| (log - highest).exponential()).collect();
        let sum: f64 = likelihoods.iter().sum();
        likelihoods.iter().map(|likelihood| likelihood / sum).collect()
    }

    /// The log-likelihood of the evidence if `commit` is to blame. The comparison of the two ends
    /// says nothing about that.
    fn log_likelihood(&self, commit: usize) -> f64 {
        let whole = self.whole_change();
        let scatter = (SCATTER_SHARE * whole).powi(2);
        let pairs = self.evidence.iter().filter(|(revisions, _)| **revisions != (0, self.last));
        pairs
            .map(|((from, to), changes)| {
                let Change { log, weight } = Change::mean(changes);
                let expected = if *from < commit && commit <= *to { whole } else { 0.0 };
                let squared = (log - expected).powi(2) / (weight.recip() + scatter);
                -(DEGREES_OF_FREEDOM + 1.0) / 2.0 * (squared / DEGREES_OF_FREEDOM).log_of_1_plus()
            })
            .sum()
    }

    /// The chance that the change is among some commits.
    pub fn chance(&self, span: Span) -> f64 {
        span.chance(&self.chances())
    }

    /// True if the chance of some commits ends a search.
    pub fn is_certain(&self, span: Span) -> bool {
        self.chance(span) >= CERTAIN_CHANCE
    }

    /// What is to be done next.
    pub fn next(&self) -> Next {
        let chances = self.chances();
        let usable: Vec<usize> =
            (1..self.last).filter(|revision| !self.skipped.contains(revision)).collect();
        let span = self.likeliest_span(&usable, &chances);
        let chance = span.chance(&chances);

        let is_compared = self.evidence.contains_key(&(span.before, span.after));
        if !is_compared && chance >= LIKELY_CHANCE {
            return Next::Confirm(span);
        }
        if chance >= CERTAIN_CHANCE || self.comparisons() >= self.max_comparisons() {
            return Next::End(span);
        }

        // A revision that was compared before is less worth comparing again.
        let gain = |revision: usize| {
            let below: f64 = chances[..revision].iter().sum();
            let times_compared = self.evidence.get(&(0, revision)).map_or(0, Vec::len);
            below.min(1.0 - below) / (1 + times_compared) as f64
        };
        let best = usable.into_iter().max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
        best.map_or(Next::End(span), Next::Halve)
    }

    /// The commits between two neighbours among the ends and the `usable` revisions that are the
    /// likeliest.
    fn likeliest_span(&self, usable: &[usize], chances: &[f64]) -> Span {
        let revisions = [&[0], usable, &[self.last]].concat();
        let spans = revisions.windows(2).map(|ends| Span { before: ends[0], after: ends[1] });
        spans
            .max_by(|a, b| a.chance(chances).total_cmp(&b.chance(chances)))
            .unwrap_or(Span { before: 0, after: self.last })
    }

    fn comparisons(&self) -> usize {
        self.evidence.values().map(Vec::len).sum()
    }

    /// The number of comparisons that ends a search; halving adds two at a time.
    fn max_comparisons(&self) -> usize {
        2 * (MAX_REVISIONS + MAX_REVISIONS_PER_DOUBLING * self.last.ilog2() as usize)
    }
}
