//! The user's own tables: tests, groups and conditions in addition to the catalogue's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{Catalogue, Group, Means, Switch, Test};

/// The variable that names another file than the usual one.
const VARIABLE: &str = "UNIXMARK_CATALOGUE";

/// The value of that variable if no file is wanted.
const NOTHING: &str = "/dev/null";

/// Twenty times as much as the whole catalogue has.
const MAX_TABLE_BYTES: u64 = 4 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    test: Vec<Test>,
    #[serde(default)]
    group: Vec<Group>,
    #[serde(default)]
    condition: Vec<Switch>,
}

/// The path of the user's tables, which need not exist: $UNIXMARK_CATALOGUE, else
/// `unixmark/catalogue.toml` in the user's configuration; `None` without a home.
pub fn path() -> Option<PathBuf> {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = variable(VARIABLE) {
        return Some(path);
    }

    let configuration = match variable("XDG_CONFIG_HOME") {
        Some(folder) => folder,
        None => variable("HOME")?.join(".config"),
    };
    Some(configuration.join("unixmark/catalogue.toml"))
}

/// True if the user named the file, which must exist then.
fn is_asked() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty())
}

/// Adds the user's tables to the catalogue's.
///
/// # Errors
/// The file cannot be read, does not parse, or has a row that cannot be.
pub(super) fn add(catalogue: &mut Catalogue) -> Result<()> {
    let Some(path) = path().filter(|path| is_asked() || path.exists()) else {
        return Ok(());
    };

    if path == Path::new(NOTHING) {
        return Ok(());
    }

    let text = files::read_text(&path, MAX_TABLE_BYTES).with_context(|| {
        format!("your catalogue {} cannot be read; fix or remove it", path.display())
    })?;
    let file: File = toml::from_str(&text)
        .with_context(|| format!("your catalogue {} cannot be read", path.display()))?;
    for mut test in file.test {
        check_name_is_new(&test.id, catalogue, &path)?;
        complete_row(&mut test, catalogue, &path)?;
        catalogue.tests.push(Arc::new(test));
    }

    for group in file.group {
        check_name_is_new(&group.id, catalogue, &path)?;
        catalogue.groups.push(group);
    }

    for switch in file.condition {
        check_switch(&switch, catalogue, &path)?;
        catalogue.switches.push(Arc::new(switch));
    }

    Ok(())
}

fn check_name_is_new(id: &str, catalogue: &Catalogue, path: &Path) -> Result<()> {
    if catalogue.has(id) {
        bail!(
            "your catalogue {} has a row '{id}', which is the name of another; try one of your own",
            path.display()
        );
    }
    check_typeable(id, path)
}

/// True if a name is one word that no shell and no list takes apart.
pub fn is_typeable(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn check_typeable(id: &str, path: &Path) -> Result<()> {
    if !is_typeable(id) {
        bail!(
            "your catalogue {} has a row '{id}'; try a name of letters, digits and dashes",
            path.display()
        );
    }
    Ok(())
}

/// Checks a condition of the user's: it writes files or runs commands, and can be proved and
/// undone.
fn check_switch(switch: &Switch, catalogue: &Catalogue, path: &Path) -> Result<()> {
    let at = format!("your catalogue {} has a condition '{}'", path.display(), switch.id);
    check_typeable(&switch.id, path)?;
    if catalogue.switches.iter().any(|known| known.id == switch.id) {
        bail!("{at}, which is the name of another; try one of your own");
    }

    match switch.means {
        Means::File if switch.files.is_empty() => {
            bail!("{at} without files to write; add files = [\"/path\"]")
        }
        Means::Command if [&switch.enter, &switch.verify, &switch.leave].contains(&&None) => {
            bail!(
                "{at} without enter, verify or leave; a condition needs all three, to be proved and undone"
            )
        }
        Means::File | Means::Command | Means::Argument => Ok(()),
        _ => bail!("{at} of a means that is not for users; try means = \"command\" or \"file\""),
    }
}

/// Checks a row's program: an executable by its absolute path, or a program of the catalogue, whose
/// sources the row then gets.
fn complete_row(test: &mut Test, catalogue: &Catalogue, path: &Path) -> Result<()> {
    if test.is_foreign() {
        return Ok(());
    }

    match catalogue
        .tests
        .iter()
        .find(|known| known.program == test.program && known.define.is_empty())
    {
        Some(known) => test.sources.clone_from(&known.sources),
        None => bail!(
            "your catalogue {} has a row '{}' with the program '{}', which is not one of the catalogue's; try an absolute path",
            path.display(),
            test.id,
            test.program
        ),
    }
    Ok(())
}
