//! "Did you mean".

/// Returns the candidate that a mistyped name most likely stands for; `None` if none is close.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_close() {
        let names = ["context1", "syscall", "latency-l3", "burn-cooling", "none", "whetstone", "2d"];
        let near = |name: &str| nearest(name, names.into_iter());
        assert_eq!(near("syscal"), Some("syscall"));
        assert_eq!(near("whetsone"), Some("whetstone"));
        assert_eq!(near("nine"), Some("none"));
        assert_eq!([near("nosuchtest"), near("nothing"), near("qqqq")], [None; 3]);
    }
}
