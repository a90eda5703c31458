//! The arms of an experiment over boots, which differ in words of the kernel's command line, or in
//! the kernel.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use machine::Machine;

/// The key of an arm that boots another kernel.
const KERNEL_KEY: &str = "kernel";

/// A comma that is part of a word.
const ESCAPED_COMMA: &str = "\\,";

/// The name of the arm without a change.
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

    /// The last word with the key of `word`: the kernel goes by the last.
    fn word_in_force(&self, word: &str) -> Option<&str> {
        self.command_line.split_whitespace().rfind(|known| key(known) == key(word))
    }
}

/// A change of the system that is booted.
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
    /// The usual system as an arm.
    pub(super) fn usual() -> Arm {
        Arm { name: USUAL.to_owned(), words: Vec::new(), kernel: None }
    }

    /// Reads words with `+` between them.
    fn parse(name: &str) -> Result<Arm> {
        let mut arm = Arm { name: name.to_owned(), ..Arm::usual() };
        for word in name.split('+').filter(|word| *word != USUAL) {
            if !is_plain_word(word) {
                bail!("'{word}' cannot stand on the kernel's command line; try mitigations=off");
            }
            match word.split_once('=') {
                Some((KERNEL_KEY, release)) => arm.kernel = Some(release.to_owned()),
                _ => arm.words.push(word.to_owned()),
            }
        }
        Ok(arm)
    }

    /// Checks that a system is this arm's: its words are in force, no word of another arm is, and
    /// its kernel runs.
    ///
    /// # Errors
    /// A sentence that says how the machine came up.
    pub(super) fn check(&self, now: &System, usual: &System, arms: &[Arm]) -> Result<(), String> {
        let release = self.kernel.as_ref().unwrap_or(&usual.release);
        if now.release != *release {
            return Err(format!("the machine came up with kernel {}, not {release}", now.release));
        }
        for word in &self.words {
            match now.word_in_force(word) {
                Some(in_force) if in_force == word => {}
                Some(other) => {
                    return Err(format!("the machine came up with '{other}', not '{word}'"));
                }
                None => return Err(format!("the machine came up without '{word}'")),
            }
        }

        // Words of other arms are as they usually are, unless this arm sets them, too.
        let keys: Vec<&str> = self.words.iter().map(|word| key(word)).collect();
        for word in arms.iter().flat_map(|arm| &arm.words) {
            let (in_force, expected) = (now.word_in_force(word), usual.word_in_force(word));
            if !keys.contains(&key(word)) && in_force != expected {
                return Err(format!("the machine came up with '{}'", in_force.unwrap_or(word)));
            }
        }
        Ok(())
    }

    /// True if this arm and another boot the same system.
    fn boots_as(&self, other: &Arm) -> bool {
        (&other.words, &other.kernel) == (&self.words, &self.kernel)
    }
}

/// True unless a word is empty or has a character to which boot loaders, shells or the kernel give
/// a meaning.
fn is_plain_word(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.,:/@=~".contains(letter);
    !word.is_empty() && word.chars().all(is_plain)
}

/// The arms that a list names: words with commas between them; `off` in `mitigations=auto,off` has
/// the key of the word before it, and `\,` is a comma of a word. The others are compared with the
/// first, and a single one with the usual system.
///
/// # Errors
/// An arm cannot stand on the kernel's command line, or two are the same.
pub(super) fn parse_arms(list: &str) -> Result<Vec<Arm>> {
    let mut arms: Vec<Arm> = Vec::new();
    let mut last_key: Option<String> = None;
    let list = list.replace(ESCAPED_COMMA, "\n");
    for name in list.split(',').map(|name| name.replace('\n', ",")) {
        let name = match last_key {
            Some(key) if !name.contains('=') && !name.is_empty() && name != USUAL => {
                format!("{key}={name}")
            }
            _ => name,
        };
        let last_word = name.rsplit('+').next().and_then(|word| word.split_once('='));
        last_key = last_word.map(|(key, _)| key.to_owned());
        arms.push(Arm::parse(&name)?);
    }
    if arms.len() == 1 {
        arms.insert(0, Arm::usual());
    }

    for (place, arm) in arms.iter().enumerate() {
        if arms[..place].iter().any(|other| arm.boots_as(other)) {
            bail!(
                "'{}' is the same as an arm before it; name another, such as mitigations=off",
                arm.name
            );
        }
    }
    Ok(arms)
}

/// The part of a word before `=`, or the word.
fn key(word: &str) -> &str {
    word.split_once('=').map_or(word, |(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        parse_arms(list).unwrap().into_iter().map(|arm| arm.name).collect()
    }

    #[test]
    fn words_and_kernels_are_arms() {
        assert_eq!(names("mitigations=off"), ["none", "mitigations=off"]);
        assert_eq!(names("mitigations=off,auto"), ["mitigations=off", "mitigations=auto"]);
        assert_eq!(names("none,nosmt,quiet"), ["none", "nosmt", "quiet"]);
        assert_eq!(
            names("mitigations=auto\\,nosmt,off"),
            ["mitigations=auto,nosmt", "mitigations=off"]
        );
        assert_eq!(names("audit=0+spectre_v2=off,on"), ["audit=0+spectre_v2=off", "spectre_v2=on"]);
        let kernels = parse_arms("kernel=6.1.0-rt+quiet,6.1.0").unwrap();
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
            (
                "a=$(reboot)",
                "'a=$(reboot)' cannot stand on the kernel's command line; try mitigations=off",
            ),
            ("a=1,,b=2", "'' cannot"),
        ] {
            let error = parse_arms(list).unwrap_err().to_string();
            assert!(error.starts_with(why), "{list}: {error}");
        }
    }

    #[test]
    fn a_boot_proves_its_arm() {
        let usual = System {
            command_line: "root=/dev/vda1 quiet mitigations=auto".to_owned(),
            release: "6.1".to_owned(),
        };
        let arms = parse_arms("none,mitigations=off,audit=1,kernel=6.1-rt").unwrap();
        let check = |arm: usize, words: &str, release: &str| {
            let now = System {
                command_line: format!("{} {words}", usual.command_line),
                release: release.to_owned(),
            };
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
