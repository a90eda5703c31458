//! Latency against offered load: how a server answers when requests come at one rate after another.

use crate::figures::{Figure, Latency};
use crate::findings::Results;
use journal::{Cell, Key};
use stats::Estimate;
use words::Grouped;

/// The shortfall from which on a server is saturated. A queue that happens to be longer when the
/// window ends causes less.
const MIN_SATURATED_SHORTFALL: f64 = 0.02;

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

/// A server at its highest rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Saturation {
    /// It answers this many requests per second, however many come: the knee of the curve.
    At(Estimate),
    /// It answers all requests.
    Above(f64),
    /// The interval is too wide to tell, at this rate.
    Unknown(f64),
}

impl Curve<'_> {
    /// Returns whether the server is saturated at its highest rate, and at how many requests per
    /// second.
    pub fn saturation(&self) -> Saturation {
        let Some(last) = self.points.last() else {
            return Saturation::Unknown(f64::NAN);
        };
        let least = last.offered * (1.0 - MIN_SATURATED_SHORTFALL);
        match last.answered {
            answered if answered.bounded() && answered.high < least => Saturation::At(answered),
            answered if answered.bounded() && answered.low >= least => {
                Saturation::Above(last.offered)
            }
            _ => Saturation::Unknown(last.offered),
        }
    }
}

/// Returns the servers that were measured at several rates.
pub fn curves<'a>(results: &'a Results) -> Vec<Curve<'a>> {
    let servers = results
        .figures
        .iter()
        .filter_map(at)
        .map(|point| (server(&point.figure.cell.key), point))
        .grouped();
    let several = servers.into_iter().filter(|(_, points)| points.len() > 1);
    let curve = |(_, mut points): (Key, Vec<Offered<'a>>)| {
        points.sort_by(|a, b| a.offered.total_cmp(&b.offered));
        Curve { first: &points[0].figure.cell, points }
    };
    several.map(curve).collect()
}

fn at(figure: &Figure) -> Option<Offered<'_>> {
    let latency = figure.latency.as_deref()?;
    let requests = latency.requests?;
    Some(Offered { figure, latency, offered: requests.offered?, answered: requests.answered })
}

/// Returns a key without the share of its test: `requests-open:share=25`.
fn server(key: &Key) -> Key {
    let words: Vec<&str> = key.test.split(':').filter(|word| !word.starts_with("share=")).collect();
    Key { test: words.join(":"), ..key.clone() }
}
