//! "Did you mean", and which texts mention a name.

/// A candidate is near only above this likeness, by Jaro and Winkler.
const MIN_LIKENESS: f64 = 0.8;

/// The candidate that a mistyped name most likely stands for; `None` if none is close.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likened = candidates.map(|candidate| (strsim::jaro_winkler(name, candidate), candidate));
    let near = likened.filter(|(likeness, _)| *likeness > MIN_LIKENESS);
    let (_, nearest) = near.max_by(|(left, _), (right, _)| left.total_cmp(right))?;
    Some(nearest)
}

/// True if a text has a name in any case, such as `stress-ng`, with no letter or digit
/// beside it.
pub fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let ends = |before: &str| !before.ends_with(char::is_alphanumeric);
    let begins = |after: &str| !after.starts_with(char::is_alphanumeric);
    text.match_indices(&name).any(|(at, _)| ends(&text[..at]) && begins(&text[at + name.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_alone_in_a_text() {
        let text = "What STREAM, will-it-scale's getppid1 and `stress-ng --cpu` do: 4 µs";
        for name in ["stream", "Will-it-scale", "stress-ng", "4 µs", "do", "what", "scale"] {
            assert!(mentions(text, name), "{name}");
        }

        for name in ["treams", "getppid", "stress-n", "µ", "ill"] {
            assert!(!mentions(text, name), "{name}");
        }
    }

    #[test]
    fn only_what_is_close() {
        let names =
            ["context1", "syscall", "latency-l3", "burn-cooling", "none", "whetstone", "2d"];
        let near = |name: &str| nearest(name, names.into_iter());
        assert_eq!(near("syscal"), Some("syscall"));
        assert_eq!(near("whetsone"), Some("whetstone"));
        assert_eq!(near("nine"), Some("none"));
        assert_eq!([near("nosuchtest"), near("nothing"), near("qqqq")], [None; 3]);
    }
}
