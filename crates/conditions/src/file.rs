//! A text that is written to files of the kernel or of a service, and read back.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Context, Ledger, Proof, Refusal, Undo};
use catalogue::{KERNELS, Switch};
use journal::IN_PLACE_OF;
use machine::{Machine, device_folder};

/// Writes the level's text to every file of the switch, and proves after the trial that they still
/// contain it.
pub(super) fn enter(
    switch: &Switch,
    level: &str,
    context: &mut Context<'_>,
) -> Result<Proof, Refusal> {
    let (names, text) = switch.target(level);
    let names = name_device(names, context).map_err(Refusal::Unavailable)?;
    let files = matching_files(&names, context.machine).map_err(Refusal::Unavailable)?;
    for file in &files {
        let Some(why) = irreversible_reason(switch, file, &text, context.machine) else { continue };
        if !context.settings.may_last {
            return Err(Refusal::Unavailable(why));
        }
        // Nobody can undo it, so the ledger does not have it.
        files::overwrite(file, &text).map_err(|error| refusal(file, &text, &error))?;
    }

    let notes: Vec<String> = files.iter().map(|file| describe_setting(file, &text)).collect();
    set(&files, &text, context.ledger)?;
    Ok(Box::new(move |_, evidence| {
        check(&files, &text)?;
        evidence.notes.extend(notes.iter().cloned());
        Ok(())
    }))
}

/// What a file will contain, and what it contains now: `/proc/sys/vm/swappiness = 10 in place of
/// 60`.
fn describe_setting(file: &Path, text: &str) -> String {
    let setting = format!("{} = {text}", file.display());
    match fs::read_to_string(file) {
        Ok(before) if content(&before) != text => {
            format!("{setting}{IN_PLACE_OF}{}", content(&before))
        }
        _ => setting,
    }
}

/// Writes a text to files that do not contain it, and proves that they do then.
pub(super) fn set(files: &[PathBuf], text: &str, ledger: &mut Ledger) -> Result<(), Refusal> {
    for file in files {
        let before = fs::read_to_string(file)
            .map_err(|error| Refusal::Unavailable(file_error(file, &error)))?;
        if content(&before) == text {
            continue;
        }

        ledger.record(&undo(file, &before)?)?;
        files::overwrite(file, text).map_err(|error| refusal(file, text, &error))?;
    }

    Ok(check(files, text)?)
}

/// The step that sets a file back.
///
/// # Errors
/// It does not take what it contains, so nobody could.
fn undo(file: &Path, before: &str) -> Result<Undo, Refusal> {
    let mut path = file.to_path_buf();
    let mut before = before.to_owned();
    // A 0 means that its partner holds the setting.
    if before.trim() == "0"
        && let Some(partner) = partner(file)
        && let Ok(partner_text) = fs::read_to_string(&partner)
    {
        (path, before) = (partner, partner_text);
    }

    let text = bracketed_word(&before).unwrap_or(&before).to_owned();
    match files::overwrite(&path, &text) {
        Ok(()) => Ok(Undo::Write { path, text }),
        Err(error) => Err(Refusal::Unavailable(format!(
            "{} does not take '{}', which it contains ({error}): nothing could set it back",
            path.display(),
            text.trim()
        ))),
    }
}

/// Why a level of a switch could not be taken back: a sentence for each of its files.
pub(super) fn irreversible_settings(
    switch: &Switch,
    level: &str,
    machine: &Machine,
) -> Vec<String> {
    let (names, text) = switch.target(level);
    let files = matching_files(&name_any_device(&names), machine).unwrap_or_default();
    files.iter().filter_map(|file| irreversible_reason(switch, file, &text, machine)).collect()
}

/// Why a file could not be set back from `text`; `None` if it could, or contains that already.
fn irreversible_reason(
    switch: &Switch,
    file: &Path,
    text: &str,
    machine: &Machine,
) -> Option<String> {
    let before = fs::read_to_string(file).ok()?;
    if content(&before) == text {
        return None;
    }

    // By `self`, a link or the root of a process, many paths lead to one setting.
    let real = fs::canonicalize(file).ok()?;
    let root = fs::canonicalize(machine.path("/")).ok()?;
    let below = real.strip_prefix(root).ok()?;
    let row = switch.one_way(&Path::new("/").join(below).to_string_lossy(), text.trim())?;
    Some(format!("{} cannot be set back from '{text}': {}", file.display(), row.why))
}

/// The other file of a setting that has two, in bytes and as a share: who writes to one
/// sets the other to 0, and none takes a 0.
fn partner(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?.strip_prefix("dirty_")?;
    let partner_name = match name.strip_suffix("bytes") {
        Some(stem) => format!("dirty_{stem}ratio"),
        None => format!("dirty_{}bytes", name.strip_suffix("ratio")?),
    };
    Some(file.with_file_name(partner_name))
}

