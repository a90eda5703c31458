//! `unixmark new`: the C file and the row of a test of one's own.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::measuring::options::{caption, current_dir};
use crate::status::{Status, usage};
use crate::terminal::print;
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
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
    /// The next steps.
    next: String,
}

const SOURCE: &str = r#"/* NAME: say here what it exercises. */
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
    let What::Test(test) = &arguments.what;
    let catalogue = Catalogue::load()?;
    if !catalogue::is_typeable(&test.name) {
        return Err(usage(anyhow::anyhow!("'{}' is not a name; try letters, digits and dashes", test.name)));
    }
    if catalogue.has(&test.name) {
        return Err(usage(anyhow::anyhow!("there is already a test or group '{}'; try another name", test.name)));
    }
    let here = current_dir()?;
    let place = match here.ancestors().find(|folder| is_project(folder)) {
        Some(project) => in_project(project, test),
        None => in_own(test)?,
    };
    write(&place, test)?;
    let (source, table) = (place.source.display(), place.table.display());
    print(&format!("{source}: a whole test; replace its work\n{table}: its row; describe it there\n{}\n", place.next))?;
    Ok(Status::Fine)
}

/// Returns true if a directory is the repository of unixmark.
fn is_project(folder: &Path) -> bool {
    folder.join("programs/kit.h").is_file() && folder.join("catalogue/tests.toml").is_file()
}

fn in_project(project: &Path, test: &NewTest) -> Place {
    let category = crate::options::name(test.resource);
    let program = format!("{category}/{}", test.name);
    Place {
        source: project.join("programs").join(format!("{program}.c")),
        table: project.join("catalogue").join(format!("{category}.toml")),
        next: format!("measure it: cargo run -- run {}", test.name),
        program,
        category,
    }
}

fn in_own(test: &NewTest) -> Result<Place> {
    let why = "there is no place for a catalogue of your own; set HOME or UNIXMARK_CATALOGUE";
    let table = catalogue::own_path().with_context(|| why)?;
    let table = std::path::absolute(&table).with_context(|| format!("{} cannot be used", table.display()))?;
    let program = table.with_file_name(&test.name);
    let source = table.with_file_name(format!("{}.c", test.name));
    let build = words::shell(&[source.display().to_string()]);
    let Some(program) = program.to_str() else { bail!("{} is not UTF-8; set UNIXMARK_CATALOGUE", table.display()) };
    Ok(Place {
        program: program.to_owned(),
        category: "own".to_owned(),
        next: format!("build it:   unixmark build {build}\nmeasure it: unixmark run {}", test.name),
        source,
        table,
    })
}

fn write(place: &Place, test: &NewTest) -> Result<()> {
    let cannot =
        |path: &Path| format!("{} cannot be written; if it is there already, try another name", path.display());
    if let Some(folder) = place.table.parent() {
        fs::create_dir_all(folder).with_context(|| cannot(folder))?;
    }
    // What is there is never overwritten.
    let source = File::create_new(&place.source).with_context(|| cannot(&place.source));
    source.and_then(|mut file| Ok(file.write_all(SOURCE.replace("NAME", &test.name).as_bytes())?))?;
    let table = File::options().append(true).create(true).open(&place.table).with_context(|| cannot(&place.table));
    table.and_then(|mut file| Ok(file.write_all(row(place, test).as_bytes())?)).with_context(|| cannot(&place.table))
}

/// The row: a JSON string is one of TOML where it has no control characters.
fn row(place: &Place, test: &NewTest) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let NewTest { name, unit, .. } = test;
    format!(
        "\n[[test]]\nid = {}\nlabel = {}\nunit = {}\nprogram = {}\ncategory = {}\nchecks = {{ right = 1 }}\n\
         doc = \"\"\"Say here what {name} exercises: what one count of it is, and what bounds it. \\\n\
         Say also what it does not show.\"\"\"\n",
        text(name),
        text(test.label.as_ref().unwrap_or(name)),
        text(unit),
        text(&place.program),
        text(&place.category),
    )
}
