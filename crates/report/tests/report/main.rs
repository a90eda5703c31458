//! Every form of a report: what recorded runs look like, and that a page is safe, complete and bounded whatever a journal holds.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

extern crate unixmark_report as report;

mod golden;
mod html;
