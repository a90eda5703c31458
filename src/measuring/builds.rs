//! Several builds of each side of `unixmark ab --base DIR --head DIR`.
//!
//! Where the linker puts a program's functions moves its speed by a per cent or two, although no
//! line has changed. So `--builds 8` copies each directory eight times below a scratch directory
//! and builds each copy with a seed of its own, which [puts functions in another
//! order](super::seeds). What is measured is then the source, and not one layout of it.
//!
//! More builds are made while the run measures, where they narrow its interval more than more
//! executions do; their steps are planned here ([`Growth`]).
//!
//! Whoever has builds already names their files: `--builds 'old-*' 'new-*'`.

use std::collections::HashMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

use super::options::{current_dir, utf8};
use super::seeds::{check_seed_is_used, prepare_variables};
use super::terminal::{Loudness, StatusLine};
use crate::status::Status;
use crate::terminal::say;
use analysis::pairs::MIN_PAIRS;
use catalogue::{Build, BuildStep, Growth, MAX_BUILDS};
use conditions::Experiment;
use machine::Machine;
use measure::Setup;
use runner::Supervisor;
use sha2::{Digest, Sha256};

#[derive(Debug, clap::Args)]
pub(super) struct BuildOptions {
    /// Build copies of --base and --head with this command. It finds flags for compilers in
    /// $UNIXMARK_CFLAGS, $UNIXMARK_LDFLAGS, $UNIXMARK_RUSTFLAGS and $UNIXMARK_GOFLAGS, its seed in
    /// $UNIXMARK_SEED, and a directory for all builds in $UNIXMARK_SHARED
    #[arg(long = "build", value_name = "COMMAND", requires = "base")]
    pub(super) build_command: Option<String>,
    /// Build each side this many times, with its functions in another order each time: a build is
    /// one sample, so that a difference is one of the sources [default: 8]. Without --runs, up to
    /// four times as many are built while that narrows the interval. Or compare builds that
    /// are there: two quoted patterns of files, old and new
    #[arg(long, value_name = "N|PATTERN", num_args = 1..=2)]
    builds: Vec<String>,
}

/// The builds of each side, unless the user says how many.
const USUAL_BUILDS: u32 = 8;

/// A run ends with at most this many times the builds that it begins with.
const MAX_GROWTH_FACTOR: u32 = 4;

/// Stands for the file of a build in the words after `--`.
const BUILD_PLACEHOLDER: &str = "{build}";

/// The builds of both sides. Their directories are removed when this is dropped.
pub(super) struct Builds<'m> {
    /// Owns the directory that they are in.
    _supervisor: Supervisor<'m>,
    /// The working directories of each side's builds, also of those that are made later.
    pub(super) base: Vec<PathBuf>,
    pub(super) head: Vec<PathBuf>,
    /// The builds that are made later.
    pub(super) growth: Arc<Growth>,
}

impl BuildOptions {
    /// The patterns of files that are builds, old and new, if they are ready.
    pub(super) fn patterns(&self) -> Option<[&str; 2]> {
        match &self.builds[..] {
            [old, new] => Some([old, new]),
            _ => None,
        }
    }

    /// Checks that --builds has a number next to --build, and two patterns or nothing without it.
    pub(super) fn check(&self) -> Result<()> {
        match (&self.builds[..], &self.build_command) {
            ([], _) | ([_, _], None) => Ok(()),
            ([_, _], Some(_)) => bail!(
                "--builds takes a number beside --build, or two patterns of files that are built already; leave one out"
            ),
            ([number], Some(_)) => self.count().map(drop).with_context(|| {
                format!("'{number}' is no number of builds; --builds takes one from {MIN_PAIRS} to {MAX_BUILDS}")
            }),
            _ => bail!(
                "--builds takes a number with --base, --head and --build, which makes them, or two quoted patterns of \
                 files: --builds 'old-*' 'new-*'"
            ),
        }
    }

    /// The number of builds to make of each side.
    fn count(&self) -> Result<u32> {
        let Some(number) = self.builds.first() else {
            return Ok(USUAL_BUILDS);
        };
        let count: u32 = number.parse()?;
        anyhow::ensure!((MIN_PAIRS..=MAX_BUILDS).contains(&count), "it is out of range");
        Ok(count)
    }

    /// The builds that a run begins with, in words, for `--dry-run`.
    pub(super) fn describe(&self) -> Result<String> {
        let count = self.count()?;
        Ok(format!("each side is first built {count} times, each time with another seed"))
    }

