//! Finding rows by name, by group and by the labels of other suites' reports.

use std::collections::BTreeSet;
use std::sync::Arc;

use words::{mentions, nearest, shell};

use anyhow::{Context, Result, anyhow, bail};

use super::{Catalogue, Copies, Group, Index, NONE, Role, Test};

/// An error names the rows about an unknown word if there are no more.
const MAX_NAMED_ROWS: usize = 5;

/// An error suggests `list` for an unknown word if there are no more rows about it.
const MAX_SUGGESTED_ROWS: usize = 20;

impl Catalogue {
    /// The test called `id`.
    pub fn test(&self, id: &str) -> Option<&Arc<Test>> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// True if a test, a group or a word of the command line is called `id`.
    pub fn has(&self, id: &str) -> bool {
        self.test(id).is_some()
            || self.groups.iter().any(|group| group.id == id)
            || id == NONE
            || id == "all"
    }

    /// The tests that are made to run in the background; any other may do so too.
    pub fn loads(&self) -> impl Iterator<Item = &Arc<Test>> {
        self.tests.iter().filter(|test| test.roles.contains(&Role::Load))
    }

    /// The tests that `names` stand for, each once, in the order given.
    ///
    /// # Errors
    /// A name that is neither test nor group: the message suggests the nearest.
    pub fn expand(&self, names: &[String]) -> Result<Vec<Arc<Test>>> {
        let mut tests: Vec<Arc<Test>> = Vec::new();
        for name in names {
            for test in self.members(name, false)? {
                check_measured(&test)?;
                if !tests.iter().any(|known| known.id == test.id) {
                    tests.push(test);
                }
            }
        }
        Ok(tests)
    }

    /// The loads that `names` stand for, each once, in the order given: any test, or
    /// nothing for [`NONE`].
    ///
    /// # Errors
    /// A name that is neither test nor group.
    pub fn expand_loads(&self, names: &[String]) -> Result<Vec<Option<Arc<Test>>>> {
        let mut expanded: Vec<Option<Arc<Test>>> = Vec::new();
        for name in names {
            let loads = if name == NONE {
                vec![None]
            } else {
                self.members(name, true)?.into_iter().map(Some).collect()
            };
            if let Some(test) = loads.iter().flatten().find(|test| test.roles == [Role::Burn]) {
                bail!(
                    "'{}' cannot run as a load alongside tests: it is for `unixmark burnin`; try another of `unixmark list loads`",
                    test.id
                );
            }

            for load in loads {
                let id = load.as_ref().map(|test| &test.id);
                if !expanded.iter().any(|known| known.as_ref().map(|test| &test.id) == id) {
                    expanded.push(load);
                }
            }
        }
        Ok(expanded)
    }

    /// The tests that a name stands for, as loads or as measured tests.
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
        if let Some(tests) = self.members_in_mode(name)? {
            return Ok(tests);
        }

        let mut names: Vec<&str> = Vec::new();
        let mut about: Vec<&str> = Vec::new();
        for group in &self.groups {
            names.push(&group.id);
            if !is_load && mentions(&group.doc, name) {
                about.push(&group.id);
            }
        }
        for test in &self.tests {
            names.push(&test.id);
            if test.is_about(name) && (!is_load || test.roles.contains(&Role::Load)) {
                about.push(&test.id);
            }
        }
        let names = names.into_iter();
        Err(match is_load {
            true => unknown_name_error("load", name, names.chain([NONE]), &about, "loads"),
            false => unknown_name_error("test or group", name, names, &about, "tests"),
        })
    }

    /// The tests of a name such as `mmap_threads` or `kernel_processes`, as will-it-scale writes
    /// it: those of a group that can have such copies. `None` if the name is not of that form.
    fn members_in_mode(&self, name: &str) -> Result<Option<Vec<Arc<Test>>>> {
        let Some((id, word)) = name.rsplit_once('_') else { return Ok(None) };
        let Some(mode) = Copies::from_word(word) else { return Ok(None) };
        if let Some(test) = self.test(id) {
            return Ok(Some(vec![test.as_copies(mode)?]));
        }
        let Some(group) = self.groups.iter().find(|group| group.id == id) else { return Ok(None) };

        let members = self.expand(&self.names(group))?;
        let mut tests = Vec::new();
        for test in members.iter().filter(|test| test.can_be(mode)) {
            tests.push(test.as_copies(mode)?);
        }
        if tests.is_empty() {
            bail!("no test of {id} can run as {word}; `unixmark list tests {id}` shows them");
        }
        Ok(Some(tests))
    }

    /// The index called `name`, or the one that has the same tests as the group of that name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        if let Some(index) = self.indexes.iter().find(|index| index.id == name) {
            return Some(index);
        }

        let group = self.groups.iter().find(|group| group.id == name)?;
        let members = self.expand(std::slice::from_ref(&group.id)).ok()?;
        let members: BTreeSet<&str> = members.iter().map(|test| test.id.as_str()).collect();
        self.indexes.iter().find(|index| {
            let tests: BTreeSet<&str> = self
                .tests
                .iter()
                .filter(|test| test.baseline.contains_key(&index.id))
                .map(|test| test.id.as_str())
                .collect();
            tests == members
        })
    }

    /// The names of a group's members.
    pub fn names(&self, group: &Group) -> Vec<String> {
        let mut names = group.members.clone();
        let gathered = self.tests.iter().filter(|test| test.is_rate() && group.gathers(test));
        names.extend(gathered.map(|test| test.id.clone()));
        names
    }

    /// The test that a report of UnixBench or BYTE calls `label`. White space, dashes and capitals
    /// do not matter.
    pub fn by_label(&self, label: &str) -> Option<&Arc<Test>> {
        let wanted = fold_label(label);
        self.tests.iter().find(|test| {
            std::iter::once(&test.label).chain(&test.also).any(|known| fold_label(known) == wanted)
        })
    }
}

