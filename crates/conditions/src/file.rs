//! A text that is written to files of the kernel or of a service, and read back.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Context, Ledger, Proof, Refusal, Undo};
use catalogue::{KERNELS, Switch};
use machine::{Machine, device_folder};

/// Writes the level's text to every file of the switch.
pub(super) fn enter(switch: &Switch, level: &str, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let (names, text) = switch.target(level);
    let names = on_device(names, context).map_err(Refusal::Unavailable)?;
    let files = matching_files(&names, context.machine).map_err(Refusal::Unavailable)?;
    set(&files, &text, context.ledger)?;
    Ok(Box::new(move |_, evidence| {
        check(&files, &text)?;
        evidence.notes.extend(files.iter().map(|file| format!("{} = {text}", file.display())));
        Ok(())
    }))
}

/// Writes a text to files that do not contain it, and proves that they do then.
pub(super) fn set(files: &[PathBuf], text: &str, ledger: &mut Ledger) -> Result<(), Refusal> {
    for file in files {
        let before = fs::read_to_string(file).map_err(|error| Refusal::Unavailable(file_error(file, &error)))?;
        if content(&before) == text {
            continue;
        }
        ledger.record(&undo(file, &before)?)?;
        fs::write(file, text).map_err(|error| file_error(file, &error))?;
    }
    Ok(check(files, text)?)
}

/// Returns what sets a file back.
///
/// # Errors
/// It does not take what it contains, so nobody could.
fn undo(file: &Path, before: &str) -> Result<Undo, Refusal> {
    let partner = partner(file).filter(|_| before.trim() == "0");
    let partner = partner.and_then(|partner| Some((fs::read_to_string(&partner).ok()?, partner)));
    let (before, path) = partner.unwrap_or_else(|| (before.to_owned(), file.to_path_buf()));
    let text = bracketed_word(&before).unwrap_or(&before).to_owned();
    match fs::write(&path, &text) {
        Ok(()) => Ok(Undo::Write { path, text }),
        Err(error) => Err(Refusal::Unavailable(format!(
            "{} does not take '{}', which it contains ({error}): nothing could set it back",
            path.display(),
            text.trim()
        ))),
    }
}

/// Returns the other file of a setting that has two, in bytes and as a share: who writes to one sets the other to 0,
/// and none takes a 0.
fn partner(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?.strip_prefix("dirty_")?;
    let other = match name.strip_suffix("bytes") {
        Some(stem) => format!("dirty_{stem}ratio"),
        None => format!("dirty_{}bytes", name.strip_suffix("ratio")?),
    };
    Some(file.with_file_name(other))
}

/// Checks that every file is there and accepts what is to be written.
pub(super) fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<(), String> {
    let (names, text) = switch.target(level);
    if level.is_empty() {
        return Ok(()); // The level names the file.
    }
    // Which device it is depends on where the programs work: one that can is enough.
    let any: Vec<String> = names.iter().map(|name| name.replace("/{device}/", "/*/")).collect();
    let files = matching_files(&any, machine)?;
    if switch.takes_names() {
        files.iter().try_for_each(|file| check_kernels(file, machine))?;
    }
    let answers: Vec<Result<(), String>> = files.iter().map(|file| check_accepts(file, &text)).collect();
    if any != names && answers.iter().any(Result::is_ok) {
        return Ok(());
    }
    answers.into_iter().collect()
}

/// Checks that a file is the kernel's own: `/proc/self/root` leads to any other.
fn check_kernels(file: &Path, machine: &Machine) -> Result<(), String> {
    let real = |path: &Path| fs::canonicalize(path).map_err(|error| file_error(path, &error));
    let target = real(file)?;
    if KERNELS.iter().any(|folder| real(&machine.path(folder)).is_ok_and(|folder| target.starts_with(folder))) {
        return Ok(());
    }
    Err(format!("{} leads to {}, which is not a setting of the kernel", file.display(), target.display()))
}

/// Checks that a file accepts a text.
fn check_accepts(file: &Path, text: &str) -> Result<(), String> {
    let before = fs::read_to_string(file).map_err(|error| file_error(file, &error))?;
    // Some list the texts they accept: `always [madvise] never`; others accept none: `notsupported`.
    let accepted = || before.split_whitespace().any(|word| word.trim_matches(['[', ']', '(', ')']) == text);
    if bracketed_word(&before).is_some() && !accepted() {
        return Err(format!("{} accepts {}, not {text}", file.display(), before.trim()));
    }
    if ["notsupported", "notimplemented"].contains(&before.trim()) {
        return Err(format!("there is nothing to switch: {} contains '{}'", file.display(), before.trim()));
    }
    if content(&before) != text {
        rustix::fs::access(file, rustix::fs::Access::WRITE_OK)
            .map_err(|error| format!("{} cannot be written ({error}); it may need root", file.display()))?;
    }
    Ok(())
}

/// Checks that every file contains a text.
pub(super) fn check(files: &[PathBuf], text: &str) -> Result<(), String> {
    for file in files {
        let now = fs::read_to_string(file).map_err(|error| file_error(file, &error))?;
        if !content(&now).split_whitespace().eq(text.split_whitespace()) {
            return Err(format!("{} contains '{}', not '{text}'", file.display(), content(&now)));
        }
    }
    Ok(())
}

/// Returns the names with `/sys/block/{device}` replaced by the device that the programs' directory is on.
fn on_device(names: Vec<String>, context: &Context<'_>) -> Result<Vec<String>, String> {
    const ANY: &str = "/sys/block/{device}";
    if !names.iter().any(|name| name.starts_with(ANY)) {
        return Ok(names);
    }
    let folder = context.staging.folder.as_deref().unwrap_or(context.folder);
    let device = device_folder(context.machine, folder)
        .ok_or_else(|| format!("{} is not on a block device; try another --dir", folder.display()))?;
    Ok(names.iter().map(|name| name.replace(ANY, &device.display().to_string())).collect())
}

/// Returns the files that the names stand for, at least one.
fn matching_files(names: &[String], machine: &Machine) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for name in names {
        files.extend(expand(name, machine));
    }
    let files: Vec<PathBuf> = files.into_iter().filter(|file| file.is_file()).collect();
    if files.is_empty() { Err(format!("there is no {} here", names.join(", "))) } else { Ok(files) }
}

/// Returns every path that a pattern matches; `*` as a whole component stands for any name.
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

/// Returns what a file contains: its chosen word if it reads like `always [madvise] never` or `none voluntary (full)`.
fn content(text: &str) -> &str {
    bracketed_word(text).unwrap_or(text.trim())
}

/// Returns the chosen word of a line of several, as the kernel shows a choice.
fn bracketed_word(text: &str) -> Option<&str> {
    let mut bracketed =
        text.split_whitespace().filter_map(|word| word.strip_prefix(['[', '('])?.strip_suffix([']', ')']));
    let chosen = bracketed.next()?;
    (text.trim().lines().count() == 1 && text.split_whitespace().count() > 1 && bracketed.next().is_none())
        .then_some(chosen)
}

fn file_error(file: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read or written ({error}); it may need root", file.display())
}
