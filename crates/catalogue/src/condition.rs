//! Conditions: switches of the machine around a measurement, as the command line names them.
//!
//! A [`Switch`] is a row of the catalogue, with [`Level`]s. A [`Condition`] is some switches at a
//! level each, `thp=never+nice=5`, or none of them. How a switch is switched, its [`Means`], is
//! carried out by the crate `conditions`.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Error, Result, anyhow, bail};
use serde::{Deserialize, Deserializer};

use super::{Catalogue, NONE, Need, Test, unknown_name_error};

/// One row of `catalogue/conditions.toml`: something that can be switched.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// The name on the command line.
    pub id: String,
    /// The name in reports.
    pub label: String,
    /// The means by which it is switched.
    pub means: Means,
    /// The levels it has, in order. None at all means that it is on or not named; one with an empty
    /// name takes anything.
    #[serde(default, deserialize_with = "read_levels")]
    pub levels: Vec<Level>,
    /// The condition that `unixmark cost` compares it with, where that is not the machine as found.
    pub against: Option<String>,
    /// Files to write the level to, `*` standing for any name.
    #[serde(default)]
    pub files: Vec<String>,
    /// Arguments of the measured programs; `{level}` stands for the level.
    #[serde(default)]
    pub args: Vec<String>,
    /// A command that starts the measured programs, before their path. With an `enter`, it starts
    /// them in a container, and each program proves that it is in one.
    #[serde(default)]
    pub prefix: Vec<String>,
    /// True if `enter` starts what stays, and the prefix starts programs in it; otherwise each
    /// program gets a sandbox of its own.
    #[serde(default)]
    pub stays: bool,
    /// A test that runs alongside the measured programs and counts what it sees; it gets the level
    /// as `kind=LEVEL`.
    pub companion: Option<String>,
    /// The shell command that switches it on; the level is its `$1`.
    pub enter: Option<String>,
    /// The shell command that succeeds while it is on; what it prints is evidence.
    pub verify: Option<String>,
    /// The shell command that switches it off; it may be run twice.
    pub leave: Option<String>,
    /// The shell command that succeeds once nothing of it is left, and else prints what is: `leave`
    /// is believed only then.
    pub absent: Option<String>,
    /// The name that the kernel has for the processes which it starts: their processor time and
    /// memory are evidence.
    pub agent: Option<String>,
    /// Shell commands that print a count which only grows, by the count's name: `events` that
    /// something saw, and those that it `lost`. The level is their `$1`.
    #[serde(default)]
    pub counters: BTreeMap<String, String>,
    /// A sentence about what its levels leave behind until a reboot; levels that must come first
    /// leave nothing.
    pub leaves: Option<String>,
    /// Its needs.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Its description, and what it does not show.
    pub doc: String,
    /// Settings that its files must not be, unless the user insists.
    #[serde(skip)]
    pub one_way: Arc<[OneWay]>,
}

/// One row of `catalogue/one-way.toml`: a setting that the kernel lets nobody take back.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneWay {
    /// Its file; `*` stands for any directories, once.
    pub file: String,
    /// The values that can be left again.
    #[serde(default)]
    pub both: Vec<String>,
    /// Why any other value stays, and until when: a clause after a colon.
    pub why: String,
}

impl OneWay {
    /// True if a file, whose links have been followed, is this setting.
    fn is_at(&self, file: &str) -> bool {
        match self.file.split_once('*') {
            Some((start, end)) => file.starts_with(start) && file.ends_with(end),
            None => file == self.file,
        }
    }
}

/// A value that a switch can have: a name, or a table with more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Level {
    /// The name on the command line. One that ends in `:` takes more after it.
    pub id: String,
    /// The text that is written for it, if that is not its name.
    pub text: Option<String>,
    /// The beginning of a sentence about it: `Auditing every system call`.
    pub phrase: Option<String>,
    /// Audit rules in the format of auditctl(8).
    pub rules: Option<String>,
    /// The levels that make up this one. The first is in each of the others.
    #[serde(default)]
    pub sum: Vec<String>,
    /// True if it can only be measured before anything else of the run has been switched.
    #[serde(default)]
    pub first: bool,
}

