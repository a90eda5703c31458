//! Counts and lists.

use std::fmt::Display;
use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};

/// A count with its noun: `1 CPU`, `3 CPUs`; `copy` becomes `copies`, `day` `days`, `pass`
/// `passes`.
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("{number} {noun}") } else { format!("{number} {}", plural(noun)) }
}

/// The plural of a noun: `builds`, `processes`, `copies`.
pub fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with('s') => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// A number of copies with the noun: `1 copy`, `2 copies`.
pub fn copies(number: u32) -> String {
    count(number, "copy")
}

/// Names as prose lists them: `a`, `a and b`, `a, b and c`; of more than `most`, `a, b and 7 more`.
pub fn listed<S: AsRef<str>>(names: &[S], most: usize) -> String {
    joined(names, most, "and")
}

/// Names as a question lists them: `a`, `a or b`, `a, b or c`; of more than `most`, `a, b or 7
/// more`.
pub fn either<S: AsRef<str>>(names: &[S], most: usize) -> String {
    joined(names, most, "or")
}

fn joined<S: AsRef<str>>(names: &[S], most: usize, word: &str) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(shown.len());
    match (&shown[..], more) {
        ([], 0) => String::new(),
        ([only], 0) => (*only).to_owned(),
        ([first @ .., last], 0) => format!("{} {word} {last}", first.join(", ")),
        (shown, more) => format!("{} {word} {more} more", shown.join(", ")),
    }
}

/// Values once each, in the order of their first appearance.
pub trait Unique: Iterator + Sized {
    /// The distinct values.
    fn unique(self) -> Vec<Self::Item>
    where
        Self::Item: Eq + Hash,
    {
        self.collect::<IndexSet<_>>().into_iter().collect()
    }
}

impl<I: Iterator> Unique for I {}

/// Values by key, both in the order of their first appearance.
pub trait Grouped<K: Eq + Hash, V>: Iterator<Item = (K, V)> + Sized {
    /// Each key with its values.
    fn grouped(self) -> Vec<(K, Vec<V>)> {
        let mut groups: IndexMap<K, Vec<V>> = IndexMap::new();
        for (key, value) in self {
            groups.entry(key).or_default().push(value);
        }

        groups.into_iter().collect()
    }
}

impl<K: Eq + Hash, V, I: Iterator<Item = (K, V)>> Grouped<K, V> for I {}

/// The first free name among `names` and, after them, those that `numbered` makes of 2, 3 …
pub fn free_name(
    names: impl IntoIterator<Item = String>,
    numbered: impl Fn(u32) -> String,
    is_free: impl Fn(&String) -> bool,
) -> String {
    // The numbers do not end.
    names.into_iter().chain((2..).map(numbered)).find(is_free).unwrap_or_default()
}

/// The names that a list with ranges stands for, as Slurm and ClusterShell write it:
/// `n[01-03,7],login` is `n01`, `n02`, `n03`, `n7` and `login`.
///
/// # Errors
/// A bracket is not closed, a range is not of numbers that rise, or ranges make more than 100,000
/// names: the message says which.
pub fn hosts(text: &str) -> Result<Vec<String>, String> {
    const MAX_HOSTS: usize = 100_000;
    let mut names = Vec::new();
    for word in outside_brackets(text) {
        let Some((before, rest)) = word.split_once('[') else {
            names.push(word.to_owned());
            continue;
        };

        let Some((ranges, after)) =
            rest.split_once(']').filter(|(_, after)| !after.contains(['[', ']']))
        else {
            return Err(format!("'{word}' is not a list of nodes; try n[1-10] or n1,n2"));
        };
        for range in ranges.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let not_a_range = || format!("'{range}' in '{word}' is not a range of nodes; try 1-10");
            let (Ok(from), Ok(to)) = (first.parse::<usize>(), last.parse::<usize>()) else {
                return Err(not_a_range());
            };
            if from > to {
                return Err(not_a_range());
            }

            if to - from >= MAX_HOSTS - names.len().min(MAX_HOSTS) {
                return Err(format!("'{word}' makes more than {MAX_HOSTS} nodes"));
            }

            let digits = first.len();
            names.extend((from..=to).map(|number| format!("{before}{number:0digits$}{after}")));
        }
    }

    names.retain(|name| !name.is_empty());
    Ok(names)
}

/// The parts of a list, whose commas within brackets are not between parts.
fn outside_brackets(text: &str) -> Vec<&str> {
    let mut inside = false;
    text.split(move |c: char| {
        inside = (inside || c == '[') && c != ']';
        c == ',' && !inside
    })
    .map(str::trim)
    .collect()
}

/// The items of several lists, each once. An item that the earlier lists lack comes directly behind
/// its predecessor in its own list.
pub fn merged<T: PartialEq + Copy>(lists: impl IntoIterator<Item = Vec<T>>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for list in lists {
        let mut after = 0;
        for item in list {
            let place = all.iter().position(|known| *known == item);
            let place = place.unwrap_or_else(|| {
                all.insert(after, item);
                after
            });
            after = place + 1;
        }
    }

    all
}

/// A sentence with a full stop, unless it ends with a mark of its own.
pub fn end_sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_and_lists() {
        assert_eq!(
            [count(1, "CPU"), count(3, "CPU"), copies(1), copies(2)],
            ["1 CPU", "3 CPUs", "1 copy", "2 copies"]
        );
        assert_eq!([count(3, "day"), count(0, "fault")], ["3 days", "0 faults"]);
        let names = ["a", "b", "c", "d"];
        assert_eq!(listed(&names[..1], 9), "a");
        assert_eq!(listed(&names[..2], 9), "a and b");
        assert_eq!(listed(&names, 9), "a, b, c and d");
        assert_eq!(listed(&names, 2), "a, b and 2 more");
        assert_eq!(["b", "a", "b"].into_iter().unique(), ["b", "a"]);
        assert_eq!(merged([vec!["a", "c"], vec!["a", "b", "c"]]), ["a", "b", "c"]);
        assert_eq!(
            [("b", 1), ("a", 2), ("b", 3)].into_iter().grouped(),
            [("b", vec![1, 3]), ("a", vec![2])]
        );
    }

    #[test]
    fn nodes_in_ranges() {
        assert_eq!(hosts("n[08-10,3],login").unwrap(), ["n08", "n09", "n10", "n3", "login"]);
        assert_eq!(hosts("r[1-2].site, a,").unwrap(), ["r1.site", "r2.site", "a"]);
        for wrong in ["n[1-", "n[2-1]", "n[a]", "n[]", "n[1][2]", "n[1-999999999]"] {
            assert!(hosts(wrong).is_err(), "{wrong}");
        }
    }
}
