//! The catalogue: every test, group, index, load and condition, as data.
//!
//! The tables live in `catalogue/*.toml` and are part of the binary. Nothing else in the code lists
//! names; `list`, help, completions, plans and reports are derived from what is read here.

mod command;
mod condition;
mod lookup;
mod need;
mod own;
mod processor;
mod sampling;
#[macro_use]
mod tables;
pub mod unit;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use command::{
    Build, BuildStep, Command, Execution, Growth, Ignored, Instructions, MAX_BUILDS, MAX_COMMANDS,
    Output, Parameter, Sequence, Servers,
};
pub use condition::{CgroupLimit, Condition, KERNELS, Level, Means, OneWay, Quota, Switch};
pub(crate) use lookup::unknown_name_error;
pub use need::Need;
pub use own::{is_typeable, path as own_path};
pub use processor::{Figure, Processor};
pub use sampling::SamplingUnit;
use tables::Table;

/// The whole catalogue, in the order of the files.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// Every test.
    pub tests: Vec<Arc<Test>>,
    /// Every group and alias of tests.
    pub groups: Vec<Group>,
    /// Every index that can be computed from scores and baselines.
    pub indexes: Vec<Index>,
    /// Everything that can be switched on the machine.
    pub switches: Vec<Arc<Switch>>,
    /// The upper limits of processors.
    pub processors: Vec<Processor>,
    /// The meanings of the figures that these limits are of.
    pub figures: Vec<Figure>,
}

/// The program of all graphics tests, which lies next to the tool.
pub const GRAPHICS: &str = "unixmark-graphics";

/// The name of an empty background.
pub const NONE: &str = "none";

/// One row of a table of tests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The name on the command line.
    pub id: String,
    /// The name in reports: UnixBench's own where it has the test.
    pub label: String,
    /// The unit of the score.
    pub unit: String,
    /// The kind of number of the score.
    #[serde(default)]
    pub metric: Metric,
    /// The `value` line that is the score; without it the score is counts per time.
    pub value: Option<String>,
    /// The main C file under `programs/`, without `.c`.
    pub program: String,
    /// Further translation units.
    #[serde(default)]
    pub sources: Vec<String>,
    /// A C file that becomes a library next to its program, which the program has commands load.
    pub library: Option<String>,
    /// Preprocessor definitions; a row that has some has a binary of its own.
    #[serde(default)]
    pub define: Vec<String>,
    /// Arguments, `key=value`.
    #[serde(default)]
    pub args: Vec<String>,
    /// A command the program runs, handed over after `--`.
    #[serde(default)]
    pub command: Vec<String>,
    /// The user's commands that its program executes.
    #[serde(skip)]
    pub commands: Vec<Command>,
    /// True if commands may leave processes running that others need, such as servers.
    #[serde(skip)]
    pub has_servers: bool,
    /// The number of commands that its program executes alternately, each for a condition of its
    /// own; 0 if it executes one.
    #[serde(skip)]
    pub arms: u32,
    /// What one sample of its commands is.
    #[serde(skip)]
    pub sampled: SamplingUnit,
    /// The builds of its commands that can be made while the run measures.
    #[serde(skip)]
    pub growth: Option<Arc<Growth>>,
    /// The quantiles of its commands' times that are compared, too.
    #[serde(skip)]
    pub tails: Vec<f64>,
    /// True if its program is started once more at the end of a run, with `end=1`.
    #[serde(skip)]
    pub cleans: bool,
    /// The test that counts what its commands do, if that is wanted. It has no cell.
    #[serde(skip)]
    pub counting: Option<Arc<Test>>,
    /// The test that samples where its commands spend their time, if that is wanted. It has no
    /// cell.
    #[serde(skip)]
    pub sampling: Option<Arc<Test>>,
    /// Seconds in the unit's time: 1 for per second, 60 for per minute.
    #[serde(default = "one")]
    pub timebase: f64,
    /// The value of one count in the unit.
    #[serde(default = "one")]
    pub scale: f64,
    /// What the machine must have.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// The roles that the test may have.
    #[serde(default = "bench")]
    pub roles: Vec<Role>,
    /// The kind of its copies; where it can have several, the first of `modes` unless another was
    /// asked for.
    #[serde(default)]
    pub copies: Copies,
    /// The kinds that its copies can have: of a row that names none, that of `copies`.
    #[serde(default, rename = "as")]
    pub modes: Vec<Copies>,
    /// The limit of the score: a figure of processors, `test:ID`, or `link`.
    pub limit: Option<String>,
    /// True if a copy's rate loses its fraction before copies are added in the classic procedure,
    /// as UnixBench's file programs print it.
    #[serde(default)]
    pub truncate: bool,
    /// The test whose clock it uses if its program reports none; from its category's group.
    pub clock: Option<String>,
    /// True if a count is a system call, or as many as its program reports; from its category's
    /// group.
    #[serde(default)]
    pub calls: bool,
    /// The system calls (or `faults`) in a count. The time that a condition adds to a count is the
    /// price of these.
    #[serde(default)]
    pub prices: Vec<String>,
    /// The other calls of a count, whose prices other rows have; each as often as a count makes it.
    #[serde(default)]
    pub beside: Vec<String>,
    /// True if its best slices show chance rather than quiet neighbours: its speed depends on where
    /// its processes run or where its memory lies.
    #[serde(default)]
    pub lucky: bool,
    /// True if its directory is kept from trial to trial, so that files are laid out once in a run.
    #[serde(default)]
    pub keep: bool,
    /// The argument with the number of its processes, groups or jobs.
    pub number: Option<String>,
    /// The name of a condition under which it runs as a load, and nothing else does.
    pub under: Option<String>,
    /// The condition of that name.
    #[serde(skip, default = "Condition::none")]
    pub condition: Arc<Condition>,
    /// The part of the report to which it belongs; an index of that name gathers it.
    pub category: String,
    /// UnixBench's procedure for it.
    #[serde(default)]
    pub classic: Classic,
    /// Deviations in the standard and quick procedures.
    #[serde(default)]
    pub standard: Extra,
    /// Reference scores, by index.
    #[serde(default)]
    pub baseline: BTreeMap<String, f64>,
    /// Answers that must be right.
    #[serde(default)]
    pub checks: BTreeMap<String, Check>,
    /// Other labels under which reports print it.
    #[serde(default)]
    pub also: Vec<String>,
    /// The parts of the system that it exercises, and what it does not show.
    pub doc: String,
}

