//! The content of a table's cell: for people in words, for programs as values.

use serde::Serialize;
use serde_json::{Map, Value};

use stats::Estimate;

/// How a number is written for people, by a function of `words`; programs get all its digits.
pub type Style = fn(f64) -> String;

/// The quality of a figure, which pages show as a colour: from -5, far worse, to 3, far better; 0
/// is ordinary.
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
    /// Words for people, and another value for programs.
    Worded(String, Value),
    Count(u64),
    /// A number; `-` and null where it is not finite.
    Number(f64, Style),
    /// A number followed by its unit without a gap: `-3.0pt`.
    Suffixed(f64, Style, &'static str),
    /// An estimate: people see the digits of the value that its interval leaves, programs all of
    /// them and the interval's ends.
    Estimate(Estimate, Style),
    /// The halves of an estimate's interval, `±1.2%` or `-3/+17%`, which programs compute
    /// themselves.
    Spread(Estimate),
    /// The ends of an estimate's interval, which programs have with the estimate.
    Interval(Estimate, Style),
    /// True or false: `yes`, `no`.
    Flag(bool),
    /// Remarks: numbered footnotes for people, sentences for programs.
    Marks(Vec<String>),
    /// Several words: separated by semicolons, an array in JSON.
    Words(Vec<String>),
    /// A bar as long as this share of the longest, from -1 to 1; at a terminal one below 0 is made
    /// of `+`.
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

    /// A number, or [`Field::Missing`].
    pub fn maybe(value: Option<f64>, style: Style) -> Field {
        value.map_or(Field::Missing, |value| Field::Number(value, style))
    }

    /// An estimate, or [`Field::Missing`].
    pub fn estimate(estimate: Option<Estimate>, style: Style) -> Field {
        estimate.map_or(Field::Missing, |estimate| Field::Estimate(estimate, style))
    }

    /// This field, with fewer words for 80 columns.
    pub fn narrow(self, words: impl Into<String>) -> Field {
        Field::Narrow(words.into(), Box::new(self))
    }

    /// An end of an estimate's interval, with the digits that the estimate itself has.
    pub fn end(end: f64, estimate: Estimate, style: Style) -> Field {
        Field::Worded(known(end, &estimate, style), end.into())
    }

    /// A value for programs alone.
    pub fn data(value: &impl Serialize) -> Field {
        // A value that cannot be encoded would be null; there is none here.
        Field::Data(serde_json::to_value(value).unwrap_or(Value::Null))
    }

    /// The words for people; footnotes and bars are the renderer's.
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

    /// Adds the values for programs to an object, under `key`. The ends of an estimate are under
    /// `low` and `high` if it is the first of its row (`is_first`), else under `{key}_low` and
    /// `{key}_high`.
    pub fn insert(&self, object: &mut Map<String, Value>, key: &str, is_first: bool) {
        let value = match self {
            Field::Nothing => return,
            Field::Toned(field, ..) | Field::Narrow(_, field) => {
                return field.insert(object, key, is_first);
            }
            Field::Missing | Field::Spread(_) | Field::Interval(..) | Field::Bar(_) => Value::Null,
            Field::Text(text) => Value::from(text.as_str()),
            Field::Worded(_, value) | Field::Data(value) => value.clone(),
            Field::Count(count) => Value::from(*count),
            Field::Number(value, _) | Field::Suffixed(value, ..) => Value::from(*value),
            Field::Estimate(estimate, _) => Value::from(estimate.value),
            Field::Flag(flag) => Value::from(*flag),
            Field::Marks(list) | Field::Words(list) => Value::from(list.clone()),
        };
        insert_nested(object, key, value);

        if let Field::Estimate(Estimate { low, high, .. }, _) = self {
            let prefix = if is_first { String::new() } else { format!("{key}_") };
            insert_nested(object, &format!("{prefix}low"), Value::from(*low));
            insert_nested(object, &format!("{prefix}high"), Value::from(*high));
        }
    }
}

/// A number about an estimate with the digits that the estimate's interval leaves.
pub fn known(number: f64, estimate: &Estimate, style: Style) -> String {
    words::known(style(number), estimate.half_width())
}

/// A score with the digits that its interval leaves.
pub fn score(estimate: &Estimate) -> String {
    known(estimate.value, estimate, words::score)
}

/// The ends of a score's interval in words.
pub fn score_range(estimate: &Estimate) -> String {
    if !estimate.bounded() {
        return "no interval".to_owned();
    }
    let [low, high] = [estimate.low, estimate.high].map(|end| known(end, estimate, words::score));
    format!("{low} to {high}")
}

/// The ends of an estimate's interval after its value: ` (21.1 to 21.5)`; nothing without them.
pub fn ends_after(estimate: &Estimate, style: Style) -> String {
    match estimate.bounded() {
        true => format!(" ({} to {})", style(estimate.low), style(estimate.high)),
        false => String::new(),
    }
}

/// The ends of an interval: `-11.0..-9.4`; `-` where it has none.
pub fn interval(estimate: &Estimate, style: Style) -> String {
    match estimate.bounded() {
        true => format!("{}..{}", style(estimate.low), style(estimate.high)),
        false => words::NOTHING.to_owned(),
    }
}

/// Puts a value under a key whose dots nest: `percentiles.p50`.
fn insert_nested(object: &mut Map<String, Value>, key: &str, value: Value) {
    let Some((outer, inner)) = key.split_once('.') else {
        object.insert(key.to_owned(), value);
        return;
    };

    let nested = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(nested) = nested {
        insert_nested(nested, inner, value);
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

        assert_eq!(
            Value::Object(object).to_string(),
            r#"{"value":0.03125,"low":0.03,"high":null,"gain":0.03125,"gain_low":0.03,"gain_high":null,"percentiles":{"p50":2.0}}"#
        );
        assert_eq!(Field::Estimate(estimate, words::score).words(), "0.0312");
        assert_eq!(Field::Interval(estimate, words::signed).words(), "-");
    }

    #[test]
    fn people_see_the_digits_that_an_interval_leaves() {
        let rough = Estimate { value: 1234.4, low: 1200.0, high: 1270.0 };

        assert_eq!(Field::Estimate(rough, words::score).words(), "1234");
        assert_eq!(Field::end(rough.low, rough, words::score).words(), "1200");
    }
}
