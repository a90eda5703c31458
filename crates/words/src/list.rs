//! Counts and lists.

use std::fmt::Display;

/// Returns a count with its noun: `1 CPU`, `3 CPUs`; `copy` becomes `copies`, `day` `days`, `pass` `passes`.
#[must_use]
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    match noun.strip_suffix('y') {
        _ if number == "1" => format!("{number} {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ if noun.ends_with('s') => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

/// Returns `1 copy`, `2 copies`.
#[must_use]
pub fn copies(number: u32) -> String {
    count(number, "copy")
}

/// Returns names as prose lists them: `a`, `a and b`, `a, b and c`; of more than `most`, `a, b and 7 more`.
#[must_use]
pub fn listed<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(shown.len());
    match (&shown[..], more) {
        ([], 0) => String::new(),
        ([only], 0) => (*only).to_owned(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (shown, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Values once each, in the order of their first appearance.
pub trait Unique: Iterator + Sized {
    /// Returns the distinct values.
    fn unique(self) -> Vec<Self::Item>
    where
        Self::Item: PartialEq,
    {
        let mut found = Vec::new();
        for value in self {
            if !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }
}

impl<I: Iterator> Unique for I {}

/// Values by key, both in the order of their first appearance.
pub trait Grouped<K: PartialEq, V>: Iterator<Item = (K, V)> + Sized {
    /// Returns each key with its values.
    fn grouped(self) -> Vec<(K, Vec<V>)> {
        let mut groups: Vec<(K, Vec<V>)> = Vec::new();
        for (key, value) in self {
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => groups.push((key, vec![value])),
            }
        }
        groups
    }
}

impl<K: PartialEq, V, I: Iterator<Item = (K, V)>> Grouped<K, V> for I {}

/// Returns the items of several lists in one order: each behind the one before it in its list, so that one that the first list
/// lacks is in its place all the same.
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_and_lists() {
        assert_eq!([count(1, "CPU"), count(3, "CPU"), copies(1), copies(2)], ["1 CPU", "3 CPUs", "1 copy", "2 copies"]);
        assert_eq!([count(3, "day"), count(0, "fault")], ["3 days", "0 faults"]);
        let names = ["a", "b", "c", "d"];
        assert_eq!(listed(&names[..1], 9), "a");
        assert_eq!(listed(&names[..2], 9), "a and b");
        assert_eq!(listed(&names, 9), "a, b, c and d");
        assert_eq!(listed(&names, 2), "a, b and 2 more");
        assert_eq!(["b", "a", "b"].into_iter().unique(), ["b", "a"]);
        assert_eq!(merged([vec!["a", "c"], vec!["a", "b", "c"]]), ["a", "b", "c"]);
        assert_eq!([("b", 1), ("a", 2), ("b", 3)].into_iter().grouped(), [("b", vec![1, 3]), ("a", vec![2])]);
    }
}
