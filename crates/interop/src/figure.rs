//! The figures of another benchmark, as `import` and `ab --harness` share them.
//!
//! A format's reader makes a [`Reading`] of each run that a text holds: the figures, and the host,
//! date and facts that the text has. A figure has its values, and the reason for each repetition
//! that has none. `import` makes cells and trials of a reading (`Draft::add_reading`), `ab` the
//! printed figures of an execution ([`Reading::into_measurements`]), so both read the same.
//!
//! A number comes out of a text by [`parse_number`], and out of JSON by [`json_number`], where it
//! may be missing; by [`parse_outcome`] and [`json_outcome`], where the reason for its absence is
//! reported.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::plain::{clean_text, excerpt};
use catalogue::Metric;
use journal::NoValue;

/// Maximum figures of a text; the largest suites have some thousands.
pub(crate) const MAX_MEASUREMENTS: usize = 10_000;

/// Maximum values of a figure; where a program prints more, neighbours are averaged.
const MAX_VALUES: usize = 1000;

const MAX_NAME_CHARS: usize = 1000;

/// Characters that a longer name keeps, before the mark in place of its end.
const KEPT_NAME_CHARS: usize = 900;

/// Maximum magnitude of a value: more than anything that is measured, and sums of thousands of such
/// numbers are still finite.
const MAX_MAGNITUDE: f64 = 1e100;

/// The heading under which another suite prints a number.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Heading<'u> {
    /// The suite's own name for it.
    pub label: String,
    /// The number of copies or threads behind it.
    pub copies: u32,
    pub unit: &'u str,
    pub metric: Metric,
}

impl<'u> Heading<'u> {
    /// A higher-is-better figure at one copy.
    pub fn rate(label: impl Into<String>, unit: &'u str) -> Heading<'u> {
        Heading { label: label.into(), copies: 1, unit, metric: Metric::Rate }
    }

    /// A lower-is-better figure at one copy.
    pub fn time(label: impl Into<String>, unit: &'u str) -> Heading<'u> {
        Heading { metric: Metric::Time, ..Heading::rate(label, unit) }
    }

    /// The heading of the figure at several copies; of 0 as of one.
    pub fn with_copies(self, copies: u32) -> Heading<'u> {
        Heading { copies: copies.max(1), ..self }
    }
}

/// A figure that a benchmark program printed, once or repeatedly.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The program's own name for it, with its parameters; unique in a text at its number of
    /// copies and unit.
    pub name: String,
    /// Empty where the format has none.
    pub unit: String,
    /// Its direction.
    pub metric: Metric,
    /// The copies or threads behind it.
    pub copies: u32,
    /// One value a repetition.
    pub values: Vec<f64>,
    /// Why a repetition has no value.
    pub gaps: Vec<NoValue>,
}

/// The facts in which two machines differ, and two parts of one run do not.
const MACHINE_FACTS: [&str; 3] = ["cpu.model", "system.architecture", "system.os"];

/// One number of a figure, or the reason why there is none.
pub(crate) type Outcome = Result<f64, NoValue>;

/// One run of a text, as far as the text describes it.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Distinguishes this run from the others of its text; empty if it is the only one.
    pub label: String,
    pub host: String,
    /// The words of the text for its date.
    pub date: String,
    /// Processors online; 0 where the text does not say.
    pub cpus: usize,
    /// Name, label, group and value of facts of the machine.
    pub facts: Vec<[String; 4]>,
    /// Warnings for the report.
    pub notes: Vec<String>,
    figures: Vec<Measurement>,
    /// The index of each figure in `figures`, by its name, copies and unit.
    places: BTreeMap<(String, u32, String), usize>,
    /// True if there were more than [`MAX_MEASUREMENTS`].
    pub is_overfull: bool,
}

impl Reading {
    /// Adds a value, or the reason why there is none, to the figure of this heading.
    ///
    /// A figure of the same name in another unit is a figure of its own: the unit is added to its
    /// name, or `#2` if it has no unit.
    pub fn add_outcome(&mut self, heading: &Heading<'_>, outcome: Outcome) {
        let (mut name, unit) = (clean_name(&heading.label), clean_name(heading.unit));
        if !self.places.contains_key(&(name.clone(), heading.copies, unit.clone()))
            && self.has_name(&name, heading.copies)
        {
            name = format!("{name} {}", if unit.is_empty() { "#2" } else { &unit });
        }

        let Some(place) = self.find_or_add(name, unit, heading) else {
            self.is_overfull = true;
            return;
        };
        match check_measurable(outcome) {
            Ok(value) => self.figures[place].values.push(value),
            Err(gap) => self.figures[place].gaps.push(gap),
        }
    }