/// A level as a row has it.
#[derive(Deserialize)]
#[serde(untagged)]
enum LevelForm {
    Id(String),
    Table(Level),
}

fn read_levels<'de, D: Deserializer<'de>>(row: D) -> Result<Vec<Level>, D::Error> {
    let mut levels = Vec::new();
    for form in Vec::<LevelForm>::deserialize(row)? {
        levels.push(match form {
            LevelForm::Id(id) => Level { id, ..Level::default() },
            LevelForm::Table(level) => level,
        });
    }
    Ok(levels)
}

/// The means of switching something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// Nothing is done.
    Nothing,
    /// A text is written to files, and read back.
    File,
    /// The measured programs do it to themselves, and prove it by a `value` line of the row's name.
    Argument,
    /// The same, with a filter that may come out of a file.
    Seccomp,
    /// The measured programs are started by another, and a companion may run alongside them.
    Beside,
    /// A control group limits the measured programs.
    Cgroup,
    /// The measured programs have processors of their own.
    Shield,
    /// The measured programs work in a file system of their own.
    Mount,
    /// The kernel's tracing counts system calls.
    Tracing,
    /// The measured programs are built otherwise.
    Build,
    /// The kernel audits the measured programs.
    Audit,
    /// Shell commands of the row switch it on, verify that, and switch it off.
    Command,
}

/// The limits of a control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CgroupLimit {
    /// Processor time.
    Quota(Quota),
    /// The share of processor time among groups; 100 is usual.
    Weight(u32),
    /// Bytes of memory.
    Memory(u64),
    /// Processors, as a list such as `0,1`, and the memory nodes of the machine, which version 1
    /// needs, too.
    Cpus(String, String),
}

/// The processor time of a control group in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// In per cent of one processor.
    pub percent: u64,
    /// The length of the period in µs.
    pub period: u64,
    /// The unused time that may accumulate, in µs.
    pub burst: u64,
}

impl Quota {
    /// Parses `PERCENT:PERIOD:BURST`. A missing period is the kernel's 0.1 s, a missing burst 0.
    ///
    /// # Errors
    /// The text is not such a quota; the sentence says what to try.
    pub fn parse(text: &str) -> Result<Quota, String> {
        let mut fields = text.split(':');
        let percent = fields.next().unwrap_or_default();
        let percent = percent.strip_suffix('%').unwrap_or(percent).parse().ok();
        let percent = percent.filter(|percent| (1..=1_000_000).contains(percent));
        let mut time = |missing: u64| fields.next().map_or(Some(missing), parse_microseconds);
        match (percent, time(100_000), time(0), fields.next()) {
            // The kernel's own limits.
            (Some(percent), Some(period @ 1_000..=1_000_000), Some(burst), None)
                if percent * period >= 100_000 =>
            {
                Ok(Quota { percent, period, burst })
            }
            _ => Err(format!(
                "'{text}' is not a quota of processor time; try 100%, 100%:10ms (with the period, at most 1 s, and at \
                 least 1 ms of it) or 100%:10ms:5ms (with the burst)"
            )),
        }
    }
}

/// A length such as `10ms` or `500us` in µs.
fn parse_microseconds(text: &str) -> Option<u64> {
    let units = [("us", 1), ("ms", 1_000), ("s", 1_000_000)];
    let (number, unit) =
        units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    number.parse::<u64>().ok()?.checked_mul(*unit)
}

/// The condition of a cell: switches at levels, all at once.
#[derive(Debug, Clone)]
pub struct Condition {
    /// As the command line has it: `none`, or `SWITCH=LEVEL` joined by `+`.
    pub name: String,
    /// Each switch with its level.
    pub parts: Vec<(Arc<Switch>, String)>,
}

impl Condition {
    /// The machine as it was found.
    pub fn none() -> Arc<Condition> {
        Arc::new(Condition { name: NONE.to_owned(), parts: Vec::new() })
    }