/// The name that a test has as processes and as threads alike: `mmap` of `mmap:as=threads`.
pub fn family(id: &str) -> &str {
    id.split(":as=").next().unwrap_or(id)
}

/// The kind of number of a score, and the better direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Work per time: higher is better.
    #[default]
    Rate,
    /// Time per piece of work: lower is better.
    Time,
    /// The delay of each frame after its planned moment: lower is better.
    Latency,
    /// An amount, such as allocations per operation: lower is better.
    Amount,
    /// An amount, such as hits: higher is better.
    Yield,
    /// A number whose better direction is not known.
    Unknown,
}

impl Metric {
    /// True if a larger figure is better.
    pub fn is_higher_better(self) -> bool {
        matches!(self, Metric::Rate | Metric::Yield)
    }

    /// True if a smaller figure is better.
    pub fn is_lower_better(self) -> bool {
        matches!(self, Metric::Time | Metric::Latency | Metric::Amount)
    }

    /// True if a difference of such figures is one of the time that the same work takes.
    pub fn is_of_time(self) -> bool {
        matches!(self, Metric::Rate | Metric::Time | Metric::Latency)
    }
}

/// The kind of a test's copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Copies {
    /// Processes that know nothing of each other.
    #[default]
    Processes,
    /// Threads of one program, which share memory.
    Threads,
    /// There is never more than one.
    One,
}

impl Copies {
    /// The word for copies of this kind in names and arguments; none if there is only one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Copies::Processes => Some("processes"),
            Copies::Threads => Some("threads"),
            Copies::One => None,
        }
    }

    /// The kind of copies that `word` stands for.
    pub fn from_word(word: &str) -> Option<Copies> {
        [Copies::Processes, Copies::Threads].into_iter().find(|mode| mode.word() == Some(word))
    }
}

/// A role of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It is measured.
    Bench,
    /// It runs in the background of others.
    Load,
    /// It runs until it is stopped, looking for faults.
    Burn,
    /// It runs alongside others for a condition, and counts what it sees of them.
    Companion,
}

/// A test in UnixBench's procedure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classic {
    /// Length of a pass in seconds.
    pub seconds: u32,
    /// Number of passes.
    pub passes: u32,
    /// About the time in s that the program prepares itself, for estimates.
    #[serde(default)]
    pub prepare: u32,
    /// Arguments in addition to the row's.
    #[serde(default)]
    pub args: Vec<String>,
}

