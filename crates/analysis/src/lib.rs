//! From a journal to results: scores, indexes and gains, with intervals and warnings; and from
//! results to comparisons. Pure.
//!
//! The crate has four floors, and each uses only those below it:
//!
//! 1. [`figures`]: one cell, from its trials to a figure with an interval.
//! 2. [`products`]: what the figures of a run come to together: indexes, scaling, and comparisons
//!    of conditions ([`cost`]) and of commands ([`pairs`]). [`comparison`] decides for all of them
//!    how two sides become an interval and a verdict.
//! 3. [`findings`]: the results of a run, and their summary.
//! 4. [`runs`]: several runs compared ([`compare`]), as a fleet ([`fleet`]) or over time.

pub mod figures;
pub mod findings;
pub mod products;
pub mod runs;

pub use figures::another;
pub use figures::{
    Another, Attribution, Best, Details, Drifting, Energy, Executed, Figure, FrameRates, HeldUp,
    Latency, Limit, Load, MIN_CALM_TRIALS, Measure, Missing, NOT_REACHED, Neighbour, Neighbours,
    PERCENTILES, QUANTILES, Quiet, Remark, Reported, Requests, Sample, Times, TrialFigures, Value,
    Widening, enough, estimate, estimates, is_printed, named,
};
pub use findings::{
    Before, Better, Curve, Findings, Offered, Reference, Results, Saturation, Summary,
    ask_direction, curves,
};
pub use products::comparison::{
    Comparison, Design, GeometricMean, Outcome, Pair, RATE, Scale, Sides, TwoSpeeds, Units, Unseen,
    Verdict, Worst, undirected,
};
pub use products::{
    Bill, BurnIn, Burst, Cause, Clock, Condition, CoolDown, Cooling, Core, Cost, Count, CountLimit,
    CountedFunction, Counts, Effect, Fall, Function, FunctionChange, FunctionChanges,
    FunctionInstructions, Functions, Gain, Held, Index, Item, Level, Losses, Memory,
    ModeComparison, ModeLevel, Need, Next, Part, Pattern, Planted, Power, Prediction, Price,
    PriceList, Range, Rise, SandboxStart, Scaling, Search, Sensor, Span, Spread, TrailFigures,
    UNIXBENCH_INDEX, comparison, cost, pairs, price_tests,
};
pub use runs::compare::{
    Asked, AtWork, Bar, Compared, ComparedCounts, Comparisons, Difference, Found, Gate, Machines,
    NotCompared, Place, Second, Suspect, Thesis, ThesisRow, Total, Work, unlike,
};
pub use runs::{
    Across, Change, Common, Dissent, Hint, Latest, Mark, Others, Point, Pooled, PooledRow,
    PooledRun, Reach, Series, Sorted, Standing, Step, System, SystemScore, Trend, Why, compare,
    fleet,
};
