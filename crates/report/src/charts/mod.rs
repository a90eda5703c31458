//! Charts as SVG. They draw what views hand them; every number they show stands in a table too.

pub(crate) mod copies;
pub(crate) mod dots;
pub(crate) mod forest;
pub(crate) mod index;
pub(crate) mod percentiles;
pub(crate) mod plot;
pub(crate) mod scale;
pub(crate) mod spread;
pub(crate) mod strips;
pub(crate) mod svg;
pub(crate) mod times;

pub(crate) use svg::key;
