//! The verdict on a difference: slower, faster, the same, or undecided.

/// The verdict of a comparison. Sizes are in the unit of the difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Takes longer, significantly and beyond the threshold.
    Slower,
    /// Takes less time.
    Faster,
    /// Meets fewer deadlines, or takes more energy, memory or another amount.
    Worse,
    /// Meets more deadlines, or takes less energy, memory or another amount.
    Better,
    /// Runs apart differ, but whether it is the machine that changed from run to run is not known.
    Differs,
    /// A difference is shown, and nobody knows which direction is better.
    Undirected,
    /// Any difference is smaller than this, which is no more than the threshold.
    Same(f64),
    /// Neither is shown; a difference of this size would have been seen in four of five such
    /// comparisons. Infinite without an interval.
    Undecided(f64),
}

impl Verdict {
    /// The word alone, for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Differs => "differs",
            Verdict::Undirected => "undirected",
            Verdict::Same(_) => "same",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// Returns true if a difference is shown.
    pub fn is_decided(&self) -> bool {
        !matches!(self, Verdict::Same(_) | Verdict::Undecided(_))
    }

    /// Returns true if it is slower or worse.
    pub fn is_loss(&self) -> bool {
        matches!(self, Verdict::Slower | Verdict::Worse)
    }

    /// The limit of `Same`, or the size that `Undecided` would have detected; `None` otherwise.
    pub fn size(&self) -> Option<f64> {
        match self {
            Verdict::Same(size) | Verdict::Undecided(size) => Some(*size),
            _ => None,
        }
    }
}