    /// Finds or adds the figure of a heading, whose name and unit are given as they are kept: its
    /// index, or `None` if there are too many figures.
    fn find_or_add(&mut self, name: String, unit: String, heading: &Heading<'_>) -> Option<usize> {
        let key = (name.clone(), heading.copies, unit.clone());
        if let Some(place) = self.places.get(&key) {
            return Some(*place);
        }
        if self.figures.len() == MAX_MEASUREMENTS {
            return None;
        }

        let place = self.figures.len();
        self.places.insert(key, place);
        self.figures.push(Measurement {
            name,
            unit,
            metric: heading.metric,
            copies: heading.copies,
            values: Vec::new(),
            gaps: Vec::new(),
        });
        Some(place)
    }

    /// True if a figure has this name at this number of copies, in any unit.
    pub fn has_name(&self, name: &str, copies: u32) -> bool {
        // Keys are in the order of name, copies and unit, and no unit is before the empty one.
        let first = (name.to_owned(), copies, String::new());
        let next = self.places.range(first..).next();
        next.is_some_and(|((other, at, _), _)| (other.as_str(), *at) == (name, copies))
    }

    /// Adds several repetitions.
    pub fn add_outcomes(
        &mut self,
        heading: &Heading<'_>,
        outcomes: impl IntoIterator<Item = Outcome>,
    ) {
        for outcome in outcomes {
            self.add_outcome(heading, outcome);
        }
    }

    /// Notes a fact of the machine, unless it is empty.
    pub fn add_fact(&mut self, name: &str, label: &str, group: &str, value: &str) {
        if !value.is_empty() {
            self.facts.push([name, label, group, value].map(str::to_owned));
        }
    }

    pub fn figures(&self) -> &[Measurement] {
        &self.figures
    }

    /// True if both have a figure of the same name, copies and unit.
    pub fn shares_figures_with(&self, other: &Reading) -> bool {
        self.places.keys().any(|key| other.places.contains_key(key))
    }

    /// True if both say what machine they are of, and it is not the same.
    pub fn is_of_another_machine_than(&self, other: &Reading) -> bool {
        let differ = |own: &str, other: &str| !own.is_empty() && !other.is_empty() && own != other;
        let has_other_cpus = self.cpus > 0 && other.cpus > 0 && self.cpus != other.cpus;
        has_other_cpus
            || differ(&self.host, &other.host)
            || MACHINE_FACTS.iter().any(|name| differ(self.fact(name), other.fact(name)))
    }

    /// The value of a fact; empty where it is not known.
    fn fact(&self, wanted: &str) -> &str {
        let fact = self.facts.iter().find(|[name, ..]| name == wanted);
        fact.map_or("", |[.., value]| value)
    }

    /// Adds the figures and notes of another reading of the same run.
    pub fn merge(&mut self, other: Reading) {
        for figure in other.figures {
            let heading = figure.heading();
            self.add_outcomes(&heading, figure.values.iter().copied().map(Ok));
            self.add_outcomes(&heading, figure.gaps.iter().cloned().map(Err));
        }
        self.notes.extend(other.notes);
        self.is_overfull |= other.is_overfull;
    }

    /// The figures, with [`MAX_VALUES`] values at most.
    pub fn into_figures(self) -> impl Iterator<Item = Measurement> {
        self.figures.into_iter().map(Measurement::with_means_of_neighbours)
    }

    /// As [`Reading::into_figures`], with the run's label in the names if it has one.
    pub fn into_measurements(self) -> impl Iterator<Item = Measurement> {
        let label = self.label;
        self.figures.into_iter().map(move |figure| {
            let figure = figure.with_means_of_neighbours();
            if label.is_empty() {
                return figure;
            }
            Measurement { name: shorten_name(&format!("{} [{label}]", figure.name)), ..figure }
        })
    }
}