impl Test {
    /// True if its id, label, category or documentation mentions a word or another tool.
    fn is_about(&self, name: &str) -> bool {
        [&self.id, &self.label, &self.category, &self.doc]
            .into_iter()
            .any(|text| mentions(text, name))
    }

    /// This test under the name `id`, with more arguments: `sync=1:size=64`. `as=threads` is none
    /// of its program's: it says what copies are.
    ///
    /// # Errors
    /// A word is not an argument, or copies cannot be of that kind.
    pub fn with(&self, id: &str, words: &str) -> Result<Test> {
        let (kinds, words): (Vec<&str>, Vec<&str>) =
            words.split(':').partition(|word| word.starts_with("as="));
        if let Some(kind) = kinds.last() {
            let kind = kind.trim_start_matches("as=");
            let mode = Copies::from_word(kind).with_context(|| {
                format!(
                    "copies cannot be '{kind}'; try {0}:as=threads or {0}:as=processes",
                    self.id
                )
            })?;
            let base = match words[..] {
                [] => self.clone(),
                _ => self.with(&format!("{}:{}", self.id, words.join(":")), &words.join(":"))?,
            };
            return Ok(Arc::unwrap_or_clone(base.as_copies(mode)?));
        }

        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
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

impl Test {
    /// This test with copies of that kind: itself if it has them anyway, or one whose name ends in
    /// `:as=threads`.
    ///
    /// # Errors
    /// Its copies cannot be of that kind.
    pub fn as_copies(&self, mode: Copies) -> Result<Arc<Test>> {
        let word = mode.word().unwrap_or("one copy");
        if !self.can_be(mode) {
            match self.copies.word() {
                Some(other) => bail!("{} cannot run as {word}: its copies are {other}", self.id),
                None => bail!("{} cannot run as {word}: it never has more than one copy", self.id),
            }
        }
        if mode == self.copies {
            return Ok(Arc::new(self.clone()));
        }

        let current = self.copies.word().unwrap_or_default();
        let id = self.id.strip_suffix(&format!(":as={current}")).unwrap_or(&self.id);
        let label = self.label.strip_suffix(&format!(", {current}")).unwrap_or(&self.label);
        if self.modes.first() == Some(&mode) {
            let (id, label) = (id.to_owned(), label.to_owned());
            return Ok(Arc::new(Test { id, label, copies: mode, ..self.clone() }));
        }
        Ok(Arc::new(Test {
            id: format!("{id}:as={word}"),
            label: format!("{label}, {word}"),
            copies: mode,
            ..self.clone()
        }))
    }

    /// True if its copies can be of that kind.
    pub fn can_be(&self, mode: Copies) -> bool {
        mode == self.copies || self.modes.contains(&mode)
    }
}

/// Refuses a test that is not measured by itself.
fn check_measured(test: &Test) -> Result<()> {
    match test.roles[..] {
        [Role::Companion] => bail!(
            "'{}' is not measured by itself: it runs alongside tests for a condition of `unixmark list conditions`, \
             such as `unixmark cost inotify`",
            test.id
        ),
        [Role::Burn] => {
            bail!("'{}' is not measured by itself: it is for `unixmark burnin`", test.id)
        }
        _ => Ok(()),
    }
}

/// The letters and digits of a label, in lower case.
fn fold_label(label: &str) -> String {
    label.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Words that people look for, and what there is for them.
const ELSEWHERE: [(&[&str], &str); 4] = [
    (
        &["docker", "container", "containers", "containerd"],
        "the condition podman measures inside a container, and seccomp=docker under Docker's filter",
    ),
    (
        &["bwrap", "bubblewrap", "firejail", "flatpak"],
        "compare the command with and without it: `unixmark ab 'COMMAND' 'bwrap … COMMAND'`",
    ),
    (&["music", "sound", "stutter", "audacity"], "try `unixmark latency audio-desktop -w make`"),
    (
        &["pgbench", "postgres", "postgresql", "mysql", "mariadb", "redis", "nginx", "wrk"],
        "a running server is measured by its own client: docs/guide/two-programs.md, \"A running server\"",
    ),
];

/// The advice for a name of another program or subject, if [`ELSEWHERE`] has it.
fn elsewhere(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let found = ELSEWHERE.iter().find(|(words, _)| words.contains(&name.as_str()))?;
    Some(found.1)
}

/// The error about an unknown name. It suggests the `related` rows if they are few, else what there
/// is outside the catalogue, or the known name that is most similar.
pub(crate) fn unknown_name_error<'a>(
    kind: &str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
    related: &[&str],
    list: &str,
) -> anyhow::Error {
    let refusal = format!("there is no {kind} '{name}'");
    let are_few = (1..=MAX_NAMED_ROWS).contains(&related.len());
    if let Some(hint) = elsewhere(name).filter(|_| !are_few) {
        return anyhow!("{refusal}; {hint}");
    }
    let see_all = format!("`unixmark list {list}` shows all");
    match (nearest(name, names), related.len()) {
        (_, 1..=MAX_NAMED_ROWS) => anyhow!("{refusal}; related: {}; {see_all}", related.join(", ")),
        (Some(near), _) => anyhow!("{refusal}; did you mean '{near}'? {see_all}"),
        (None, 1..=MAX_SUGGESTED_ROWS) => {
            let word = shell(&[name.to_owned()]);
            anyhow!("{refusal}; `unixmark list {list} {word}` shows related ones")
        }
        _ => anyhow!("{refusal}; {see_all}"),
    }
}
