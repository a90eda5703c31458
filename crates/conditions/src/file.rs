//! A text that is written to files of the kernel or of a service, and read back.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Active, Context, FinishedTrial, Refusal, Undo};
use catalogue::Switch;
use journal::Evidence;
use machine::{Machine, device_folder};

/// Files that hold a text.
struct Held {
    files: Vec<PathBuf>,
    text: String,
}

/// Writes the level's text to every file of the switch.
pub(super) fn enter(switch: &Switch, level: &str, context: &mut Context<'_>) -> Result<Box<dyn Active>, Refusal> {
    let (names, text) = target(switch, level);
    let names = on_device(names, context).map_err(Refusal::Unavailable)?;
    let files = found(&names, context.machine).map_err(Refusal::Unavailable)?;
    for file in &files {
        let before = fs::read_to_string(file).map_err(|error| Refusal::Unavailable(told(file, &error)))?;
        if chosen(&before) == text {
            continue;
        }
        let back = choice(&before).unwrap_or(&before).to_owned();
        context.ledger.record(&Undo::Write { path: file.clone(), text: back })?;
        fs::write(file, &text).map_err(|error| told(file, &error))?;
    }
    let held = Held { files, text };
    held.check()?;
    Ok(Box::new(held))
}

/// Whether every file is there, and takes what is written to it.
pub(super) fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<(), String> {
    let (names, text) = target(switch, level);
    if level.is_empty() {
        return Ok(()); // Which file is meant is not said yet.
    }
    // Which device it will be is only known where the programs work: one that can is enough.
    let any: Vec<String> = names.iter().map(|name| name.replace("/{device}/", "/*/")).collect();
    let answers: Vec<Result<(), String>> = found(&any, machine)?.iter().map(|file| takes(file, &text)).collect();
    if any != names && answers.iter().any(Result::is_ok) {
        return Ok(());
    }
    answers.into_iter().collect()
}

/// Whether a file takes a text; or a sentence saying why not.
fn takes(file: &Path, text: &str) -> Result<(), String> {
    let before = fs::read_to_string(file).map_err(|error| told(file, &error))?;
    // Some say which texts they take: `always [madvise] never`; others that they take none: `notsupported`.
    if choice(&before).is_some() && !before.split_whitespace().any(|word| word.trim_matches(['[', ']']) == text) {
        return Err(format!("{} takes {}, not {text}", file.display(), before.trim()));
    }
    if ["notsupported", "notimplemented"].contains(&before.trim()) {
        return Err(format!("there is nothing to switch: {} says '{}'", file.display(), before.trim()));
    }
    if chosen(&before) != text {
        rustix::fs::access(file, rustix::fs::Access::WRITE_OK)
            .map_err(|error| format!("{} cannot be written ({error}); it may need root", file.display()))?;
    }
    Ok(())
}

impl Held {
    fn check(&self) -> Result<(), String> {
        for file in &self.files {
            let now = fs::read_to_string(file).map_err(|error| told(file, &error))?;
            let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
            if !same(chosen(&now), &self.text) {
                return Err(format!("{} holds '{}' and not '{}'", file.display(), chosen(&now), self.text));
            }
        }
        Ok(())
    }
}

impl Active for Held {
    fn prove(&mut self, _: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), String> {
        self.check()?;
        for file in &self.files {
            evidence.notes.push(format!("{} = {}", file.display(), self.text));
        }
        Ok(())
    }
}

/// The files to write, and the text: of `sysctl:KEY=VALUE` and `file:PATH=VALUE` both are in the level.
fn target(switch: &Switch, level: &str) -> (Vec<String>, String) {
    if !switch.files.iter().any(|file| file.contains("{name}")) {
        return (switch.files.clone(), switch.text(level).to_owned());
    }
    let (name, text) = level.split_once('=').unwrap_or((level, ""));
    // As sysctl(8) has it, dots part the names where there are no slashes.
    let name = if switch.files[0].starts_with("/proc/sys") && !name.contains('/') {
        name.replace('.', "/")
    } else {
        name.to_owned()
    };
    (switch.files.iter().map(|file| file.replace("{name}", &name)).collect(), text.to_owned())
}

/// The names with the directory in /sys of the device that the programs' directory lies on, for `/sys/block/{device}`.
fn on_device(names: Vec<String>, context: &Context<'_>) -> Result<Vec<String>, String> {
    const ANY: &str = "/sys/block/{device}";
    if !names.iter().any(|name| name.starts_with(ANY)) {
        return Ok(names);
    }
    let folder = context.staging.folder.as_deref().unwrap_or(context.folder);
    let device = device_folder(context.machine, folder)
        .ok_or_else(|| format!("{} lies on no block device; try another --dir", folder.display()))?;
    Ok(names.iter().map(|name| name.replace(ANY, &device.display().to_string())).collect())
}

/// The files that the names stand for, at least one.
fn found(names: &[String], machine: &Machine) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for name in names {
        files.extend(expand(name, machine));
    }
    let files: Vec<PathBuf> = files.into_iter().filter(|file| file.is_file()).collect();
    if files.is_empty() { Err(format!("there is no {} here", names.join(", "))) } else { Ok(files) }
}

/// Every path that a pattern matches, where `*` as a whole component stands for any name.
fn expand(pattern: &str, machine: &Machine) -> Vec<PathBuf> {
    match pattern.split_once("/*/") {
        None => vec![machine.path(pattern)],
        Some((folder, rest)) => machine
            .list(folder)
            .into_iter()
            .flat_map(|name| expand(&format!("{folder}/{name}/{rest}"), machine))
            .collect(),
    }
}

/// What a file holds: of `always [madvise] never` the chosen one.
fn chosen(text: &str) -> &str {
    choice(text).unwrap_or(text.trim())
}

/// The chosen word of a line of several, which is how the kernel shows a choice.
fn choice(text: &str) -> Option<&str> {
    let mut bracketed = text.split_whitespace().filter_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let chosen = bracketed.next()?;
    (text.trim().lines().count() == 1 && text.split_whitespace().count() > 1 && bracketed.next().is_none())
        .then_some(chosen)
}

fn told(file: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read or written ({error}); it may need root", file.display())
}
