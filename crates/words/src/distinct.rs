//! Names by what distinguishes them: `python v1/parse.py data.json` and `python v2/parse.py
//! data.json` are `v1/parse.py` and `v2/parse.py` of `python … data.json`.

/// Names in two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distinct {
    /// The words that all of them share at either end, with `…` in place of the others; empty where
    /// they share none.
    pub shared: String,
    /// What is left of each name, in the order given.
    pub own: Vec<String>,
}

/// Splits names into the words that all share at their ends and what distinguishes them. Every name
/// keeps at least one word.
pub fn distinct(names: &[&str]) -> Distinct {
    let words: Vec<Vec<String>> = names.iter().map(|name| words_of(name)).collect();
    let Some(first) = words.first().filter(|_| words.len() > 1) else {
        return Distinct {
            shared: String::new(),
            own: names.iter().map(|&name| name.into()).collect(),
        };
    };

    let max_shared = words.iter().map(Vec::len).min().unwrap_or(0).saturating_sub(1);
    let is_shared_start = |place: &usize| words.iter().all(|name| name[*place] == first[*place]);
    let is_shared_end = |place: &usize| {
        words.iter().all(|name| name[name.len() - 1 - place] == first[first.len() - 1 - place])
    };
    let start = (0..max_shared).take_while(is_shared_start).count();
    let end = (0..max_shared - start).take_while(is_shared_end).count();

    let own = words.iter().map(|name| name[start..name.len() - end].join(" ")).collect();
    if start + end == 0 {
        return Distinct { shared: String::new(), own };
    }
    let gap = "…".to_owned();
    let shared = [&first[..start], &[gap], &first[first.len() - end..]].concat().join(" ");
    Distinct { shared, own }
}

/// The words of a name. From a word that begins with `(` to one that ends with `)` all are one: the
/// parameters of a command are written so.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in name.split_whitespace() {
        match words.last_mut() {
            Some(open) if open.starts_with('(') && !open.ends_with(')') => {
                *open += " ";
                *open += word;
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_differs_between_them() {
        for (names, shared, own) in [
            (&["sleep 0.02", "sleep 0.05"][..], "sleep …", &["0.02", "0.05"][..]),
            (&["./old x", "./new x"], "… x", &["./old", "./new"]),
            (&["py v1/a.py in", "py v2/a.py in"], "py … in", &["v1/a.py", "v2/a.py"]),
            (&["tool", "tool --fast"], "", &["tool", "tool --fast"]),
            (&["sh -c a", "sh -c a b"], "sh -c …", &["a", "a b"]),
            (&["a b a", "a b b a"], "a b …", &["a", "b a"]),
            (&["old", "new"], "", &["old", "new"]),
            (&["cc (O = 1)", "cc (O = 2)"], "cc …", &["(O = 1)", "(O = 2)"]),
            (&["same", "same"], "", &["same", "same"]),
            (&["alone x"], "", &["alone x"]),
            (&[], "", &[]),
        ] {
            let own = own.iter().map(|&name| name.into()).collect();
            assert_eq!(distinct(names), Distinct { shared: shared.into(), own }, "{names:?}");
        }
    }
}
