//! The difference between boots: words of the kernel's command line, or the kernel.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use machine::Machine;

/// The key of an arm that boots another kernel.
const KERNEL: &str = "kernel";

/// A comma that is part of a word.
const ESCAPED: &str = "\\,";

/// The arm without a change.
const USUAL: &str = "none";

/// A system as it boots, and how it says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct System {
    /// The kernel's command line.
    pub(super) command_line: String,
    /// The kernel's release.
    pub(super) release: String,
}

impl System {
    pub(super) fn here(machine: &Machine) -> System {
        System {
            command_line: machine::command_line(machine).unwrap_or_default(),
            release: machine::release(machine).unwrap_or_default(),
        }
    }

    /// Returns the last word with the key of `word`, which is what the kernel goes by.
    fn last_like(&self, word: &str) -> Option<&str> {
        self.command_line.split_whitespace().rfind(|known| key(known) == key(word))
    }
}

/// An arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Arm {
    /// Its name in reports, as it was given.
    pub(super) name: String,
    /// Words that are added to the kernel's command line.
    pub(super) words: Vec<String>,
    /// The release of the kernel; `None` is the usual one.
    pub(super) kernel: Option<String>,
}

impl Arm {
    /// Returns the usual system as an arm.
    pub(super) fn usual() -> Arm {
        Arm { name: USUAL.to_owned(), words: Vec::new(), kernel: None }
    }

    fn new(name: &str) -> Result<Arm> {
        let mut arm = Arm { name: name.to_owned(), ..Arm::usual() };
        for word in name.split('+').filter(|word| *word != USUAL) {
            // Boot loaders, shells and the kernel each give other characters a meaning.
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/@=~".contains(c);
            if word.is_empty() || !word.chars().all(is_plain) {
                bail!("'{word}' cannot stand on the kernel's command line; try mitigations=off");
            }
            match word.split_once('=') {
                Some((KERNEL, release)) => arm.kernel = Some(release.to_owned()),
                _ => arm.words.push(word.to_owned()),
            }
        }
        Ok(arm)
    }

    /// Checks that a system is this arm's: its words are in force, no word of another arm is, and its kernel runs.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn check(&self, now: &System, usual: &System, arms: &[Arm]) -> Result<(), String> {
        let release = self.kernel.as_ref().unwrap_or(&usual.release);
        if now.release != *release {
            return Err(format!("the machine came up with kernel {}, not {release}", now.release));
        }
        for word in &self.words {
            match now.last_like(word) {
                Some(known) if known == word => {}
                Some(known) => return Err(format!("the machine came up with '{known}', not '{word}'")),
                None => return Err(format!("the machine came up without '{word}'")),
            }
        }
        let has_own = |word: &str| self.words.iter().any(|own| key(own) == key(word));
        for word in arms.iter().flat_map(|arm| &arm.words).filter(|word| !has_own(word)) {
            let (found, expected) = (now.last_like(word), usual.last_like(word));
            if found != expected {
                return Err(format!("the machine came up with '{}'", found.unwrap_or(word)));
            }
        }
        Ok(())
    }
}

/// Returns the arms that a list names: words with commas between them; `off` in `mitigations=auto,off` has the key of
/// the word before it, and `\,` is a comma of a word. The others are compared with the first, and a single one with the
/// usual system.
///
/// # Errors
/// One cannot stand on the kernel's command line, or two are the same.
pub(super) fn arms(list: &str) -> Result<Vec<Arm>> {
    let mut arms: Vec<Arm> = Vec::new();
    let mut last = None;
    let list = list.replace(ESCAPED, "\n");
    for name in list.split(',').map(|name| name.replace('\n', ",")) {
        let name = match last {
            Some(key) if !name.contains('=') && !name.is_empty() && name != USUAL => format!("{key}={name}"),
            _ => name,
        };
        last = name.rsplit('+').next().and_then(|word| word.split_once('=')).map(|(key, _)| key.to_owned());
        arms.push(Arm::new(&name)?);
    }
    if arms.len() == 1 {
        arms.insert(0, Arm::usual());
    }
    for (place, arm) in arms.iter().enumerate() {
        if arms[..place].iter().any(|other| (&other.words, &other.kernel) == (&arm.words, &arm.kernel)) {
            bail!("'{}' is the same as an arm before it; name another, such as mitigations=off", arm.name);
        }
    }
    Ok(arms)
}

fn key(word: &str) -> &str {
    word.split_once('=').map_or(word, |(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        arms(list).unwrap().into_iter().map(|arm| arm.name).collect()
    }

    #[test]
    fn words_and_kernels_are_arms() {
        assert_eq!(names("mitigations=off"), ["none", "mitigations=off"]);
        assert_eq!(names("mitigations=off,auto"), ["mitigations=off", "mitigations=auto"]);
        assert_eq!(names("none,nosmt,quiet"), ["none", "nosmt", "quiet"]);
        assert_eq!(names("mitigations=auto\\,nosmt,off"), ["mitigations=auto,nosmt", "mitigations=off"]);
        assert_eq!(names("audit=0+spectre_v2=off,on"), ["audit=0+spectre_v2=off", "spectre_v2=on"]);
        let kernels = arms("kernel=6.1.0-rt+quiet,6.1.0").unwrap();
        assert_eq!(
            kernels[0],
            Arm {
                name: "kernel=6.1.0-rt+quiet".to_owned(),
                words: vec!["quiet".to_owned()],
                kernel: Some("6.1.0-rt".to_owned()),
            }
        );
        for (list, why) in [
            ("mitigations=off,off", "'mitigations=off' is the same as an arm before it"),
            ("none", "'none' is the same as an arm before it"),
            ("a=$(reboot)", "'a=$(reboot)' cannot stand on the kernel's command line; try mitigations=off"),
            ("a=1,,b=2", "'' cannot"),
        ] {
            assert!(arms(list).is_err_and(|error| error.to_string().starts_with(why)), "{list}");
        }
    }

    #[test]
    fn a_boot_proves_its_arm() {
        let usual =
            System { command_line: "root=/dev/vda1 quiet mitigations=auto".to_owned(), release: "6.1".to_owned() };
        let arms = arms("none,mitigations=off,audit=1,kernel=6.1-rt").unwrap();
        let check = |arm: usize, words: &str, release: &str| {
            let now = System { command_line: format!("{} {words}", usual.command_line), release: release.to_owned() };
            arms[arm].check(&now, &usual, &arms)
        };
        assert_eq!(check(0, "", "6.1"), Ok(()));
        assert_eq!(check(1, "mitigations=off", "6.1"), Ok(()));
        assert_eq!(check(3, "", "6.1-rt"), Ok(()));
        for (arm, words, release, why) in [
            (0, "mitigations=off", "6.1", "the machine came up with 'mitigations=off'"),
            (0, "audit=1", "6.1", "the machine came up with 'audit=1'"),
            (1, "", "6.1", "the machine came up with 'mitigations=auto', not 'mitigations=off'"),
            (1, "mitigations=off audit=1", "6.1", "the machine came up with 'audit=1'"),
            (2, "", "6.1", "the machine came up without 'audit=1'"),
            (3, "", "6.1", "the machine came up with kernel 6.1, not 6.1-rt"),
        ] {
            assert_eq!(check(arm, words, release), Err(why.to_owned()));
        }
    }
}
