//! Charts as SVG. They draw what views hand them; every number they show stands in a table too.
//!
//! Two frames serve all: [`rows`] has marks with intervals in rows on one axis, [`plot`] points and lines on two.

pub(crate) mod forest;
pub(crate) mod index;
pub(crate) mod percentiles;
pub(crate) mod plot;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod spread;
pub(crate) mod svg;

pub(crate) use svg::key;

/// Returns the items of several lists in one order: each behind the one before it in its list, so that one that the first list
/// lacks is in its place all the same.
pub(crate) fn merged<T: PartialEq + Copy>(lists: impl IntoIterator<Item = Vec<T>>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for list in lists {
        let mut after = 0;
        for item in list {
            let place = all.iter().position(|known| *known == item);
            let place = place.unwrap_or_else(|| {
                all.insert(after, item);
                after
            });
            after = place + 1;
        }
    }
    all
}
