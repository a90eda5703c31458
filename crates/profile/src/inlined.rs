//! The functions that a compiler inlined, at places of programs, and for which function time there
//! counts.
//!
//! Compilers inline two kinds of functions. One that a single other calls is as good as any: time
//! in it counts for itself. A helper that many use would hide who uses it more, since its time
//! would be the same row for all: that counts for the function that it is in. So do the functions
//! of standard libraries.

use std::collections::{HashMap, HashSet};

use crate::names;

/// How names of standard libraries begin. What is inlined of these counts for the function that
/// uses it: that a vector's elements are read more often is a matter of who reads them.
const LIBRARIES: [&str; 5] = ["std::", "core::", "alloc::", "hashbrown::", "__gnu_cxx::"];

/// Types of Rust whose own functions are in its library: `<u8>::is_ascii_digit`.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16",
    "u32", "u64", "u128", "usize",
];

/// What may stand before the name of a type.
const BEFORE_TYPES: [&str; 8] = ["&", "*", "[", "(", "mut ", "const ", "dyn ", "'_ "];

#[derive(Debug, Default)]
pub struct Inlined {
    /// By place: the functions that are inlined there, the innermost first.
    functions: HashMap<usize, Vec<String>>,
    /// Those that are inlined in several others.
    helpers: HashSet<String>,
}

impl Inlined {
    /// Adds the symbols of what is inlined at a place.
    pub fn add(&mut self, place: usize, symbols: &[String]) {
        if !symbols.is_empty() {
            let names = symbols.iter().map(|symbol| names::readable(symbol)).collect();
            self.functions.insert(place, names);
        }
    }

    /// The functions at a place, within that which has a symbol.
    pub fn at(&self, place: usize) -> &[String] {
        self.functions.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Finds the helpers, when all is added; `outermost` is the function with a symbol at a place.
    pub fn find_helpers<'n>(&mut self, outermost: impl Fn(usize) -> &'n str) {
        let mut users: HashMap<&str, &str> = HashMap::new();
        let mut helpers = HashSet::new();
        for (place, functions) in &self.functions {
            let outer = functions.iter().skip(1).map(String::as_str).chain([outermost(*place)]);
            for (name, user) in functions.iter().zip(outer) {
                if *users.entry(name).or_insert(user) != user {
                    helpers.insert(name.clone());
                }
            }
        }
        self.helpers = helpers;
    }

    /// The number of the function for which time at a place counts. It is the number of functions
    /// if that is the one with a symbol.
    pub fn counted(&self, place: usize) -> usize {
        let is_counted = |name: &String| !self.helpers.contains(name) && !is_of_library(name);
        let all = self.at(place);
        all.iter().position(is_counted).unwrap_or(all.len())
    }

    /// Forgets what is inlined at some places. Returns true if that is anything.
    pub fn forget(&mut self, is_forgotten: impl Fn(usize) -> bool) -> bool {
        let before = self.functions.len();
        self.functions.retain(|place, _| !is_forgotten(*place));
        self.functions.len() < before
    }
}

/// True if a function is a standard library's. Rust's `<Type as Trait>::function` is, if both the
/// type and the trait are; `<Type>::function`, if the type is.
fn is_of_library(name: &str) -> bool {
    let Some(implemented) = name.strip_prefix('<') else { return is_in_library(name) };

    let (mut depth, mut before) = (0, ' ');
    for (at, letter) in implemented.char_indices() {
        match letter {
            '<' => depth += 1,
            // The arrow of a type such as `fn() -> u8` closes nothing.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = letter;
        // The end of the brackets, of which the first was stripped.
        if depth < 0 {
            break;
        }
        if depth == 0
            && let Some(implemented_trait) = implemented[at..].strip_prefix(" as ")
        {
            return is_in_library(implemented) && is_in_library(implemented_trait);
        }
    }
    is_in_library(implemented)
}

/// True if a path begins in a library, or is a type of the language.
fn is_in_library(path: &str) -> bool {
    let mut path = path;
    while let Some(rest) = BEFORE_TYPES.iter().find_map(|before| path.strip_prefix(before)) {
        path = rest;
    }
    let first = path.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next();
    LIBRARIES.iter().any(|library| path.starts_with(library))
        || first.is_some_and(|first| PRIMITIVES.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_functions_use_counts_for_these() {
        let mut inlined = Inlined::default();
        let chains = [["mix", "parse"], ["mix", "print"], ["trim", "parse"]];
        for (place, chain) in chains.iter().enumerate() {
            inlined.add(place, &chain.map(str::to_owned));
        }

        inlined.find_helpers(|_| "main");

        assert_eq!([0, 1, 2, 3].map(|place| inlined.counted(place)), [1, 1, 0, 0]);
    }

    #[test]
    fn what_is_inlined_of_a_library_counts_for_who_uses_it() {
        for (symbols, counted) in [
            (&["parse"][..], 0),
            (&["_ZNKSt6vectorIiSaIiEE4sizeEv", "parse", "main"], 1),
            (&["_ZN4core3ptr4read17h0123456789abcdefE"], 1),
            (
                &[
                    "_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$1y17h0123456789abcdefE",
                ],
                1,
            ),
            (&["standard::parse"], 0),
            // As rustc's newer symbols have it.
            (&["<u8>::is_ascii_digit"], 1),
            (&["<*const u8>::add"], 1),
            (&["<dyn core::any::Any>::is"], 1),
            (&["<&mut [u8] as core::iter::IntoIterator>::into_iter"], 1),
            (&["<&[u8] as core::iter::IntoIterator>::into_iter"], 1),
            (&["<alloc::vec::Vec<(u8, fn() -> u8)> as tool::Parse>::parse"], 0),
            (&["<tool::Words as core::iter::Iterator>::next"], 0),
            (&["<tool::Words>::next"], 0),
            (&["<u8x::T>::next"], 0),
            (&["operator<(A, B)"], 0),
            (&[], 0),
        ] {
            let mut inlined = Inlined::default();
            let symbols: Vec<String> = symbols.iter().map(|symbol| (*symbol).to_owned()).collect();

            inlined.add(7, &symbols);

            assert_eq!(inlined.counted(7), counted, "{symbols:?} {:?}", inlined.at(7));
        }
    }
}