    /// Both conditions at once.
    #[must_use]
    pub fn and(&self, other: &Condition) -> Condition {
        let names: Vec<&str> = [self, other]
            .iter()
            .filter(|condition| !condition.parts.is_empty())
            .map(|condition| &*condition.name)
            .collect();
        let name = if names.is_empty() { NONE.to_owned() } else { names.join("+") };
        Condition { name, parts: [&self.parts[..], &other.parts].concat() }
    }

    /// The condition with another switch at a level, as `word` names it.
    fn with_level(&self, word: &str, switch: &Arc<Switch>, level: &str) -> Condition {
        // A switch that stands for all of its levels is named with each of them.
        let word = if level.is_empty() || word != switch.id {
            word.to_owned()
        } else {
            format!("{word}={level}")
        };
        let mut with_level = self.clone();
        let joint = if self.name.is_empty() { "" } else { "+" };
        with_level.name += &format!("{joint}{word}");
        with_level.parts.push((Arc::clone(switch), level.to_owned()));
        with_level
    }

    /// True if it can only be measured before anything else of the run has been switched.
    pub fn is_first(&self) -> bool {
        self.parts
            .iter()
            .any(|(switch, level)| switch.level(level).is_some_and(|level| level.first))
    }

    /// The beginning of a sentence about it; `None` if its row has none, or it has several parts.
    pub fn phrase(&self) -> Option<&str> {
        match &self.parts[..] {
            [(switch, level)] => switch.level(level)?.phrase.as_deref(),
            _ => None,
        }
    }

    /// A description for people: its phrase if it has one, else what is written to which files, or
    /// the labels of switches that write none.
    pub fn describe_settings(&self) -> String {
        if let Some(phrase) = self.phrase() {
            return phrase.to_owned();
        }
        if self.parts.is_empty() {
            return "the machine as it was found".to_owned();
        }

        let mut settings = Vec::new();
        for (switch, level) in &self.parts {
            let (files, text) = switch.target(level);
            if files.is_empty() {
                settings.push(switch.label.clone());
            } else {
                settings.push(format!("{text} in {}", files.join(", ")));
            }
        }
        settings.join("; ")
    }

    /// The name of the condition with which `unixmark cost` compares it: its switches say, or it is
    /// the machine as found.
    pub fn against(&self) -> &str {
        self.parts.iter().find_map(|(switch, _)| switch.against.as_deref()).unwrap_or(NONE)
    }
}

impl Level {
    /// True if its name is all that has to be said.
    fn is_complete(&self) -> bool {
        !self.id.is_empty() && !self.id.ends_with(':')
    }
}

impl Switch {
    /// The level that a name on the command line stands for; `None` if there is none.
    pub fn level(&self, name: &str) -> Option<&Level> {
        self.levels.iter().find(|level| match level.id.strip_suffix(':') {
            Some(_) => name.len() > level.id.len() && name.starts_with(&level.id),
            None if level.id.is_empty() => !name.is_empty(),
            None => name == level.id,
        })
    }

    /// The first example in its description, of a switch whose levels have no names.
    pub fn example(&self) -> Option<&str> {
        let has_names = self.levels.iter().any(|level| !level.id.is_empty());
        self.doc.split('`').nth(1).filter(|_| !has_names && !self.levels.is_empty())
    }

    /// The text that is written for a level.
    pub fn written<'a>(&'a self, level: &'a str) -> &'a str {
        self.level(level).and_then(|level| level.text.as_deref()).unwrap_or(level)
    }

    /// The files that a level's text is written to, which may have wildcards, and the text:
    /// for `sysctl:KEY=VALUE` and `file:PATH=VALUE` both are in the level.
    pub fn target(&self, level: &str) -> (Vec<String>, String) {
        if !self.takes_names() {
            return (self.files.clone(), self.written(level).to_owned());
        }

        let (name, text) = level.split_once('=').unwrap_or((level, ""));
        // As in sysctl(8), dots separate the names unless there are slashes.
        let name = if self.files[0] != "{name}" && !name.contains('/') {
            name.replace('.', "/")
        } else {
            name.to_owned()
        };

        (self.files.iter().map(|file| file.replace("{name}", &name)).collect(), text.to_owned())
    }

