//! Conditions: what may be switched on the machine around a measurement.
//!
//! The axis stands; the catalogue has only `none` yet, the machine as it was found.
