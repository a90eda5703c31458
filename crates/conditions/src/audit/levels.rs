//! Degrees of auditing.

use std::fs;

use crate::audit::syntax::{RuleSet, Unknown, parse};

/// A degree of auditing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Nothing is done, and nothing was ever done.
    NeverOn,
    /// The measured programs are not audited, whatever else is.
    Off,
    /// Auditing is off, as it is after it was on.
    OffAfterOn,
    /// Auditing is on, with these rules for the measured programs.
    On(RuleSet),
}

impl Level {
    /// The level of a name: with `rules`, which are for every machine; `rules:FILE`; or one
    /// without auditing.
    ///
    /// # Errors
    /// There is no such level, or its rules cannot be read or understood.
    pub(crate) fn new(name: &str, rules: Option<&str>) -> Result<Level, String> {
        if let Some(rules) = rules {
            return parse(rules, name, Unknown::Skip).map(Level::On);
        }
        if let Some(file) = name.strip_prefix("rules:") {
            let text = fs::read_to_string(file).map_err(|error| {
                format!("the rules of {file} cannot be read ({error}); try an absolute path")
            })?;
            return parse(&text, file, Unknown::Refuse).map(Level::On);
        }

        match name {
            "never-on" => Ok(Level::NeverOn),
            "off" => Ok(Level::Off),
            "off-after-on" => Ok(Level::OffAfterOn),
            _ => Err(format!("auditing has no level '{name}'")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::fake::catalogue_levels;

    #[test]
    fn every_level_of_the_catalogue_is_understood() {
        let rules: Vec<(String, Option<usize>)> = catalogue_levels()
            .into_iter()
            .map(|(name, level)| {
                (name, if let Level::On(set) = level { Some(set.rules.len()) } else { None })
            })
            .collect();
        let count = |name: &str| rules.iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!([count("never-on"), count("off"), count("off-after-on")], [None; 3]);
        assert_eq!(
            ["on", "identity", "files", "exec", "open", "all"].map(count),
            [0, 6, 5, 1, 1, 1].map(Some)
        );
        let both = if crate::audit::names::arch_number("b32").is_some() { 12 } else { 0 };
        assert_eq!(count("stig-like"), Some(27 + both));
    }

    #[test]
    fn files_of_rules() {
        let why = Level::new("rules:/no/such", None).unwrap_err();
        assert!(why.contains("/no/such cannot be read"), "{why}");
        assert!(Level::new("everything", None).is_err());
    }
}