    /// The row of a setting that could not be taken back if a file, whose links have been followed,
    /// were set to `text`.
    pub fn one_way(&self, file: &str, text: &str) -> Option<&OneWay> {
        self.one_way.iter().find(|row| row.is_at(file) && !row.both.iter().any(|both| both == text))
    }

    /// True if its level names the file that is written.
    pub fn takes_names(&self) -> bool {
        self.files.iter().any(|file| file.contains("{name}"))
    }

    /// Checks that a level which names a file names one of the kernel's, and a value: a typo in any
    /// other file may cost the machine.
    fn check_name(&self, level: &str) -> Result<()> {
        if !self.takes_names() {
            return Ok(());
        }
        if level.split_once('=').is_none_or(|(_, text)| text.is_empty()) {
            bail!("'{0}:{level}' has no value; try {0}:{level}=VALUE", self.id);
        }

        let is_kernels = |file: &String| {
            KERNELS.iter().any(|folder| file.starts_with(folder)) && !file.contains("/../")
        };
        match self.target(level).0.into_iter().find(|file| !is_kernels(file)) {
            Some(file) => bail!(
                "{file} is not in /proc or /sys; to switch a file of a service, give it a row in your own catalogue: means = \
                 \"file\", files = [\"{file}\"] and its levels"
            ),
            None => Ok(()),
        }
    }

    /// The levels that the switch alone stands for: all that have a name of their own, may be
    /// measured at any time, and are not what the others are compared with.
    fn default_levels(&self) -> Vec<String> {
        let mut levels = Vec::new();
        for level in &self.levels {
            let is_reference =
                self.against.as_deref() == Some(&format!("{}={}", self.id, level.id));
            if level.is_complete() && !level.first && !is_reference {
                levels.push(level.id.clone());
            }
        }
        levels
    }

    /// True if the switch has a level, or has none and none is named.
    fn has_level(&self, level: &str) -> bool {
        if self.levels.is_empty() { level.is_empty() } else { self.level(level).is_some() }
    }
}

impl Catalogue {
    /// The conditions that comma-separated `names` stand for, each once, in the order
    /// given. A word that is no switch is another level of the one before it (`thp=never,always`),
    /// and a switch without a level stands for all of its levels.
    ///
    /// # Errors
    /// An unknown switch or level: the message says which there are.
    pub fn expand_conditions(&self, names: &[String]) -> Result<Vec<Arc<Condition>>> {
        let mut conditions: Vec<Arc<Condition>> = Vec::new();
        for name in self.name_switches(names) {
            for condition in self.parse_conditions(&name)? {
                if !conditions.iter().any(|known| known.name == condition.name) {
                    conditions.push(Arc::new(condition));
                }
            }
        }

        Ok(conditions)
    }

    /// The condition that a test runs under as a load.
    pub(super) fn own_condition(&self, test: &Test) -> Result<Arc<Condition>> {
        let Some(name) = &test.under else {
            return Ok(Condition::none());
        };

        let condition = self
            .condition(name)
            .with_context(|| format!("the row of the load '{}' is wrong", test.id))?;
        let of_load = |means| matches!(means, Means::Cgroup | Means::Mount | Means::Command);
        match condition.parts.iter().find(|(switch, _)| !of_load(switch.means)) {
            Some((switch, _)) => {
                bail!("the load '{}' cannot be under '{}', which is for tests", test.id, switch.id)
            }
            None => Ok(condition),
        }
    }

    /// The condition of a name that stands for one.
    ///
    /// # Errors
    /// There is none, or it stands for several.
    pub fn condition(&self, name: &str) -> Result<Arc<Condition>> {
        match &self.parse_conditions(name)?[..] {
            [condition] => Ok(Arc::new(condition.clone())),
            several => {
                bail!("'{name}' stands for {} conditions; name one of their levels", several.len())
            }
        }
    }

    /// A condition's name as a sentence about it begins: what its row says of the level, or
    /// the name.
    pub fn phrase(&self, name: &str) -> String {
        let conditions = self.expand_conditions(&[name.to_owned()]).unwrap_or_default();
        conditions.first().and_then(|condition| condition.phrase()).unwrap_or(name).to_owned()
    }