impl Measurement {
    pub(crate) fn heading(&self) -> Heading<'_> {
        let Measurement { name, unit, copies, metric, .. } = self;
        Heading { label: name.clone(), copies: *copies, unit, metric: *metric }
    }

    /// The figure with means of neighbours in place of more than [`MAX_VALUES`] values.
    fn with_means_of_neighbours(mut self) -> Measurement {
        let neighbours = self.values.len().div_ceil(MAX_VALUES).max(1);
        self.values = self
            .values
            .chunks(neighbours)
            .map(|values| values.iter().sum::<f64>() / values.len() as f64)
            .collect();
        self.gaps.truncate(MAX_VALUES);
        self
    }
}

/// The number if it can have been measured: finite, and of a magnitude that sums can take.
pub(crate) fn check_measurable(outcome: Outcome) -> Outcome {
    match outcome? {
        value if value.is_nan() => Err(NoValue::Failed("it is NaN".to_owned())),
        value if value.is_infinite() => Err(NoValue::Failed("it is infinite".to_owned())),
        value if value.abs() > MAX_MAGNITUDE => {
            Err(NoValue::Failed(format!("{value:e} is more than can be measured")))
        }
        value => Ok(value),
    }
}

/// The number that a word is, of any sign, also NaN and infinite; `None` if it is none. A number
/// too large for 64 bits is infinite.
pub(crate) fn parse_number(word: &str) -> Option<f64> {
    let begins_like_number = word
        .trim_start_matches(['+', '-'])
        .starts_with(|c: char| c.is_ascii_digit() || c == '.' || "nNiI".contains(c));
    word.parse().ok().filter(|_| begins_like_number)
}

/// The number that a word should be, or the reason why it is none.
pub(crate) fn parse_outcome(word: &str) -> Outcome {
    let word = word.trim();
    parse_number(word).ok_or_else(|| NoValue::Failed(format!("it is '{}'", excerpt(word))))
}

/// The number that a value of JSON should be, or the reason why it is none.
pub(crate) fn json_outcome(value: &Value) -> Outcome {
    json_number(value).unwrap_or_else(|| Err(NoValue::Failed(describe_no_number(value))))
}

/// The reason that a value of JSON gives for not being a number.
fn describe_no_number(value: &Value) -> String {
    match value {
        Value::Null => "it is null".to_owned(),
        Value::Bool(word) => format!("it is {word}"),
        Value::String(word) => format!("it is the text '{}'", excerpt(&clean_text(word))),
        Value::Array(_) => "it is a list".to_owned(),
        Value::Object(_) => "it is an object".to_owned(),
        Value::Number(number) => format!("{number} is more than can be measured"),
    }
}

/// The number that a value of JSON is, also as a text, since some writers put a word where it is
/// not finite; `None` if it is neither. A number that cannot have been measured has its reason.
pub(crate) fn json_number(value: &Value) -> Option<Outcome> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(word) => parse_number(word.trim())?,
        _ => return None,
    };
    Some(check_measurable(Ok(number)))
}

/// A name that is short enough to be repeated in reports. A longer one keeps its beginning, and
/// gets a mark that differs from those of other names.
pub(crate) fn shorten_name(name: &str) -> String {
    if name.chars().nth(MAX_NAME_CHARS).is_none() {
        return name.to_owned();
    }

    let kept: String = name.chars().take(KEPT_NAME_CHARS).collect();
    // The keys of this hasher are fixed, so a name has the same mark in every run.
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    format!("{kept}… ({} bytes, {:016x})", name.len(), hasher.finish())
}

/// A name as it is shown. It is shortened first, since it may be all of a file.
fn clean_name(name: &str) -> String {
    shorten_name(&clean_text(&shorten_name(name)))
}

/// A sentence that names a figure of which `missing` of `repetitions` have no value.
pub(crate) fn describe_gap(
    label: &str,
    gap: &NoValue,
    missing: usize,
    repetitions: usize,
) -> String {
    let label = excerpt(label);
    let is_skipped = matches!(gap, NoValue::Skipped(_));
    let reason = gap.reason();
    if missing == repetitions {
        let verb = if is_skipped { "was skipped" } else { "has no value" };
        return format!("'{label}' {verb}: {reason}");
    }

    let verb = if is_skipped { "skipped" } else { "left out" };
    match missing {
        1 => format!("one of {repetitions} values of '{label}' was {verb}: {reason}"),
        _ => format!("{missing} of {repetitions} values of '{label}' were {verb}: {reason}"),
    }
}
