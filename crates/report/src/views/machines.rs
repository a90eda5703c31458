//! Which of two machines: a sentence, and a row for each kind of work.

use analysis::{AtWork, Comparisons, Found, Machines, Remark, Work};
use serde_json::{Value, json};
use stats::Estimate;
use words::Grouped;

use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// A speed that differs by a factor of this or more is written as one.
const MIN_FACTOR: f64 = 2.0;

/// The answer about two machines: `b could use 1 of its 2 processors. b is 12 % faster than a in
/// memory (8 to 15), 30 % slower on disk (25 to 34), undecided in the rest.`
pub(super) fn sentence(machines: &Machines) -> String {
    let Machines { names, limits, .. } = machines;
    let sides = [(&names.a, &limits.a), (&names.b, &limits.b)];
    let limits =
        sides.into_iter().filter_map(|(name, limit)| describe_limit(name, limit.as_ref()?));
    limits.chain([describe_speeds(machines)]).collect::<Vec<_>>().join(" ")
}

/// What kept a machine from using all of its processors.
fn describe_limit(name: &str, limit: &Remark) -> Option<String> {
    match limit {
        Remark::Affinity { usable, of } => {
            Some(format!("{name} could use {usable} of its {of} processors."))
        }
        Remark::Quota { cpus, of } => Some(format!(
            "{name} was limited to {cpus:.2} of its {}.",
            words::count(*of, "processor")
        )),
        _ => None,
    }
}

fn describe_speeds(machines: &Machines) -> String {
    let Machines { names, at_work, .. } = machines;
    if at_work.is_empty() {
        return format!("{} and {} have no kind of work in common.", names.a, names.b);
    }

    let (called, rest): (Vec<&AtWork>, Vec<&AtWork>) = at_work
        .iter()
        .partition(|standing| matches!(standing.found(), Found::Faster | Found::Slower));
    let mut clauses = Vec::new();
    for (number, standing) in called.iter().enumerate() {
        let than = if number == 0 { format!(" than {}", names.a) } else { String::new() };
        clauses.push(called_clause(standing, machines, &than));
    }

    let by_finding =
        rest.iter().map(|standing| (standing.found(), place(standing.work, machines))).grouped();
    for (found, places) in by_finding {
        let finding = if found == Found::Same { "about as fast" } else { "undecided" };
        let places = match called.is_empty() || places.len() == 1 {
            true => words::listed(&places, places.len()),
            false => "in the rest".to_owned(),
        };
        clauses.push(format!("{finding} {places}"));
    }

    let clauses = clauses.join(", ");
    match called.is_empty() {
        true => format!("No difference between {} and {} is shown: {clauses}.", names.a, names.b),
        false => format!("{} is {clauses}.", names.b),
    }
}

/// The question that cards are compared for, as a page's title; empty of other runs.
pub(super) fn question(all: &Comparisons) -> String {
    let Some(first) = all.machines.first() else {
        return String::new();
    };
    let mut names = vec![first.names.a.as_str()];
    names.extend(all.machines.iter().map(|machines| machines.names.b.as_str()));
    format!("Which is faster, {}?", words::either(&names, names.len()))
}

/// `12 % faster than a in memory (8 to 15)`.
fn called_clause(standing: &AtWork, machines: &Machines, than: &str) -> String {
    let Size { value, unit, low, high } = Size::new(standing.speed);
    let direction = if standing.found() == Found::Faster { "faster" } else { "slower" };
    let place = place(standing.work, machines);
    format!("{value}{unit} {direction}{than} {place} ({low} to {high})")
}

/// The size of a difference with its ends in words: in per cent, or as a factor if it is a large
/// one.
struct Size {
    value: String,
    unit: &'static str,
    low: String,
    high: String,
}

impl Size {
    fn new(speed: Estimate) -> Size {
        // What is slower takes its time in place of its speed where that is a multiple.
        let is_faster = speed.value >= 1.0;
        let factor = if is_faster { speed } else { speed.image(|speed| 1.0 / speed) };
        if factor.value >= MIN_FACTOR {
            let [value, low, high] = [factor.value, factor.low, factor.high].map(round);
            return Size { value, unit: " times", low, high };
        }
        let change = speed.image(|speed| 100.0 * (speed - 1.0).abs());
        let [value, low, high] = [change.value, change.low, change.high].map(round);
        Size { value, unit: " %", low, high }
    }
}

