//! Latency against offered load: how a server answers when requests come at one rate after another.

use super::{Figure, Latency, Results};
use journal::{Cell, Key};
use stats::Estimate;

/// Answers that are missing for this share of the requests mean that they come faster than they are answered: a queue that
/// is only longer at the end than at the beginning of a window hides less.
const LEFT_OVER: f64 = 0.02;

/// One rate of requests.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    /// The cell's result.
    pub figure: &'a Figure,
    /// Its latency.
    pub latency: &'a Latency,
    /// Requests per second that came.
    pub offered: f64,
    /// Requests per second that were answered.
    pub answered: Estimate,
}

/// A server under one load and condition, at several rates of requests.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// The cell of the lowest rate.
    pub first: &'a Cell,
    /// One per rate, lowest first.
    pub points: Vec<Offered<'a>>,
}

impl Curve<'_> {
    /// Returns the highest rate that is answered, in requests per second: what is answered of more than that. Nothing where
    /// all requests were answered, or where the interval does not say.
    #[must_use]
    pub fn knee(&self) -> Option<Estimate> {
        let last = self.points.last()?;
        let short = last.answered.bounded() && last.answered.high < last.offered * (1.0 - LEFT_OVER);
        short.then_some(last.answered)
    }
}

/// Returns the servers that were measured at several rates.
#[must_use]
pub fn curves(results: &Results) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for point in results.figures.iter().filter_map(at) {
        let cell = &point.figure.cell;
        match curves.iter_mut().find(|curve| same_server(&curve.first.key, &cell.key)) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { first: cell, points: vec![point] }),
        }
    }
    curves.retain(|curve| curve.points.len() > 1);
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    }
    curves
}

fn at(figure: &Figure) -> Option<Offered<'_>> {
    let latency = figure.latency.as_deref()?;
    let requests = latency.requests?;
    Some(Offered { figure, latency, offered: requests.offered?, answered: requests.answered })
}

/// Whether two keys differ by the arguments of their test alone: `requests-open:share=25`.
fn same_server(one: &Key, other: &Key) -> bool {
    let test = |key: &Key| Key { test: key.test.split(':').next().unwrap_or_default().to_owned(), ..key.clone() };
    test(one) == test(other)
}