    /// The names, each with its switch: a bare level gets what the name before it has up to its
    /// last `=`, so that `thp=never,always` is `thp=never` and `thp=always`.
    fn name_switches(&self, names: &[String]) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for name in names {
            let first_word = name.split('+').next().unwrap_or_default();
            let (id, _) = split_word(first_word);
            let is_switch = self.switches.iter().any(|switch| switch.id == id);
            let before = named.last().and_then(|before| Some(&before[..=before.rfind('=')?]));
            named.push(match before {
                Some(before) if !is_switch => format!("{before}{name}"),
                _ => name.clone(),
            });
        }

        named
    }

    /// The conditions that words joined by `+` stand for: every combination of their levels.
    fn parse_conditions(&self, name: &str) -> Result<Vec<Condition>> {
        let mut conditions = vec![Condition { name: String::new(), parts: Vec::new() }];
        for word in name.split('+') {
            let (switch, levels) = self.find_levels(word)?;
            let mut combined = Vec::new();
            for condition in &conditions {
                for level in &levels {
                    combined.push(condition.with_level(word, switch, level));
                }
            }
            conditions = combined;
        }

        if let [condition] = &mut conditions[..]
            && condition.name == NONE
        {
            condition.parts.clear();
            return Ok(conditions);
        }
        let mut parts = conditions.iter().flat_map(|condition| &condition.parts);
        if parts.any(|(switch, _)| switch.means == Means::Nothing) {
            bail!("'{NONE}' in '{name}' cannot be combined with anything else");
        }
        Ok(conditions)
    }

    /// The switch of `id`, `id=LEVEL` or `id:LEVEL`, and the levels that are meant.
    fn find_levels(&self, word: &str) -> Result<(&Arc<Switch>, Vec<String>)> {
        let (id, level) = split_word(word);
        let Some(switch) = self.switches.iter().find(|switch| switch.id == id) else {
            return Err(self.unknown_switch_error(id));
        };

        match level {
            Some(level) if switch.has_level(level) => {
                switch.check_name(level)?;
                Ok((switch, vec![level.to_owned()]))
            }
            None if switch.has_level("") => Ok((switch, vec![String::new()])),
            None if !switch.levels[0].id.is_empty() => Ok((switch, switch.default_levels())),
            None => bail!(
                "'{id}' takes a level; try {}",
                switch.example().unwrap_or("another condition")
            ),
            Some(level) if switch.levels.is_empty() => {
                bail!("'{id}' has no levels, and so no '{level}'")
            }
            Some(level) => {
                let levels: Vec<&str> =
                    switch.levels.iter().map(|level| level.id.as_str()).collect();
                bail!("'{id}' has no level '{level}'; it has {}", levels.join(", "))
            }
        }
    }

    /// The error about a name that no switch has. It suggests switches whose label has this word.
    fn unknown_switch_error(&self, id: &str) -> Error {
        if AT_BOOT.contains(&id) {
            return anyhow!(
                "there is no condition '{id}', which is chosen when the machine starts; measure on \
                 both sides of a restart, `unixmark run -m before` and `unixmark run -m after`, \
                 then `unixmark compare before after`"
            );
        }

        let names = self.switches.iter().map(|switch| switch.id.as_str());
        let suggestions: Vec<&str> = self
            .switches
            .iter()
            .filter(|switch| switch.label.split(' ').any(|word| word == id))
            .map(|switch| switch.id.as_str())
            .collect();
        unknown_name_error("condition", id, names, &suggestions, "conditions")
    }
}

/// Where the kernel's settings are.
pub const KERNELS: [&str; 2] = ["/proc/", "/sys/"];

/// Settings that people ask for and that a running kernel does not change.
const AT_BOOT: [&str; 6] = ["mitigations", "isolcpus", "nohz", "nohz_full", "kernel", "lockdown"];

/// A word's switch, and its level after `=` or `:`.
fn split_word(word: &str) -> (&str, Option<&str>) {
    match word.find(['=', ':']) {
        Some(end) => (&word[..end], Some(&word[end + 1..])),
        None => (word, None),
    }
}
