//! How numbers, durations, sizes and lists are written, once for all outputs.
//!
//! Nothing here knows what a number means. Every report, message and terminal line formats through
//! these functions, so no output can lose digits that another one shows.

mod clean;
mod distinct;
mod list;
mod nearest;
mod number;
mod size;
mod time;
mod wrap;

pub use clean::{
    ascii, beginning, clean, csv_field, first_sentence, json_text, log_lines, shell, shortened,
    visible,
};
pub use distinct::{Distinct, distinct};
pub use list::{
    Grouped, Unique, copies, count, either, end_sentence, free_name, hosts, listed, merged, plural,
};
pub use nearest::{mentions, nearest};
pub use number::{
    MIN_MULTIPLE, at_least, change, change_like, coefficient, compact, factor, figure, fine, gain,
    is_factor, joules, known, millionths, percent, percentage, plus_minus, probability, score,
    share, short, signed, signed_fine, tenth, whole,
};
pub use size::{bytes, bytes_per_second};
pub use time::{clock, duration, nanoseconds, seconds, suited_unit, uptime};
pub use wrap::{WIDTH, Wrapped, width, wrap};

/// The stand-in for a number that is not there.
pub const NOTHING: &str = "-";