/// Settings of a test in the procedures of short windows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extra {
    /// Arguments in addition to the row's.
    #[serde(default)]
    pub args: Vec<String>,
    /// About the time in s that a trial takes in addition to its window, for estimates and for
    /// patience.
    #[serde(default)]
    pub around: u32,
    /// The time in ms in which it works at another speed than afterwards; it is not counted.
    #[serde(default)]
    pub warmup: u32,
    /// The length of its window in ms, if its pieces of work are too long for the usual one.
    pub window: Option<u32>,
    /// It is measured in one of so many blocks of a run, if its trials are much longer than others.
    pub sparse: Option<u32>,
}

/// The right answer of a `check` line: a number, or the closed range it must lie in.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(from = "CheckForm")]
pub struct Check {
    /// The smallest right answer.
    pub low: f64,
    /// The largest right answer.
    pub high: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CheckForm {
    Exact(f64),
    Range([f64; 2]),
}

impl From<CheckForm> for Check {
    fn from(form: CheckForm) -> Check {
        match form {
            CheckForm::Exact(value) => Check { low: value, high: value },
            CheckForm::Range([low, high]) => Check { low, high },
        }
    }
}

impl Check {
    /// True if `answer` is right.
    pub fn accepts(&self, answer: f64) -> bool {
        self.low <= answer && answer <= self.high
    }
}

/// One row of `catalogue/groups.toml`: a name for several tests, in the order they run in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The name on the command line.
    pub id: String,
    /// Tests or other groups.
    #[serde(default)]
    pub members: Vec<String>,
    /// The category or the program whose tests are its members, those that are measured as rates,
    /// in their order.
    pub every: Option<String>,
    /// The test whose clock serves those of the category that do not report their own.
    pub clock: Option<String>,
    /// True if a count of a test of the category is a system call, or as many as its program
    /// reports.
    #[serde(default)]
    pub calls: bool,
    /// The length of its tests' windows in ms, where a row has none of its own.
    pub window: Option<u32>,
    /// Every how many blocks of a run its tests are measured, where a row does not say.
    pub sparse: Option<u32>,
    /// Its purpose.
    pub doc: String,
}

impl Group {
    /// True if the test is of the category or the program whose tests are the group's
    /// members.
    pub fn gathers(&self, test: &Test) -> bool {
        self.every.as_ref().is_some_and(|every| [&test.category, &test.program].contains(&every))
    }
}

/// One row of `catalogue/indexes.toml`: a way to make one number of several scores.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Key of the tests' `baseline` table.
    pub id: String,
    /// The heading in reports.
    pub name: String,
    /// The way to join the scores.
    pub arithmetic: Arithmetic,
    /// Shown wherever one of its tests was measured, or only for runs of the group with its name.
    #[serde(default)]
    pub always: bool,
    /// Its description.
    pub doc: String,
}

/// The ways in which an index joins scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arithmetic {
    /// UnixBench 4 and later: ten times the geometric mean of score ÷ baseline.
    Geometric,
    /// BYTE 3.11: the sum and the arithmetic mean of score ÷ baseline.
    Arithmetic,
}

fn one() -> f64 {
    1.0
}

fn bench() -> Vec<Role> {
    vec![Role::Bench]
}

impl Default for Classic {
    /// UnixBench's long tests.
    fn default() -> Classic {
        Classic { seconds: 10, passes: 10, prepare: 0, args: Vec::new() }
    }
}

/// The row of an executable of the user's, but for its name, program and arguments.
const FOREIGN: &str = r#"
    id = ""
    label = ""
    unit = "lps"
    program = ""
    category = "own"
    doc = ""
"#;