    /// Builds both sides with `command`. `program` is the executable of the measured command.
    ///
    /// Returns the exit status instead if a signal came.
    ///
    /// # Errors
    /// A side cannot be copied or built, or all builds of a side are the same file.
    pub(super) fn build_sides<'m>(
        &self,
        command: &str,
        [base_source, head_source]: [&Path; 2],
        program: &Path,
        (setup, loudness): (&Setup, Loudness),
        machine: &'m Machine,
    ) -> Result<Result<Builds<'m>, Status>> {
        let count = self.count()?;
        let supervisor =
            Supervisor::new(machine, setup.patience, &setup.dir, None, Experiment::passive())?;
        say(&format!("building each side {count} times"));

        let progress = BuildProgress::new(2 * count, loudness);
        let mut builder = Builder { supervisor, command, program, progress };
        let start = Instant::now();
        let built = builder.build_both(base_source, head_source, count);
        // Clears its line before anything else is said.
        builder.progress.line = None;
        // Before the error of a build, which a signal may have ended.
        if let Some(signal) = builder.supervisor.signal() {
            say(&format!("unixmark: interrupted (signal {signal}); nothing was measured"));
            return Ok(Err(Status::Signal(signal)));
        }
        let [mut base, mut head] = built?;
        let seconds = start.elapsed().as_secs_f64() / f64::from(count);

        let mut further = Vec::new();
        for number in count..(MAX_GROWTH_FACTOR * count).min(MAX_BUILDS) {
            // Seeds up to 2 * count were used above.
            let seed = 2 * number + 1;
            let base_build = builder.plan_copy("base", base_source, seed)?;
            let head_build = builder.plan_copy("head", head_source, seed + 1)?;
            base.push(base_build.folder);
            head.push(head_build.folder);
            further.push([base_build.steps, head_build.steps].concat());
        }
        let growth = Arc::new(Growth { built: count, further, seconds });
        Ok(Ok(Builds { _supervisor: builder.supervisor, base, head, growth }))
    }
}

/// A build that may be made later.
struct PlannedBuild {
    folder: PathBuf,
    steps: Vec<BuildStep>,
}

/// Builds copies of directories below its own scratch directory.
struct Builder<'m, 'a> {
    supervisor: Supervisor<'m>,
    command: &'a str,
    /// The executable that is measured, as each copy has it.
    program: &'a Path,
    progress: BuildProgress,
}

impl Builder<'_, '_> {
    /// Builds `count` copies of each side; returns the directories of base and head.
    fn build_both(&mut self, base: &Path, head: &Path, count: u32) -> Result<[Vec<PathBuf>; 2]> {
        let base_folders = self.build_side("base", base, 1..=count)?;
        let head_folders = self.build_side("head", head, count + 1..=2 * count)?;
        Ok([base_folders, head_folders])
    }

    /// Builds a copy of a directory with each seed; returns the copies' directories.
    fn build_side(
        &mut self,
        name: &str,
        source: &Path,
        seeds: RangeInclusive<u32>,
    ) -> Result<Vec<PathBuf>> {
        let source = source.canonicalize().with_context(|| {
            format!("the directory {} cannot be used; try another --{name}", source.display())
        })?;
        let mut folders = Vec::new();
        for seed in seeds {
            let folder = self.supervisor.scratch().join(format!("{name}-{seed}"));
            self.build_copy(&source, &folder, seed)?;
            folders.push(folder);
            self.progress.add_build();
        }
        if let Some(warning) = check_seed_is_used(&folders, self.program, &format!("--{name}"))? {
            self.progress.say(&warning);
        }
        Ok(folders)
    }

    /// Plans what [`Builder::build_copy`] does.
    fn plan_copy(&self, name: &str, source: &Path, seed: u32) -> Result<PlannedBuild> {
        let source = source.canonicalize()?;
        let folder = self.supervisor.scratch().join(format!("{name}-{seed}"));

        let [from, to] = [&source, &folder].map(|path| utf8(path.as_os_str()));
        let copy_words = ["cp", "-a", "--", &from?, &to?].map(str::to_owned).to_vec();
        let variables = prepare_variables(seed, &self.supervisor)?;
        let words = build_words(&variables, self.command).map(str::to_owned).collect();
        let steps = vec![
            BuildStep { folder: PathBuf::from("/"), words: copy_words },
            BuildStep { folder: folder.clone(), words },
        ];
        Ok(PlannedBuild { folder, steps })
    }

    /// Copies a directory, and builds the copy with a seed.
    fn build_copy(&mut self, source: &Path, folder: &Path, seed: u32) -> Result<()> {
        let [from, to] = [source, folder].map(|path| utf8(path.as_os_str()));
        let copied = self.supervisor.execute(&["cp", "-a", "--", &from?, &to?], Path::new("/"));
        copied.map_err(|why| anyhow!("{} cannot be copied: {why}", source.display()))?;

        execute_build(&mut self.supervisor, self.command, folder, seed).map_err(|why| {
            anyhow!("{} cannot be built with seed {seed}: {why}; try it by hand", source.display())
        })
    }
}

/// The number of the first builds that are made, on the last line of a terminal; after the second
/// one, an estimate for all, if it is long.
struct BuildProgress {
    line: Option<StatusLine>,
    start: Instant,
    first_seconds: f64,
    built: u32,
    count: u32,
}

impl BuildProgress {
    fn new(count: u32, loudness: Loudness) -> BuildProgress {
        let line = (loudness == Loudness::Normal).then(StatusLine::new).flatten();
        let mut progress =
            BuildProgress { line, start: Instant::now(), first_seconds: 0.0, built: 0, count };
        progress.draw();
        progress
    }

