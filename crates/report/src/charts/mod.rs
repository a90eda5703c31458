//! Charts as SVG. They draw what views hand them; every number that they show is in a table too.
//!
//! Two frames draw all charts but one. [`rows`] has rows on one axis, with marks and their
//! intervals in each; [`plot`] has points and lines on two axes. The other charts are recipes for a
//! frame: [`forest`] and [`index`] fill rows; [`executions`], [`percentiles`] and [`spread`] fill a
//! plot. [`flame`] has no axis, but functions within those that call them.
//!
//! Below the frames, [`scale`] turns values into places on an axis, and [`svg`] writes elements. A
//! series is a number, from which [`svg`] derives its hue and its shape, so that it looks the same
//! in all charts of a page.

pub(crate) mod executions;
pub(crate) mod flame;
pub(crate) mod forest;
pub(crate) mod index;
pub(crate) mod percentiles;
pub(crate) mod plot;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod spread;
pub(crate) mod svg;

pub use svg::Drawings;
pub(crate) use svg::key;
