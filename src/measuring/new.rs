//! `unixmark new`: the C file and the row of a test of one's own.
//!
//! In the repository of unixmark they become part of the project; elsewhere, of the user's own
//! catalogue.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::measuring::options::{caption, current_dir};
use crate::status::{Status, usage};
use crate::terminal::print;
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    thing: NewThing,
}

#[derive(Debug, clap::Subcommand)]
enum NewThing {
    /// Make a test: in the project if this is its repository, else in your own catalogue
    Test(NewTest),
}

#[derive(Debug, clap::Args)]
struct NewTest {
    /// Name of the test on the command line
    name: String,
    /// Label of the test in reports [default: NAME]
    #[arg(long, value_name = "TEXT", value_parser = caption)]
    label: Option<String>,
    /// Unit of what it counts per second
    #[arg(long, value_name = "UNIT", value_parser = caption, default_value = "lps")]
    unit: String,
    /// What the test exercises, which names its folder in the project
    #[arg(long = "in", value_name = "RESOURCE", value_enum, default_value_t = Resource::Kernel)]
    resource: Resource,
}

/// A resource with a folder of programs and a table of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Resource {
    /// The cores
    Cpu,
    /// Caches and memory
    Memory,
    /// Threads
    Thread,
    /// The kernel
    Kernel,
    /// Files and disks
    File,
    /// What sessions of users do
    Session,
}

/// The place of a new test.
struct Place {
    source: PathBuf,
    table: PathBuf,
    /// The row's program and category.
    program: String,
    category: String,
    /// The user's next steps, one a line.
    next_steps: String,
}

/// The C file of a new test; NAME stands for the test's name.
const SOURCE_TEMPLATE: &str = r#"/* NAME: say here what it exercises. */
#include <unistd.h>

#include "kit.h"

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    /* Prepare, and check once that the work gives the right answer. */
    kit_check("right", getppid() > 0);
    kit_start();
    for (;;) {
        getppid(); /* the work: replace it, and put nothing else in the loop */
        kit_count++;
    }
}
"#;

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let NewThing::Test(test) = &arguments.thing;
    check_name(&test.name, &Catalogue::load()?).map_err(usage)?;

    let here = current_dir()?;
    let place = match here.ancestors().find(|folder| is_project(folder)) {
        Some(project) => place_in_project(project, test),
        None => place_in_own_catalogue(test)?,
    };
    write_test(&place, test)?;

    let Place { source, table, next_steps, .. } = &place;
    print(&format!(
        "{}: a whole test; replace its work\n{}: its row; describe it there\n{next_steps}\n",
        source.display(),
        table.display()
    ))?;
    Ok(Status::Fine)
}

/// Checks that a name can be typed, and is not another test's.
fn check_name(name: &str, catalogue: &Catalogue) -> Result<()> {
    ensure!(catalogue::is_typeable(name), "'{name}' is not a name; try letters, digits and dashes");
    ensure!(!catalogue.has(name), "there is already a test or group '{name}'; try another name");
    Ok(())
}

/// True if a directory is the repository of unixmark.
fn is_project(folder: &Path) -> bool {
    folder.join("programs/kit.h").is_file() && folder.join("catalogue/tests.toml").is_file()
}

fn place_in_project(project: &Path, test: &NewTest) -> Place {
    let category = crate::options::name(test.resource);
    let program = format!("{category}/{}", test.name);
    Place {
        source: project.join("programs").join(format!("{program}.c")),
        table: project.join("catalogue").join(format!("{category}.toml")),
        next_steps: format!("measure it: cargo run -- run {}", test.name),
        program,
        category,
    }
}

fn place_in_own_catalogue(test: &NewTest) -> Result<Place> {
    let table = catalogue::own_path()
        .context("there is no place for a catalogue of your own; set HOME or UNIXMARK_CATALOGUE")?;
    let table = std::path::absolute(&table)
        .with_context(|| format!("{} cannot be used", table.display()))?;
    let source = table.with_file_name(format!("{}.c", test.name));
    let program = table.with_file_name(&test.name);
    let Some(program) = program.to_str() else {
        bail!("{} is not UTF-8; set UNIXMARK_CATALOGUE", table.display())
    };

    let build_words = words::shell(&[source.display().to_string()]);
    let next_steps =
        format!("build it:   unixmark build {build_words}\nmeasure it: unixmark run {}", test.name);
    Ok(Place { program: program.to_owned(), category: "own".to_owned(), next_steps, source, table })
}

/// Writes the C file, and adds the row to the table.
fn write_test(place: &Place, test: &NewTest) -> Result<()> {
    let Place { source, table, .. } = place;
    if let Some(folder) = table.parent() {
        files::make_directories(folder).with_context(|| describe_failed_write(folder))?;
    }

    // An existing file is never overwritten.
    let mut file = files::options()
        .write(true)
        .create_new(true)
        .open(source)
        .with_context(|| describe_failed_write(source))?;
    file.write_all(SOURCE_TEMPLATE.replace("NAME", &test.name).as_bytes())?;

    let mut file = files::options()
        .append(true)
        .create(true)
        .open(table)
        .with_context(|| describe_failed_write(table))?;
    file.write_all(to_row(place, test).as_bytes()).with_context(|| describe_failed_write(table))
}

fn describe_failed_write(path: &Path) -> String {
    format!("{} cannot be written; if it is there already, try another name", path.display())
}

/// The row of a test in TOML.
fn to_row(place: &Place, test: &NewTest) -> String {
    let label = test.label.as_ref().unwrap_or(&test.name);
    format!(
        "\n[[test]]\nid = {}\nlabel = {}\nunit = {}\nprogram = {}\ncategory = {}\nchecks = {{ right = 1 }}\n\
         doc = \"\"\"Say here what {} exercises: what one count of it is, and what bounds it. \\\n\
         Say also what it does not show.\"\"\"\n",
        quote(&test.name),
        quote(label),
        quote(&test.unit),
        quote(&place.program),
        quote(&place.category),
        test.name,
    )
}

/// A TOML string. JSON's are the same where they have no control characters.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
