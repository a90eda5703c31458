//! Results of other suites as journals: UnixBench's files of all versions, the reports of BYTE 3, tables of its runs
//! and of Lbench, and the output of other benchmarks (`suites`).
//!
//! The content of a text shows its kind, not its file's name: [`READERS`] has them all. A report or log of UnixBench
//! that was cut or damaged gives what it still holds, with warnings; any other text is refused then, by its line.

mod calls;
mod check;
mod date;
mod draft;
pub mod harness;
mod header;
mod lbench;
mod lines;
mod log;
mod page;
mod report;
mod runs;
mod suites;
mod text;
mod wide;
mod xml;

use anyhow::{Context, Result, ensure};

pub use calls::calls;

use catalogue::Catalogue;
use draft::Draft;
use journal::Journal;
use suites::{
    cyclictest, fio, frames, geekbench, hackbench, hyperfine, lmbench, phoronix, rt_app, rtla, schbench, sysbench, yabs,
};
use text::Text;

/// A reader: its name in messages, whether a text is of its kind, by its content, and the runs that a text of the kind
/// holds.
type Reader = (&'static str, fn(&Text<'_>) -> bool, fn(&Text<'_>, Draft<'_>) -> Result<Vec<Journal>>);

/// Everything that can be imported. Of several that know a text the first reads it.
const READERS: [Reader; 19] = [
    ("Lbench's tables (JSON)", lbench::is_it, lbench::read),
    ("fio's JSON", fio::is_it, fio::read),
    ("hyperfine's JSON", hyperfine::is_it, hyperfine::read),
    ("Geekbench's JSON", geekbench::is_it, geekbench::read),
    ("YABS's JSON", yabs::is_it, yabs::read),
    (
        "figures of go test -bench and criterion (text), Google Benchmark, pytest-benchmark, JMH and nanobench (JSON), \
         {\"name\": number}",
        harness::is_it,
        harness::read,
    ),
    ("cyclictest's text and JSON", cyclictest::is_it, cyclictest::read),
    ("Phoronix Test Suite's XML", phoronix::is_it, phoronix::read),
    ("UnixBench's HTML", page::is_it, page::read),
    ("UnixBench's CSV", wide::is_it, wide::read),
    ("lmbench's summary", lmbench::is_it, lmbench::read),
    ("sysbench's text", sysbench::is_it, sysbench::read),
    ("hackbench's text", hackbench::is_it, hackbench::read),
    ("schbench's text", schbench::is_it, schbench::read),
    ("rtla's text", rtla::is_it, rtla::read),
    ("rt-app's logs", rt_app::is_it, rt_app::read),
    ("MangoHud's and PresentMon's CSV", frames::is_it, frames::read),
    ("UnixBench's .log", log::is_it, log::read_text),
    ("UnixBench's and BYTE 3's reports", report::is_it, report::read_text),
];

/// Returns what can be imported, as a list in words.
pub fn kinds() -> String {
    let known = READERS.iter().map(|(what, ..)| *what);
    known.chain(["tables of runs (JSON)"]).collect::<Vec<&str>>().join(", ")
}

/// Returns the results that `text` holds, as journals with the procedure `imported` and no name: one, or one for each
/// run or system of a file with several. `file_name` serves where the text does not tell its host and its date, as
/// UnixBench's logs do not.
///
/// # Errors
/// The text is of no kind or version that is known, holds no result, or is damaged or cut where its kind cannot be read
/// without the rest: the line is named.
pub fn import(file_name: &str, text: &str, catalogue: &Catalogue) -> Result<Vec<Journal>> {
    // What is quoted in warnings and facts reaches a terminal: no control character may.
    let text: String = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").chars().map(printable).collect();
    let text = harness::output_of_events(&text).unwrap_or(text);
    let draft = Draft::new(file_name, catalogue);
    // Some writers of these put words where JSON has numbers.
    if let Some(table) = runs::table(&text) {
        let journals = runs::read(&table, &draft)?;
        journals.iter().try_for_each(Journal::check)?;
        return Ok(journals);
    }
    ensure!(!is_run(&text), "it is already a run of unixmark; give its directory to `unixmark report`");
    let text = Text::new(&text)?;
    let reader = READERS.iter().find(|(_, is_it, _)| is_it(&text));
    let (what, _, read) = reader.with_context(|| stranger(&text))?;
    let mut journals = read(&text, draft)?;
    journals.retain(|journal| journal.trials.iter().any(|trial| !trial.copies.is_empty() || trial.score.is_some()));
    let is_cut = journals.is_empty();
    ensure!(!is_cut, "it has no result, although it looks like {what}: it may be truncated; import the whole file");
    journals.iter().try_for_each(Journal::check)?;
    Ok(journals)
}

fn printable(c: char) -> char {
    match c {
        '\r' => '\n',
        '\n' => c,
        _ if c.is_control() => ' ',
        _ => c,
    }
}

/// Returns true if the first line is that of a journal, in any serialisation.
fn is_run(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    first.is_some_and(|line| line["type"] == "run")
}

/// Says that a text cannot be imported, and what can be.
fn stranger(text: &Text<'_>) -> String {
    let what = if text.raw.trim().is_empty() { "empty" } else { "in no format that is known here" };
    format!("it is {what}; what can be imported: {}", kinds())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        import("x", text, &Catalogue::load().unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn strangers_are_named() {
        for empty in ["", " \r\n\t "] {
            assert!(refused(empty).starts_with("it is empty; what can be imported: "));
        }
        for run in [
            "{\"type\":\"run\",\"format\":\"unixmark-run/1\"}",
            "{\"format\": \"unixmark-run/1\", \"type\": \"run\"}\n{}",
        ] {
            assert!(refused(run).starts_with("it is already a run"));
        }
        for stranger in ["\u{0}\u{1}\u{fffd}ELF", "{\"a\": \"b\"}", "[]"] {
            assert!(refused(stranger).starts_with("it is in no format that is known here"), "{stranger}");
        }
        for (what, ..) in READERS {
            assert!(kinds().contains(what));
        }
        assert!(refused("<html><h1>Hello</h1></html>").starts_with("it is an HTML page, but no report of UnixBench"));
        assert!(refused("   BYTE UNIX Benchmarks (Version 6.0.0)\n").starts_with("it has no result"));
        assert!(refused("#### Pass 1\n").starts_with("it has no result"));
        assert!(refused("{\"a\": 1,\n \"b\"").contains("at line 2 column 4"));
    }

    #[test]
    fn no_control_character_is_passed_on() {
        let text = "Line \u{1b}[31mred 5.0 lps (10.0 s, 7 samples)\nPipe Throughput 5.0 lps (10.0 s, 7 samples)\n";
        let journal = import("a\u{7}b", text, &Catalogue::load().unwrap()).unwrap().remove(0);
        assert_eq!(journal.cells[0].label, "Line [31mred");
        let shown = format!("{:?}", journal);
        assert!(!shown.contains("\\u{1b}") && !shown.contains("\\u{7}"), "{shown}");
    }
}
