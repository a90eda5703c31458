//! Results of other suites as journals: UnixBench's reports and logs, the reports of BYTE 3, tables of its runs, and tables
//! of Lbench.
//!
//! What kind a text is shows in its lines, not in its file's name. A text that was cut or damaged
//! gives what it still holds, with warnings; only one without any result is an error.

mod check;
mod date;
mod draft;
mod header;
mod lbench;
mod lines;
mod log;
mod report;
mod runs;

#[cfg(test)]
mod samples;

use anyhow::{Result, bail};

use catalogue::Catalogue;
use draft::Draft;
use journal::Journal;

/// Returns the results that `text` holds, as journals with the procedure `imported` and no name: one, but of a table of runs
/// each of them. `file_name` serves where the text does not tell its host and its date, as UnixBench's logs do not.
///
/// # Errors
/// The text is of no kind that is known, holds no result, or a figure of a table of runs is none.
pub fn import(file_name: &str, text: &str, catalogue: &Catalogue) -> Result<Vec<Journal>> {
    // What is quoted in warnings and facts reaches a terminal: no control character may.
    let text: String = text.trim_start_matches('\u{feff}').chars().map(printable).collect();
    let draft = Draft::new(file_name, catalogue);
    // The HTML report has the text report's title, and none of its lines.
    if let Some(table) = runs::table(&text) {
        return runs::read(&table, &draft);
    }
    let journal = if is_html(&text) {
        bail!("it is an HTML report; import the text report or the .log file beside it")
    } else if let Some(table) = lbench::table(&text) {
        lbench::read(&table, draft, catalogue)
    } else if text.lines().any(log::is_log_line) {
        log::read(&text, draft)
    } else if text.lines().any(report::is_report_line) {
        report::read(&text, draft)
    } else {
        bail!("{}", stranger(&text))
    };
    if journal.trials.iter().all(|trial| trial.copies.is_empty() && trial.score.is_none()) {
        bail!("it has no result: it may have been cut; import the whole report, or the .log file beside it");
    }
    Ok(vec![journal])
}

fn printable(c: char) -> char {
    match c {
        '\r' => '\n',
        '\n' => c,
        _ if c.is_control() => ' ',
        _ => c,
    }
}

fn is_html(text: &str) -> bool {
    let start = text.trim_start();
    begins(start, "<!doctype") || begins(start, "<html")
}

fn begins(text: &str, with: &str) -> bool {
    text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}

/// Whether the first line is that of a journal, in any serialisation.
fn is_run(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    first.is_some_and(|line| line["type"] == "run")
}

/// Says what a text is that cannot be imported, and what to try.
fn stranger(text: &str) -> &'static str {
    let start = text.trim_start();
    if start.is_empty() {
        "it is empty; import a report or a .log file of UnixBench, a report of BYTE 3, a table of its runs, or one of Lbench"
    } else if begins(start, "concurrency") {
        "it is UnixBench's CSV, which has no sample counts; import the text report or the .log file beside it"
    } else if is_run(start) {
        "it is already a run of unixmark; give its directory to `unixmark report`"
    } else if start.starts_with('{') {
        "it is JSON, but no table of Lbench (that has `threads` and `rows` of label, unit and a figure for each) nor one of \
         runs (that has `run1`, `run2` … of tests with their values), or it was cut"
    } else {
        "it is neither a report or .log file of UnixBench nor a report of BYTE 3 nor a table of runs or of Lbench; import one of those"
    }
}

#[cfg(test)]
mod tests {
    use super::samples::catalogue;
    use super::*;

    fn refused(text: &str) -> String {
        import("x", text, &catalogue()).unwrap_err().to_string()
    }

    #[test]
    fn strangers_are_named() {
        assert!(refused("").starts_with("it is empty"));
        assert!(refused(" \r\n\t ").starts_with("it is empty"));
        assert!(
            refused("<!DOCTYPE HTML>\n<h1>BYTE UNIX Benchmarks (Version 6.0.0)</h1>")
                .starts_with("it is an HTML report")
        );
        assert!(refused("Concurrency,Pipe Throughput\n1,5.0\n").starts_with("it is UnixBench's CSV"));
        for run in [
            "{\"type\":\"run\",\"format\":\"unixmark-run/1\"}",
            "{\"format\": \"unixmark-run/1\", \"type\": \"run\"}\n{}",
        ] {
            assert!(refused(run).starts_with("it is already a run"));
        }
        assert!(refused("\u{0}\u{1}\u{fffd}ELF").starts_with("it is neither"));
        assert!(refused("   BYTE UNIX Benchmarks (Version 6.0.0)\n").starts_with("it has no result"));
        assert!(refused("#### Pass 1\n").starts_with("it has no result"));
    }

    #[test]
    fn no_control_character_is_passed_on() {
        let text = "Line \u{1b}[31mred 5.0 lps (10.0 s, 7 samples)\nPipe Throughput 5.0 lps (10.0 s, 7 samples)\n";
        let journal = import("a\u{7}b", text, &catalogue()).unwrap().remove(0);
        assert_eq!(journal.cells[0].label, "Line [31mred");
        let shown = format!("{:?}", journal);
        assert!(!shown.contains("\\u{1b}") && !shown.contains("\\u{7}"), "{shown}");
    }
}
