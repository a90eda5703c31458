//! Instructions by function, as valgrind counted them in one execution of each command, or in two.
//!
//! They are exact where executions agree, so that no statistics is needed: a function differs if
//! the ranges of two commands do not overlap. Differences that are small beside the whole are not
//! named ([`MIN_DIFFERENCE`]).

use std::collections::BTreeMap;

use journal::{Profile, SampledFunction};

use crate::products::counts::Range;

/// The smallest difference that is named, in per cent of all instructions of the first command. The
/// same program started by a longer name, or with another environment, has smaller ones.
const MIN_DIFFERENCE: f64 = 0.1;

/// The instructions of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionInstructions {
    /// The instructions of all functions.
    pub total: Range,
    /// The functions of this command and of the first, the largest difference first.
    pub functions: Vec<CountedFunction>,
}

/// The instructions of a function itself.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedFunction {
    pub name: String,
    /// The name of the file in which it lies.
    pub file: String,
    pub own: Range,
    /// The first command's; 0 without one.
    pub base: Range,
    /// The least and the most of the difference, in per cent of all instructions of the first
    /// command; `None` without one.
    pub change: Option<[f64; 2]>,
}

impl CountedFunction {
    /// True if it executes more or fewer instructions than in the first command.
    pub fn differs(&self) -> bool {
        self.change.is_some_and(|[least, most]| {
            least >= MIN_DIFFERENCE && most > 0.0 || most <= -MIN_DIFFERENCE && least < 0.0
        })
    }

    /// The difference in the middle of its range.
    pub fn middle(&self) -> f64 {
        self.change.map_or(0.0, |[least, most]| (least + most) / 2.0)
    }
}

impl FunctionInstructions {
    /// The instructions of a command, compared with those of `base`; `None` if they were not
    /// counted.
    pub(super) fn new(own: &Profile, base: Option<&Profile>) -> Option<FunctionInstructions> {
        if own.functions.first()?.instructions.is_empty() {
            return None;
        }

        let base_total = base.map(total);
        let mut by_name: BTreeMap<&str, CountedFunction> = BTreeMap::new();
        for (is_own, profile) in [(true, Some(own)), (false, base)] {
            for function in profile.iter().flat_map(|profile| &profile.functions) {
                let counted = by_name.entry(&function.name).or_insert_with(|| CountedFunction {
                    name: function.name.clone(),
                    file: function.file.clone(),
                    own: Range::default(),
                    base: Range::default(),
                    change: None,
                });
                let range = Range::new(&function.instructions);
                *(if is_own { &mut counted.own } else { &mut counted.base }) = range;
            }
        }

        let mut functions: Vec<CountedFunction> = by_name.into_values().collect();
        functions.retain(|function| function.own.high > 0 || function.base.high > 0);
        for function in &mut functions {
            function.change = base_total.map(|all| change(function.own, function.base, all));
        }
        functions.sort_by(|a, b| {
            let by_change = b.middle().abs().total_cmp(&a.middle().abs());
            by_change.then_with(|| b.own.high.cmp(&a.own.high))
        });
        Some(FunctionInstructions { total: total(own), functions })
    }

    /// The functions that execute more or fewer instructions than in the first command.
    pub fn different(&self) -> impl Iterator<Item = &CountedFunction> {
        self.functions.iter().filter(|function| function.differs())
    }

    /// The instructions of a function.
    pub fn of(&self, name: &str) -> Option<&CountedFunction> {
        self.functions.iter().find(|function| function.name == name)
    }
}

/// The instructions of all functions in each execution.
fn total(profile: &Profile) -> Range {
    let mut sums: Vec<u64> = Vec::new();
    for SampledFunction { instructions, .. } in &profile.functions {
        sums.resize(sums.len().max(instructions.len()), 0);
        for (sum, count) in sums.iter_mut().zip(instructions) {
            *sum = sum.saturating_add(*count);
        }
    }
    Range::new(&sums)
}

/// The least and the most of a difference, in per cent of `all`.
fn change(own: Range, base: Range, all: Range) -> [f64; 2] {
    let percent = |a: u64, b: u64| (a as f64 - b as f64) / (all.low.max(1)) as f64 * 100.0;
    [percent(own.low, base.high), percent(own.high, base.low)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(functions: &[(&str, &[u64])]) -> Profile {
        Profile {
            functions: functions
                .iter()
                .map(|(name, instructions)| SampledFunction {
                    name: (*name).to_owned(),
                    instructions: instructions.to_vec(),
                    ..SampledFunction::default()
                })
                .collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn functions_differ_where_the_ranges_of_their_instructions_do() {
        let base = profile(&[
            ("same", &[500, 500]),
            ("more", &[300, 300]),
            ("overlaps", &[90, 110]),
            ("little", &[5000, 5000]),
            ("gone", &[90, 90]),
        ]);
        let own = profile(&[
            ("same", &[500, 500]),
            ("more", &[390, 390]),
            ("overlaps", &[100, 140]),
            ("little", &[5005, 5005]),
            ("new", &[10, 10]),
        ]);

        let counted = FunctionInstructions::new(&own, Some(&base)).unwrap();

        let different: Vec<(&str, Option<[f64; 2]>)> =
            counted.different().map(|one| (one.name.as_str(), one.change)).collect();
        // Of 5980 to 6000 in all.
        let percent = |count: f64| Some([count / 5980.0 * 100.0; 2]);
        assert_eq!(
            different,
            [("more", percent(90.0)), ("gone", percent(-90.0)), ("new", percent(10.0))]
        );
    }

    #[test]
    fn nothing_is_compared_that_was_not_counted() {
        let uncounted = profile(&[("main", &[])]);
        assert_eq!(FunctionInstructions::new(&uncounted, Some(&uncounted)), None);
        assert_eq!(FunctionInstructions::new(&Profile::default(), None), None);

        let alone = FunctionInstructions::new(&profile(&[("main", &[7])]), None).unwrap();
        assert_eq!((alone.different().count(), alone.total), (0, Range { low: 7, high: 7 }));
    }
}
