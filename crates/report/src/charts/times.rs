//! Points over time on a logarithmic axis.

use super::plot::{Axis, Mark, Plot, Series, highest};
use super::scale::Scale;
use words::{duration, figure};

/// Points of one series.
pub(crate) struct Cloud {
    /// The number of its series.
    pub(crate) number: usize,
    /// What they are of.
    pub(crate) name: String,
    /// Seconds and values.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Returns the chart of at most about `most` of the highest points, and how many points these are;
/// `None` if there are none.
pub(crate) fn plot(label: String, clouds: &[Cloud], unit: &str, most: usize) -> Option<(Plot, usize)> {
    let each = (most / clouds.len().max(1)).max(2);
    let mark = |cloud: &Cloud, at: (f64, f64)| Mark {
        at,
        title: format!("{}, {}: {} {unit}", cloud.name, duration(at.0), figure(at.1)),
        ..Mark::default()
    };
    let series: Vec<Series> = clouds
        .iter()
        .map(|cloud| Series {
            number: cloud.number,
            title: cloud.name.clone(),
            marks: highest(&cloud.points, each).into_iter().map(|point| mark(cloud, point)).collect(),
            ..Series::default()
        })
        .collect();
    let values: Vec<f64> = series.iter().flat_map(|series| &series.marks).map(|mark| mark.at.1).collect();
    let end = series.iter().flat_map(|series| &series.marks).map(|mark| mark.at.0).fold(0.0, f64::max);
    let y = Axis::new(Scale::log(&values, &[])?);
    Some((Plot { label, x: Axis::time(end), y, series, ..Plot::default() }, values.len()))
}
