//! Finding rows by name, by group and by the labels of other suites' reports.

use std::collections::BTreeSet;
use std::sync::Arc;

use words::{mentions, nearest, shell};

use anyhow::{Result, anyhow, bail};

use super::{Catalogue, Group, Index, NONE, Role, Test};

/// The most rows about an unknown word that an error names.
const HINTS: usize = 5;

/// The most rows about a word for which `list` is suggested.
const MOST: usize = 20;

impl Catalogue {
    /// Returns the test called `id`.
    pub fn test(&self, id: &str) -> Option<&Arc<Test>> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// Returns true if a test, a group or a word of the command line is called `id`.
    pub fn has(&self, id: &str) -> bool {
        self.test(id).is_some() || self.groups.iter().any(|group| group.id == id) || id == NONE || id == "all"
    }

    /// Returns the tests that are made to run in the background; any other may do so too.
    pub fn loads(&self) -> impl Iterator<Item = &Arc<Test>> {
        self.tests.iter().filter(|test| test.roles.contains(&Role::Load))
    }

    /// Returns the tests that `names` stand for, each once, in the order given.
    ///
    /// # Errors
    /// A name that is neither test nor group: the message suggests the nearest.
    pub fn expand(&self, names: &[String]) -> Result<Vec<Arc<Test>>> {
        let mut found: Vec<Arc<Test>> = Vec::new();
        for name in names {
            for test in self.members(name, false)? {
                check_measured(&test)?;
                if !found.iter().any(|known| known.id == test.id) {
                    found.push(test);
                }
            }
        }
        Ok(found)
    }

    /// Returns the loads that `names` stand for, each once, in the order given: any test, or nothing for [`NONE`].
    ///
    /// # Errors
    /// A name that is neither test nor group.
    pub fn expand_loads(&self, names: &[String]) -> Result<Vec<Option<Arc<Test>>>> {
        let mut found: Vec<Option<Arc<Test>>> = Vec::new();
        for name in names {
            let loads =
                if name == NONE { vec![None] } else { self.members(name, true)?.into_iter().map(Some).collect() };
            if let Some(test) = loads.iter().flatten().find(|test| test.roles == [Role::Burn]) {
                bail!(
                    "'{}' cannot run as a load alongside tests: it is for `unixmark burnin`; try another of `unixmark list loads`",
                    test.id
                );
            }
            for load in loads {
                let id = |load: &Option<Arc<Test>>| load.as_ref().map(|test| test.id.clone());
                if !found.iter().any(|known| id(known) == id(&load)) {
                    found.push(load);
                }
            }
        }
        Ok(found)
    }

    /// The tests that a name stands for: as loads, or as what is measured.
    fn members(&self, name: &str, is_load: bool) -> Result<Vec<Arc<Test>>> {
        // A test hides a group of its name, so that a group may not name itself for ever.
        if let Some(test) = self.test(name) {
            return Ok(vec![Arc::clone(test)]);
        }
        if let Some((id, words)) = name.split_once(':')
            && let Some(test) = self.test(id)
        {
            return Ok(vec![Arc::new(test.with(name, words)?)]);
        }
        if name == "all" {
            return Ok(self.tests.iter().filter(|test| test.is_rate()).cloned().collect());
        }
        if let Some(group) = self.groups.iter().find(|group| group.id == name) {
            return self.expand(&self.names(group));
        }
        let names = self.groups.iter().map(|g| &g.id).chain(self.tests.iter().map(|t| &t.id));
        let names = names.map(String::as_str);
        let groups = self.groups.iter().filter(|group| !is_load && mentions(&group.doc, name)).map(|group| &group.id);
        let tests =
            self.tests.iter().filter(|test| test.is_about(name) && (!is_load || test.roles.contains(&Role::Load)));
        let about: Vec<&str> = groups.chain(tests.map(|test| &test.id)).map(String::as_str).collect();
        Err(match is_load {
            true => unknown("load", name, names.chain([NONE]), &about, "loads"),
            false => unknown("test or group", name, names, &about, "tests"),
        })
    }

    /// Returns the index called `name`, or that of the group of that name: the one whose tests are the group's.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.id == name).or_else(|| {
            let group = self.groups.iter().find(|group| group.id == name)?;
            let members = self.expand(std::slice::from_ref(&group.id)).ok()?;
            let members: BTreeSet<&str> = members.iter().map(|test| test.id.as_str()).collect();
            let is_of_them = |index: &&Index| {
                let own = self.tests.iter().filter(|test| test.baseline.contains_key(&index.id));
                own.map(|test| test.id.as_str()).collect::<BTreeSet<&str>>() == members
            };
            self.indexes.iter().find(is_of_them)
        })
    }

    /// Returns the names of a group's members.
    pub fn names(&self, group: &Group) -> Vec<String> {
        let every = |test: &&Arc<Test>| test.is_rate() && group.gathers(test);
        let of_it = self.tests.iter().filter(every).map(|test| test.id.clone());
        group.members.iter().cloned().chain(of_it).collect()
    }

    /// Returns the test that a report of UnixBench or BYTE calls `label`, however its white space,
    /// dashes and capitals came through.
    pub fn by_label(&self, label: &str) -> Option<&Arc<Test>> {
        let wanted = folded(label);
        self.tests
            .iter()
            .find(|test| std::iter::once(&test.label).chain(&test.also).any(|known| folded(known) == wanted))
    }
}

impl Test {
    /// Returns true if its id, label, category or documentation has a word or the name of another tool.
    fn is_about(&self, name: &str) -> bool {
        [&self.id, &self.label, &self.category, &self.doc].into_iter().any(|text| mentions(text, name))
    }

    /// Returns this test under the name `id`, with more arguments: `sync=1:size=64`.
    ///
    /// # Errors
    /// A word is not an argument.
    pub fn with(&self, id: &str, words: &str) -> Result<Test> {
        let words: Vec<String> = words.split(':').map(str::to_owned).collect();
        if let Some(word) = words.iter().find(|word| !word.contains('=')) {
            bail!("'{word}' in '{id}' is not an argument; try {}:name=value", self.id);
        }
        let mut test = self.clone();
        test.label = format!("{} {}", self.label, words.join(" "));
        test.id = id.to_owned();
        test.args.extend(words);
        Ok(test)
    }
}

/// Refuses what is not measured by itself.
fn check_measured(test: &Test) -> Result<()> {
    match test.roles[..] {
        [Role::Companion] => bail!(
            "'{}' is not measured by itself: it runs alongside tests for a condition of `unixmark list conditions`, \
             such as `unixmark cost inotify`",
            test.id
        ),
        [Role::Burn] => bail!("'{}' is not measured by itself: it is for `unixmark burnin`", test.id),
        _ => Ok(()),
    }
}

/// Returns what is left of a label when only letters and digits count.
fn folded(label: &str) -> String {
    label.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Says that a name is not known, which is most like it, or else which rows are `about` it.
pub(crate) fn unknown<'a>(
    kind: &str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
    about: &[&str],
    list: &str,
) -> anyhow::Error {
    let what = format!("there is no {kind} '{name}'");
    let all = format!("`unixmark list {list}` shows all");
    match (nearest(name, names), about.len()) {
        (_, 1..=HINTS) => anyhow!("{what}; related: {}; {all}", about.join(", ")),
        (Some(near), _) => anyhow!("{what}; did you mean '{near}'? {all}"),
        (None, 1..=MOST) => {
            let word = shell(&[name.to_owned()]);
            anyhow!("{what}; `unixmark list {list} {word}` shows related ones")
        }
        _ => anyhow!("{what}; {all}"),
    }
}