/// Checks that every file is there and accepts the level's text.
pub(super) fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<(), String> {
    let (names, text) = switch.target(level);
    // The file is named by the level, which there is none of yet.
    if level.is_empty() {
        return Ok(());
    }

    let on_any_device = name_any_device(&names);
    let files = matching_files(&on_any_device, machine)?;
    if switch.takes_names() {
        files.iter().try_for_each(|file| check_is_kernels(file, machine))?;
    }

    let answers: Vec<Result<(), String>> =
        files.iter().map(|file| check_accepts(file, &text)).collect();
    // Which device it is depends on where the programs work: one that can is enough.
    let has_device = on_any_device != names;
    if has_device && answers.iter().any(Result::is_ok) {
        return Ok(());
    }

    answers.into_iter().collect()
}

/// The names with a pattern for any device in place of the programs' own.
fn name_any_device(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.replace("/{device}/", "/*/")).collect()
}

/// The errors by which the kernel refuses a value: EINVAL, ERANGE, EDOM.
const WRONG_VALUES: [i32; 3] = [
    rustix::io::Errno::INVAL.raw_os_error(),
    rustix::io::Errno::RANGE.raw_os_error(),
    rustix::io::Errno::DOM.raw_os_error(),
];

/// Checks that a file is the kernel's own: `/proc/self/root` leads to any other.
fn check_is_kernels(file: &Path, machine: &Machine) -> Result<(), String> {
    let target = fs::canonicalize(file).map_err(|error| file_error(file, &error))?;
    for folder in KERNELS {
        let folder = fs::canonicalize(machine.path(folder));
        if folder.is_ok_and(|folder| target.starts_with(folder)) {
            return Ok(());
        }
    }

    Err(format!(
        "{} leads to {}, which is not a setting of the kernel",
        file.display(),
        target.display()
    ))
}

/// Checks that a file accepts a text.
fn check_accepts(file: &Path, text: &str) -> Result<(), String> {
    let before = fs::read_to_string(file).map_err(|error| file_error(file, &error))?;
    // Some list the texts that they accept: `always [madvise] never`.
    let mut words = before.split_whitespace().map(|word| word.trim_matches(['[', ']', '(', ')']));
    if bracketed_word(&before).is_some() && !words.any(|word| word == text) {
        return Err(format!("{} accepts {}, not {text}", file.display(), before.trim()));
    }
    // Others accept none.
    if ["notsupported", "notimplemented"].contains(&before.trim()) {
        return Err(format!(
            "there is nothing to switch: {} contains '{}'",
            file.display(),
            before.trim()
        ));
    }
    if content(&before) != text {
        rustix::fs::access(file, rustix::fs::Access::WRITE_OK).map_err(|error| {
            format!("{} cannot be written ({error}); it may need root", file.display())
        })?;
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

/// The names with `/sys/block/{device}` replaced by the device that the programs' directory
/// is on.
fn name_device(names: Vec<String>, context: &Context<'_>) -> Result<Vec<String>, String> {
    const PLACEHOLDER: &str = "/sys/block/{device}";
    if !names.iter().any(|name| name.starts_with(PLACEHOLDER)) {
        return Ok(names);
    }

    let folder = context.staging.folder.as_deref().unwrap_or(context.folder);
    let device = device_folder(context.machine, folder).ok_or_else(|| {
        format!("{} is not on a block device; try another --dir", folder.display())
    })?;
    Ok(names.iter().map(|name| name.replace(PLACEHOLDER, &device.display().to_string())).collect())
}

/// The files that the names stand for, at least one.
fn matching_files(names: &[String], machine: &Machine) -> Result<Vec<PathBuf>, String> {
    let paths = names.iter().flat_map(|name| expand(name, machine));
    let files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    if files.is_empty() { Err(format!("there is no {} here", names.join(", "))) } else { Ok(files) }
}

/// Every path that a pattern matches; `*` as a whole component stands for any name.
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

/// The setting in a file's text: its chosen word if it reads like `always [madvise] never` or `none
/// voluntary (full)`, else all of it.
pub(super) fn content(text: &str) -> &str {
    bracketed_word(text).unwrap_or(text.trim())
}

/// The chosen word of a line of several, as the kernel shows a choice.
fn bracketed_word(text: &str) -> Option<&str> {
    let mut bracketed = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix(['[', '('])?.strip_suffix([']', ')']));
    let chosen = bracketed.next()?;
    let is_only_one = bracketed.next().is_none();

    let is_one_line = text.trim().lines().count() == 1;
    let has_several_words = text.split_whitespace().count() > 1;
    (is_one_line && has_several_words && is_only_one).then_some(chosen)
}

fn file_error(file: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read or written ({error}){}", file.display(), advice(error))
}

/// Why a file does not take a text: the kernel calls it no value of it, or nobody may write there.
fn refusal(file: &Path, text: &str, error: &std::io::Error) -> String {
    let is_wrong_value = error.raw_os_error().is_some_and(|code| WRONG_VALUES.contains(&code));
    match is_wrong_value {
        true => format!("'{text}' is no value of {} ({error}); try another", file.display()),
        false => file_error(file, error),
    }
}

/// `; it may need root` after what root could do.
fn advice(error: &std::io::Error) -> &'static str {
    let is_forbidden = error.kind() == std::io::ErrorKind::PermissionDenied
        || error.kind() == std::io::ErrorKind::ReadOnlyFilesystem;
    if is_forbidden { "; it may need root" } else { "" }
}
