//! Charts as SVG. They draw what views hand them; every number they show stands in a table too.
//!
//! Two frames serve all: [`rows`] has marks with intervals in rows on one axis, [`plot`] points and lines on two.

pub(crate) mod executions;
pub(crate) mod forest;
pub(crate) mod index;
pub(crate) mod percentiles;
pub(crate) mod plot;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod spread;
pub(crate) mod svg;

pub(crate) use svg::key;