/// A size as people say it: whole numbers from 10 on, below with one digit after the point.
fn round(size: f64) -> String {
    if !size.is_finite() {
        return words::NOTHING.to_owned();
    }
    let digits = usize::from(size.abs() < 9.95);
    let text = format!("{size:.digits$}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The kind of work as a table names it.
fn name(work: Work, machines: &Machines) -> String {
    let [a, b] = [machines.processors.a, machines.processors.b];
    match work {
        Work::OneCopy => "index, 1 copy".to_owned(),
        Work::AllProcessors if a == b => format!("index, {}", words::copies(a)),
        Work::AllProcessors => format!("index, {b} in place of {}", words::copies(a)),
        Work::Memory => "memory".to_owned(),
        Work::Disk => "disk".to_owned(),
        Work::WakeUps => "wake-ups".to_owned(),
    }
}

/// `in memory`, `on disk`.
fn place(work: Work, machines: &Machines) -> String {
    let processors = machines.processors;
    match work {
        Work::OneCopy => "in the index with one copy".to_owned(),
        Work::AllProcessors if processors.a == processors.b => {
            format!("in the index with {}", words::copies(processors.a))
        }
        Work::AllProcessors => format!(
            "in the index with all processors, of which it has {} in place of {}",
            processors.b, processors.a
        ),
        Work::Memory => "in memory".to_owned(),
        Work::Disk => "on disk".to_owned(),
        Work::WakeUps => "at waking up".to_owned(),
    }
}

/// The table of the kinds of work, of each machine that is compared.
pub(super) fn tables(all: &Comparisons) -> Vec<Block> {
    all.machines.iter().map(|machines| Block::Table(table(machines))).collect()
}

fn table(machines: &Machines) -> Table {
    let percent = |speed: f64| round(100.0 * speed);
    Columns::new()
        .with(Column::words("kind of work"), |one: &AtWork| Field::Text(name(one.work, machines)))
        .with(Column::number("speed, %").main(), move |one| Field::Text(percent(one.speed.value)))
        .with(Column::number("low"), move |one| Field::Text(percent(one.speed.low)))
        .with(Column::number("high"), move |one| Field::Text(percent(one.speed.high)))
        .with(Column::words("verdict"), |one| Field::text(verdict(one.found())))
        .table(&machines.at_work)
        .shown(Readers::PEOPLE)
        .titled("", format!("{} in per cent of {}", machines.names.b, machines.names.a))
}

fn verdict(found: Found) -> &'static str {
    match found {
        Found::Faster => "faster",
        Found::Slower => "slower",
        Found::Same => "the same",
        Found::Undecided => "undecided",
    }
}

/// The machines for programs.
pub(super) fn data(all: &Comparisons) -> Value {
    let standing = |machines: &Machines, one: &AtWork| {
        let Estimate { value, low, high } = one.speed;
        json!({
            "work": key(one.work), "speed": value, "low": low, "high": high,
            "verdict": verdict(one.found()), "processors": [machines.processors.a, machines.processors.b],
        })
    };
    let machine = |machines: &Machines| {
        let at_work: Vec<Value> =
            machines.at_work.iter().map(|one| standing(machines, one)).collect();
        json!({
            "run": machines.letter, "names": [machines.names.a, machines.names.b],
            "sentence": sentence(machines), "at_work": at_work,
        })
    };
    all.machines.iter().map(machine).collect()
}

fn key(work: Work) -> &'static str {
    match work {
        Work::OneCopy => "index_one",
        Work::AllProcessors => "index_all",
        Work::Memory => "memory",
        Work::Disk => "disk",
        Work::WakeUps => "wake_ups",
    }
}

/// How to read the comparison of cards.
pub(super) fn reading() -> String {
    format!(
        "the index is compared as the cards show it, memory and disk by the mean of their figures with one copy, \
         wake-ups by their median; each interval is one of 99 %, so that all hold together, with 5 % for what \
         changes from run to run; a difference below {:.0} % is not named, and one that is surely below {:.0} % is \
         the same",
        100.0 * analysis::compare::MIN_DIFFERENCE,
        100.0 * analysis::compare::MAX_SAME
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::comparison::Sides;

    fn machines(at_work: &[(Work, [f64; 3])]) -> Machines {
        let standing = |(work, [value, low, high]): &(Work, [f64; 3])| AtWork {
            work: *work,
            speed: Estimate { value: *value, low: *low, high: *high },
        };
        Machines {
            letter: "B".to_owned(),
            names: Sides { a: "a".to_owned(), b: "b".to_owned() },
            processors: Sides { a: 2, b: 1 },
            limits: Sides { a: None, b: None },
            at_work: at_work.iter().map(standing).collect(),
        }
    }

    /// User review of 2026-11, person 4: 28 rows, and no word on which machine is better.
    #[test]
    fn what_differs_is_named_and_the_rest_is_not() {
        let rest = [(Work::OneCopy, [1.0, 0.8, 1.2]), (Work::WakeUps, [0.9, 0.7, 1.1])];
        for (own, sentence) in [
            (
                vec![(Work::Memory, [1.12, 1.08, 1.15]), (Work::Disk, [0.7, 0.66, 0.75])],
                "b is 12 % faster than a in memory (8 to 15), 30 % slower on disk (25 to 34), undecided in \
                 the rest.",
            ),
            (
                vec![(Work::AllProcessors, [0.5, 0.45, 0.55])],
                "b is 2 times slower than a in the index with all processors, of which it has 1 in place of 2 (1.8 to 2.2), \
                 undecided in the rest.",
            ),
            (
                vec![(Work::Disk, [1.0, 0.93, 1.07])],
                "No difference between a and b is shown: undecided in the index with one copy and at waking up, about as \
                 fast on disk.",
            ),
            (
                vec![(Work::Disk, [46.0, 6.0, 350.0]), (Work::Memory, [1.0, 0.93, 1.07])],
                "b is 46 times faster than a on disk (6 to 350), undecided in the rest, about as fast in memory.",
            ),
        ] {
            let all = machines(&[&rest[..], &own].concat());
            assert_eq!(super::sentence(&all), sentence);
        }
    }

    #[test]
    fn what_limited_a_machine_comes_first() {
        let mut both = machines(&[(Work::Disk, [1.0, 0.93, 1.07])]);
        both.limits = Sides {
            a: Some(Remark::Affinity { usable: 1, of: 2 }),
            b: Some(Remark::Quota { cpus: 1.2, of: 2 }),
        };

        let expected = "a could use 1 of its 2 processors. b was limited to 1.20 of its 2 processors. \
                        No difference between a and b is shown";
        let sentence = super::sentence(&both);
        assert!(sentence.starts_with(expected), "{sentence}");
    }
}
