//! Short names of functions, for tables, sentences and charts.

/// The characters of a name that is short.
const NAME: usize = 44;

/// The name of a function in at most `NAME` characters. What tells functions apart stays longest:
/// parameters go first, then the arguments of templates.
pub(super) fn short_name(name: &str) -> String {
    let is_short = |name: &str| name.chars().count() <= NAME;
    let mut short = name.to_owned();
    if !is_short(&short) {
        short = without_parameters(name).to_owned();
    }
    if !is_short(&short) {
        short = without_arguments(&short);
    }
    words::shortened(&short, NAME)
}

/// `shop::Filter<int>::apply(std::vector<int> const&) const` without what follows `apply`.
fn without_parameters(name: &str) -> &str {
    let end = name.strip_suffix(" const").unwrap_or(name);
    if !end.ends_with(')') {
        return name;
    }
    let mut depth = 0;
    for (at, letter) in end.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        // What is left of `(anonymous namespace)` would be nothing.
        if depth == 0 {
            return if at > 0 { &name[..at] } else { name };
        }
    }
    name
}

/// `hashbrown::map::HashMap<K,V,S>::insert` as `hashbrown::map::HashMap<…>::insert`. The type of a
/// method in Rust stays, which stands first: `<Square as Shape>::area`.
fn without_arguments(name: &str) -> String {
    let mut short = String::new();
    let mut depth = 0_usize;
    let mut before = ' ';
    for letter in name.chars() {
        let opens = letter == '<' && !(depth == 0 && short.is_empty());
        let closes = letter == '>' && before != '-' && depth > 0;
        before = letter;
        if opens {
            depth += 1;
            if depth == 1 {
                short.push_str("<…>");
            }
        } else if closes {
            depth -= 1;
        } else if depth == 0 {
            short.push(letter);
        }
    }
    // `operator<` opens what nothing closes.
    if depth == 0 { short } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_keep_what_tells_functions_apart() {
        for (name, expected) in [
            ("parse(int)", "parse(int)"),
            (
                "shop::Filter<double, 5>::apply(std::vector<double> const&, int) const",
                "shop::Filter<double, 5>::apply",
            ),
            (
                "std::__introsort_loop<__gnu_cxx::__normal_iterator<int*>, long>(int*, long)",
                "std::__introsort_loop<…>",
            ),
            (
                "hashbrown::rustc_entry::<impl hashbrown::map::HashMap<K,V,S,A>>::rustc_entry",
                "hashbrown::rustc_entry::<…>::rustc_entry",
            ),
            (
                "std::function<void (long, long, long)>::operator()(long, long, long) const",
                "std::function<…>::operator()",
            ),
            (
                "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter",
                "<alloc::vec::Vec<…> as…erator<…>>::from_iter",
            ),
            (
                "(anonymous namespace)::parse(std::string const&, std::string const&)",
                "(anonymous namespace)::parse",
            ),
            (
                "operator<(std::vector<long double> const&, std::vector<long double> const&)",
                "operator<",
            ),
        ] {
            assert_eq!(short_name(name), expected, "{name}");
        }
    }
}
