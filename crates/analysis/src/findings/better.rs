//! Directions that the user gives: which figures are better where they are higher, and which where
//! they are lower (`--better higher:NAME`).

use std::str::FromStr;

use anyhow::{Context, Error, Result, bail};

use crate::findings::Results;
use catalogue::Metric;
use journal::Cell;

/// The direction of the figures of a name or a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Better {
    /// True if higher is better.
    is_higher: bool,
    /// The name of a figure, or its unit.
    name: String,
}

impl FromStr for Better {
    type Err = Error;

    fn from_str(text: &str) -> Result<Better> {
        let (direction, name) = text.split_once(':').with_context(|| {
            format!("'{text}' is not a direction with the name of a figure; try higher:{text}")
        })?;
        let is_higher = match direction {
            "higher" => true,
            "lower" => false,
            _ => bail!("'{direction}' is not a direction; try higher:{name} or lower:{name}"),
        };
        if name.is_empty() {
            bail!("'{text}' names no figure; try {direction}:NAME, with a figure's name or unit");
        }
        Ok(Better { is_higher, name: name.to_owned() })
    }
}

impl Better {
    /// What the user gave.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives a figure its direction if it has this name or unit; returns whether it has.
    pub fn apply(&self, name: &str, unit: &str, metric: &mut Metric) -> bool {
        // A name that several units have is printed with its unit.
        let is_meant = self.name == name || (self.name == unit && !unit.is_empty());
        if is_meant {
            *metric = match (self.is_higher, *metric) {
                (true, Metric::Rate) => Metric::Rate,
                (true, _) => Metric::Yield,
                (false, Metric::Time) => Metric::Time,
                (false, _) => Metric::Amount,
            };
        }
        is_meant
    }

    /// Gives the printed figures of a run their direction; returns whether any has this name or
    /// unit.
    pub fn apply_to(&self, results: &mut Results) -> bool {
        self.apply_to_cells(results.figures.iter_mut().map(|row| &mut row.cell))
    }

    /// As [`Better::apply_to`], of cells.
    pub fn apply_to_cells<'a>(&self, cells: impl Iterator<Item = &'a mut Cell>) -> bool {
        let mut has_any = false;
        for cell in cells.filter(|cell| cell.is_printed()) {
            has_any |= self.apply(&cell.label, &cell.unit, &mut cell.metric);
        }
        has_any
    }

    /// Why this is no direction of any figure there: a misspelt name would leave one without a
    /// verdict.
    pub fn describe_unknown(&self, place: &str) -> String {
        format!(
            "--better names '{}', which is neither a figure nor a unit of another benchmark in {place}; \
             `unixmark report RUN` shows the names",
            self.name
        )
    }
}

/// Advice on figures whose direction nobody knows.
pub fn ask_direction(labels: &[String]) -> String {
    let first = labels.first().map_or("NAME", String::as_str);
    let names = words::listed(labels, 5);
    let [higher, lower] =
        ["higher", "lower"].map(|direction| words::shell(&[format!("{direction}:{first}")]));
    format!(
        "it is not known whether higher or lower is better for {names}, so there is no verdict; try --better {higher} or {lower}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_given_by_name_or_unit() {
        for (text, name, unit, metric, expected) in [
            ("higher:tps", "tps", "", Metric::Unknown, Some(Metric::Yield)),
            ("lower:a:b", "a:b", "", Metric::Unknown, Some(Metric::Amount)),
            ("higher:hits", "BenchmarkX hits", "hits", Metric::Unknown, Some(Metric::Yield)),
            ("lower:ns", "x", "ns", Metric::Time, Some(Metric::Time)),
            ("higher:tp", "tps", "", Metric::Unknown, None),
        ] {
            let mut found = metric;
            let is_meant = text.parse::<Better>().unwrap().apply(name, unit, &mut found);
            assert_eq!(is_meant.then_some(found), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_direction_is_refused() {
        for (text, why) in [
            ("tps", "'tps' is not a direction with the name of a figure; try higher:tps"),
            ("more:tps", "'more' is not a direction; try higher:tps or lower:tps"),
            ("higher:", "'higher:' names no figure; try higher:NAME, with a figure's name or unit"),
        ] {
            assert_eq!(text.parse::<Better>().unwrap_err().to_string(), why);
        }
    }
}
