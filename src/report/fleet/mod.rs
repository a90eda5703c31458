//! TEMP
use crate::analysis::fleet::FleetReport;
use crate::fleet::Entry;
pub(crate) fn headline(_r: &FleetReport, _e: &[Entry]) -> Vec<String> {
    vec!["temp".to_owned()]
}
pub fn html(r: &FleetReport, e: &[Entry]) -> anyhow::Result<String> {
    super::html::fleet::render(r, e)
}
