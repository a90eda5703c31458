//! The content of a table's cell: for people in words, for programs as values.

use serde::Serialize;
use serde_json::{Map, Value};

use stats::Estimate;

/// The way a number is written for people; programs get all its digits. The functions are in `words`.
pub type Style = fn(f64) -> String;

/// The quality of a figure, which pages show as a colour: from -5, far worse, to 3, far better; 0 is ordinary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tone(pub i8);

impl Tone {
    /// The look of a field that has no figure where there should be one.
    pub const GAP: Tone = Tone(i8::MIN);
}

/// The content of a cell.
#[derive(Debug, Clone, Default)]
pub enum Field {
    /// Nothing: empty for people, absent for programs.
    #[default]
    Nothing,
    /// No number where one might be: `-`, null.
    Missing,
    Text(String),
    /// Words that programs know by another value.
    Worded(String, Value),
    Count(u64),
    /// A number; `-` and null where it is not finite.
    Number(f64, Style),
    /// A number followed by its unit without a gap: `-3.0pt`.
    Suffixed(f64, Style, &'static str),
    /// An estimate: people see the digits of the value that its interval leaves, programs all of them and the
    /// interval's ends.
    Estimate(Estimate, Style),
    /// The halves of an estimate's interval, `±1.2%` or `-3/+17%`, which programs compute themselves.
    Spread(Estimate),
    /// The ends of an estimate's interval, which programs have with the estimate.
    Interval(Estimate, Style),
    /// True or false: `yes`, `no`.
    Flag(bool),
    /// Remarks: numbered footnotes for people, sentences for programs.
    Marks(Vec<String>),
    /// Several words: separated by semicolons, an array in JSON.
    Words(Vec<String>),
    /// A bar as long as this share of the longest, from -1 to 1; at a terminal one below 0 is made of `+`.
    Bar(f64),
    /// A field with a colour, and more about it where a page has room for it.
    Toned(Box<Field>, Tone, String),
    /// Fewer words for 80 columns, and the field that others have.
    Narrow(String, Box<Field>),
    /// Something only programs want.
    Data(Value),
}

impl Field {
    pub fn text(text: impl Into<String>) -> Field {
        Field::Text(text.into())
    }

    /// Returns a number, or [`Field::Missing`].
    pub fn maybe(value: Option<f64>, style: Style) -> Field {
        value.map_or(Field::Missing, |value| Field::Number(value, style))
    }

    /// Returns an estimate, or [`Field::Missing`].
    pub fn estimate(estimate: Option<Estimate>, style: Style) -> Field {
        estimate.map_or(Field::Missing, |estimate| Field::Estimate(estimate, style))
    }

    /// Returns a field with fewer words for 80 columns.
    pub fn narrow(self, words: impl Into<String>) -> Field {
        Field::Narrow(words.into(), Box::new(self))
    }

    /// Returns an end of an estimate's interval, with the digits that the estimate itself has.
    pub fn end(end: f64, estimate: Estimate, style: Style) -> Field {
        Field::Worded(known(end, &estimate, style), end.into())
    }

    /// Returns what only programs want.
    pub fn data(value: &impl Serialize) -> Field {
        // A value that cannot be encoded would be null; there is none here.
        Field::Data(serde_json::to_value(value).unwrap_or(Value::Null))
    }

    /// Returns the words for people; footnotes and bars are the renderer's.
    pub fn words(&self) -> String {
        match self {
            Field::Nothing | Field::Marks(_) | Field::Bar(_) | Field::Data(_) => String::new(),
            Field::Missing => words::NOTHING.to_owned(),
            Field::Text(text) | Field::Worded(text, _) => text.clone(),
            Field::Count(count) => count.to_string(),
            Field::Number(value, style) => style(*value),
            Field::Estimate(estimate, style) => known(estimate.value, estimate, *style),
            Field::Suffixed(value, ..) if !value.is_finite() => words::NOTHING.to_owned(),
            Field::Suffixed(value, style, suffix) => format!("{}{suffix}", style(*value)),
            Field::Spread(estimate) if !estimate.spread().is_finite() => words::NOTHING.to_owned(),
            Field::Spread(estimate) => words::plus_minus(estimate.halves()),
            Field::Interval(estimate, style) => interval(estimate, *style),
            Field::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Field::Words(list) => list.join("; "),
            Field::Toned(field, ..) | Field::Narrow(_, field) => field.words(),
        }
    }

    /// Adds what programs have of it to an object: under `key`, and of an estimate's ends under `low` and `high`, which
    /// have the key before them unless the estimate is the `first` of the row.
    pub fn insert(&self, object: &mut Map<String, Value>, key: &str, first: bool) {
        let mut ends = None;
        let value = match self {
            Field::Nothing => return,
            Field::Missing | Field::Spread(_) | Field::Interval(..) | Field::Bar(_) => Value::Null,
            Field::Text(text) => Value::from(text.as_str()),
            Field::Worded(_, value) | Field::Data(value) => value.clone(),
            Field::Count(count) => Value::from(*count),
            Field::Number(value, _) | Field::Suffixed(value, ..) => Value::from(*value),
            Field::Estimate(Estimate { value, low, high }, _) => {
                ends = Some([("low", *low), ("high", *high)]);
                Value::from(*value)
            }
            Field::Flag(flag) => Value::from(*flag),
            Field::Marks(list) | Field::Words(list) => Value::from(list.clone()),
            Field::Toned(field, ..) | Field::Narrow(_, field) => return field.insert(object, key, first),
        };
        nest(object, key, value);
        for (name, end) in ends.into_iter().flatten() {
            let name = if first { name.to_owned() } else { format!("{key}_{name}") };
            nest(object, &name, Value::from(end));
        }
    }
}

/// Returns a number about an estimate with the digits that the estimate's interval leaves.
pub fn known(number: f64, estimate: &Estimate, style: Style) -> String {
    words::known(style(number), (estimate.high - estimate.low) / 2.0)
}

/// Puts a value under a key whose dots nest.
fn nest(object: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            object.insert(key.to_owned(), value);
        }
        Some((outer, inner)) => {
            let inside = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inside) = inside {
                nest(inside, inner, value);
            }
        }
    }
}

/// Returns the ends of an interval: `-11.0..-9.4`; `-` where it has none.
pub fn interval(estimate: &Estimate, style: Style) -> String {
    match estimate.bounded() {
        true => format!("{}..{}", style(estimate.low), style(estimate.high)),
        false => words::NOTHING.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_what_people_see_and_all_digits() {
        let mut object = Map::new();
        let estimate = Estimate { value: 0.031_25, low: 0.03, high: f64::INFINITY };
        Field::Estimate(estimate, words::score).insert(&mut object, "value", true);
        Field::Estimate(estimate, words::gain).insert(&mut object, "gain", false);
        Field::Number(2.0, words::figure).insert(&mut object, "percentiles.p50", false);
        let text = Value::Object(object).to_string();
        assert_eq!(
            text,
            r#"{"value":0.03125,"low":0.03,"high":null,"gain":0.03125,"gain_low":0.03,"gain_high":null,"percentiles":{"p50":2.0}}"#
        );
        assert_eq!(Field::Estimate(estimate, words::score).words(), "0.0312");
        let rough = Estimate { value: 1234.4, low: 1200.0, high: 1270.0 };
        assert_eq!(Field::Estimate(rough, words::score).words(), "1234");
        assert_eq!(Field::end(rough.low, rough, words::score).words(), "1200");
        assert_eq!(Field::Interval(estimate, words::signed).words(), "-");
    }
}
