//! Every form of a report: what recorded runs look like, and that a page is safe, complete and
//! bounded whatever a journal holds.

#![cfg(test)]

extern crate unixmark_report as report;

mod ab;
mod bill;
mod brief;
mod card;
mod commit;
mod cut;
mod dashboards;
mod flames;
mod formats;
mod golden;
mod hostile;
mod html;
mod junit;
mod scaling;
mod small_times;
mod svg;
mod unixbench;