    fn add_build(&mut self) {
        self.built += 1;
        match self.built {
            1 => self.first_seconds = self.start.elapsed().as_secs_f64(),
            2 => self.announce_time(),
            _ => {}
        }
        self.draw();
    }

    /// Says how long all builds take, if that is long. The first build may also make what the
    /// others share, so the second is taken as typical.
    fn announce_time(&mut self) {
        /// Less time for all builds needs no announcement.
        const MIN_ANNOUNCED_SECONDS: f64 = 10.0;

        let seconds = self.start.elapsed().as_secs_f64();
        let second_seconds = seconds - self.first_seconds;
        let all_seconds = self.first_seconds + f64::from(self.count - 1) * second_seconds;
        if all_seconds < MIN_ANNOUNCED_SECONDS {
            return;
        }

        let [second, all] = [second_seconds, all_seconds].map(words::duration);
        self.say(&format!(
            "the second build took {second}; all {} should take about {all}",
            self.count
        ));
    }

    /// Says a sentence above the last line.
    fn say(&mut self, text: &str) {
        match &mut self.line {
            Some(line) => line.say(text),
            None => say(text),
        }
    }

    fn draw(&mut self) {
        if let Some(line) = &mut self.line {
            line.set(vec![format!("{} of {} builds made", self.built, self.count)]);
        }
    }
}

/// Builds in a directory with a seed.
///
/// # Errors
/// The reason, if the command failed or a signal came.
pub(super) fn execute_build(
    supervisor: &mut Supervisor<'_>,
    command: &str,
    folder: &Path,
    seed: u32,
) -> Result<(), String> {
    let variables = prepare_variables(seed, supervisor).map_err(|error| format!("{error:#}"))?;
    let words: Vec<&str> = build_words(&variables, command).collect();
    match supervisor.execute(&words, folder) {
        Ok(_) => Ok(()),
        Err(why) => {
            // The variables are many, and hide the command.
            let prefix = format!("env {} ", variables.join(" "));
            Err(why.to_string().replace(&prefix, ""))
        }
    }
}

/// The words that execute a build command with these variables, each `NAME=VALUE`.
fn build_words<'a>(variables: &'a [String], command: &'a str) -> impl Iterator<Item = &'a str> {
    let variables = variables.iter().map(String::as_str);
    ["env"].into_iter().chain(variables).chain(["sh", "-c", command])
}

/// The files of two patterns, the builds of either side.
///
/// # Errors
/// A pattern names too few or too many files, or two files are equal.
pub(super) fn find_sides(patterns: [&str; 2]) -> Result<[Vec<PathBuf>; 2]> {
    let [old, new] = patterns.map(find_files);
    let sides = [old?, new?];

    let mut by_digest: HashMap<Vec<u8>, &Path> = HashMap::new();
    for file in sides.iter().flatten() {
        // By its SHA-256, so that no more than one program is in memory at a time.
        let content = fs::read(file)
            .with_context(|| format!("{} cannot be read; check its permissions", file.display()))?;
        if let Some(other) = by_digest.insert(Sha256::digest(content).to_vec(), file) {
            bail!(
                "{} and {} are the same file, so they are one build; link each with another seed",
                other.display(),
                file.display()
            );
        }
    }
    Ok(sides)
}

fn find_files(pattern: &str) -> Result<Vec<PathBuf>> {
    let paths = glob::glob(pattern)
        .with_context(|| format!("'{pattern}' is no pattern of files; try one as in 'old-*'"))?;
    let mut files = Vec::new();
    for path in paths {
        let path = path?;
        if path.is_file() {
            utf8(path.as_os_str())?;
            // A link stays one: some programs go by their name.
            files.push(std::path::absolute(path)?);
        }
    }

    let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
    if !(MIN_PAIRS..=MAX_BUILDS).contains(&count) {
        bail!(
            "'{pattern}' names {}, and each side has {MIN_PAIRS} to {MAX_BUILDS} builds; make more, or check the pattern",
            words::count(count, "file")
        );
    }
    Ok(files)
}

/// A build for each directory, in which the same words execute it.
pub(super) fn folder_builds(folders: &[PathBuf], words: &[String]) -> Vec<Build> {
    folders.iter().map(|folder| Build { folder: folder.clone(), words: words.to_vec() }).collect()
}

/// A build for each file. It is executed with `words` as its arguments, or as the words say, if one
/// of them has a place for it.
///
/// # Errors
/// A path is not UTF-8, or the current directory is gone.
pub(super) fn file_builds(files: &[PathBuf], words: &[String]) -> Result<Vec<Build>> {
    let folder = current_dir()?;
    let has_placeholder = words.iter().any(|word| word.contains(BUILD_PLACEHOLDER));
    let mut builds = Vec::new();
    for file in files {
        let file = utf8(file.as_os_str())?;
        let words = match has_placeholder {
            true => words.iter().map(|word| word.replace(BUILD_PLACEHOLDER, &file)).collect(),
            false => [&[file], words].concat(),
        };
        builds.push(Build { folder: folder.clone(), words });
    }
    Ok(builds)
}
