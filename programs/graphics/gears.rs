//! UnixBench's 2D tests.

use crate::kit::{Kit, Stop};

pub fn run(_kit: &mut Kit) -> Result<(), Stop> {
    Err(Stop::Skip("not yet".to_owned()))
}