impl Test {
    /// The row of an executable of the user's: a rate of what it counts, called after the
    /// file.
    ///
    /// # Errors
    /// Its path is not UTF-8.
    pub fn foreign(path: &Path, args: &[String]) -> Result<Test> {
        let program = path
            .to_str()
            .with_context(|| format!("{} cannot be run: its path is not UTF-8", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let id: String = stem.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let row: Test =
            toml::from_str(FOREIGN).context("the row of the user's programs cannot be read")?;
        Ok(Test { label: id.clone(), id, program: program.to_owned(), args: args.to_vec(), ..row })
    }

    /// True if it is measured for its throughput, as a rate or as time per piece of work.
    pub fn is_rate(&self) -> bool {
        self.metric != Metric::Latency && self.roles.contains(&Role::Bench)
    }

    /// True if it is an interactive task, measured for its latency.
    pub fn is_task(&self) -> bool {
        self.metric == Metric::Latency && self.roles.contains(&Role::Bench)
    }

    /// The name of its program's binary.
    pub fn binary(&self) -> &str {
        if self.graphics().is_some() {
            GRAPHICS
        } else if self.define.is_empty() {
            self.program.rsplit('/').next().unwrap_or(&self.program)
        } else {
            self.base()
        }
    }

    /// The name under which the graphics program has it, if it is one of those.
    pub fn graphics(&self) -> Option<&str> {
        self.program.strip_prefix("graphics/")
    }

    /// True if its program is built from C files of ours.
    pub fn is_ours_in_c(&self) -> bool {
        !self.is_foreign() && self.graphics().is_none()
    }

    /// The file of its library.
    pub fn library_file(&self) -> Option<String> {
        self.library.as_deref().map(library_file)
    }

    /// True if its program is an executable of the user's, and not one of ours.
    pub fn is_foreign(&self) -> bool {
        self.program.starts_with('/')
    }

    /// The catalogue's name of it, without the arguments that the user added.
    pub fn base(&self) -> &str {
        self.id.split(':').next().unwrap_or(&self.id)
    }

    /// The files of its program under `programs/`, the main one first: C, but of the graphics
    /// tests.
    pub fn units(&self) -> impl Iterator<Item = String> + '_ {
        let end = if self.graphics().is_some() { "rs" } else { "c" };
        std::iter::once(&self.program).chain(&self.sources).map(move |unit| format!("{unit}.{end}"))
    }
}

/// The file that a library of `programs/` becomes.
pub fn library_file(library: &str) -> String {
    format!("{}.so", library.rsplit('/').next().unwrap_or(library))
}

/// Reads the rows of a table of the binary's own.
fn rows<T: DeserializeOwned>(key: &str, (file, text): Table) -> Result<Vec<T>> {
    let text = text.with_context(|| format!("catalogue/{file} cannot be read"))?;
    let mut table: BTreeMap<String, Vec<T>> =
        toml::from_str(&text).with_context(|| format!("catalogue/{file} cannot be read"))?;
    let rows = table.remove(key).with_context(|| format!("catalogue/{file} has no [[{key}]]"))?;
    match table.keys().next() {
        Some(other) => bail!("catalogue/{file} has a [[{other}]]"),
        None => Ok(rows),
    }
}

impl Catalogue {
    /// The catalogue that is part of this binary, and the user's own rows after it.
    ///
    /// # Errors
    /// The user's table cannot be used. The binary's own tables parse, or its tests would fail.
    pub fn load() -> Result<Catalogue> {
        let mut catalogue = Catalogue::built_in()?;
        own::add(&mut catalogue)?;
        let one_way: Arc<[OneWay]> = rows("one-way", table!("one-way.toml"))?.into();
        for switch in catalogue.switches.iter_mut().map(Arc::make_mut) {
            switch.one_way = Arc::clone(&one_way);
        }

        let mut tests = std::mem::take(&mut catalogue.tests);
        for test in tests.iter_mut().map(Arc::make_mut) {
            match test.modes.first() {
                Some(mode) => test.copies = *mode,
                None => test.modes = vec![test.copies],
            }
            test.condition = catalogue.own_condition(test)?;
            if let Some(group) = catalogue.groups.iter().find(|group| group.gathers(test)) {
                test.clock = test.clock.take().or_else(|| group.clock.clone());
                test.calls |= group.calls;
                test.standard.window = test.standard.window.or(group.window);
                test.standard.sparse = test.standard.sparse.or(group.sparse);
            }
        }

        Ok(Catalogue { tests, ..catalogue })
    }

    fn built_in() -> Result<Catalogue> {
        let tests: Vec<Vec<Test>> =
            tables::tests().into_iter().map(|table| rows("test", table)).collect::<Result<_>>()?;
        Ok(Catalogue {
            tests: tests.into_iter().flatten().map(Arc::new).collect(),
            groups: rows("group", table!("groups.toml"))?,
            indexes: rows("index", table!("indexes.toml"))?,
            switches: rows("condition", table!("conditions.toml"))?
                .into_iter()
                .map(Arc::new)
                .collect(),
            processors: rows("processor", table!("processors.toml"))?,
            figures: rows("figure", table!("figures.toml"))?,
        })
    }
}
