//! Results of other suites as journals: UnixBench's files of all versions, the reports of BYTE 3,
//! tables of its runs and of Lbench, and the output of other benchmarks (`suites`).
//!
//! A file goes through five steps:
//!
//! 1. [`bytes::to_text`] unpacks and decodes it, and [`plain::to_plain`] takes off what terminals
//!    and mails added.
//! 2. The first [`Reader`] that recognises the content reads it, whatever the file's name. JSON
//!    documents go before text ([`known_documents`]); lines around them are left out with a note.
//!    A plain object of figures is read only where nothing else is.
//! 3. A last line without a newline may be cut: [`settle_end`] leaves it out unless its format
//!    shows that it is whole.
//! 4. [`divide_runs`] finds where the runs of a text begin, and the reader makes journals of each.
//! 5. What no reader recognises is refused ([`refuse`]), by the name of the tool that wrote it if
//!    that is known ([`strangers`]).
//!
//! A report or log of UnixBench that was cut or damaged gives what it still holds, with warnings;
//! any other text is refused then, by its line.

mod bytes;
mod calls;
mod check;
mod date;
mod draft;
mod end;
mod figure;
pub mod harness;
mod header;
mod lbench;
mod lines;
mod log;
mod page;
mod parts;
mod plain;
mod report;
mod runs;
mod strangers;
mod suites;
mod text;
mod wide;
mod xml;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use anyhow::{Error, Result, anyhow, bail, ensure};
use serde_json::Value;

pub use calls::calls;

use catalogue::Catalogue;
use draft::Draft;
use end::End;
use journal::{Journal, Warning};
use parts::Starts;
use plain::excerpt;
use suites::{
    cyclictest, fio, frames, geekbench, hackbench, hyperfine, interbench, lmbench, phoronix,
    rt_app, rtla, schbench, sysbench, yabs,
};
use text::{Documents, Text};

/// Maximum runs of a file; a day of fio's status has fewer.
const MAX_RUNS: usize = 1000;

/// Why a text is refused whose format is not known.
#[derive(Debug)]
struct Unrecognised(String);

impl std::error::Error for Unrecognised {}

impl fmt::Display for Unrecognised {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A kind of file.
struct Reader {
    /// Its name in messages.
    name: &'static str,
    /// True if a text is of the kind.
    recognises: fn(&Text<'_>) -> bool,
    /// Notes where runs begin in a text of several.
    note_starts: fn(&Text<'_>, &mut Starts),
    /// How a last line shows that it is whole.
    end: End,
    /// Makes the journals of a text: of one run, or of all where the reader divides it itself.
    read: fn(&Text<'_>, Draft<'_>) -> Result<Vec<Journal>>,
}

/// The kinds that are JSON documents. The first that recognises a document reads it.
const DOCUMENTS: [Reader; 7] = [
    document("a table of Lbench", lbench::recognises, lbench::read),
    document("fio's JSON", fio::recognises, fio::read),
    document("hyperfine's JSON", hyperfine::recognises, hyperfine::read),
    document("Geekbench's JSON", geekbench::recognises, geekbench::read),
    document("YABS's JSON", yabs::recognises, yabs::read),
    document("JSON of a benchmark program", harness::recognises, harness::read),
    document("cyclictest's JSON", cyclictest::recognises, cyclictest::read),
];

/// The kinds that are text. The first that recognises a text reads it.
const TEXTS: [Reader; 15] = [
    Reader {
        name: "the output of go test -bench or criterion",
        recognises: harness::recognises,
        note_starts: note_no_starts,
        // A figure whose line is cut has no value, as of a program that prints it.
        end: End::Marked,
        read: harness::read,
    },
    Reader {
        name: "cyclictest's output",
        recognises: cyclictest::recognises,
        note_starts: cyclictest::note_starts,
        end: End::Refused(cyclictest::is_whole),
        read: cyclictest::read,
    },
    Reader {
        name: "a result of the Phoronix Test Suite",
        recognises: phoronix::recognises,
        note_starts: phoronix::note_starts,
        end: End::Marked,
        read: phoronix::read,
    },
    Reader {
        name: "UnixBench's HTML",
        recognises: page::recognises,
        note_starts: page::note_starts,
        end: End::Marked,
        read: page::read,
    },
    Reader {
        name: "UnixBench's CSV",
        recognises: wide::recognises,
        note_starts: wide::note_starts,
        end: End::Refused(|_, line| end::has_decimals(line, 1)),
        read: wide::read,
    },
    Reader {
        name: "lmbench's summary",
        recognises: lmbench::recognises,
        note_starts: lmbench::note_starts,
        end: End::Refused(lmbench::is_whole),
        read: lmbench::read,
    },
    Reader {
        name: "sysbench's output",
        recognises: sysbench::recognises,
        note_starts: sysbench::note_starts,
        end: End::Marked,
        read: sysbench::read,
    },
    Reader {
        name: "hackbench's output",
        recognises: hackbench::recognises,
        note_starts: hackbench::note_starts,
        end: End::Refused(|_, line| end::has_decimals(line, 3)),
        read: hackbench::read,
    },
    Reader {
        name: "schbench's output",
        recognises: schbench::recognises,
        note_starts: schbench::note_starts,
        end: End::Refused(schbench::is_whole),
        read: schbench::read,
    },
    Reader {
        name: "Interbench's output",
        recognises: interbench::recognises,
        note_starts: interbench::note_starts,
        end: End::LeftOut(end::fills_its_columns),
        read: interbench::read,
    },
    Reader {
        name: "rtla's output",
        recognises: rtla::recognises,
        note_starts: rtla::note_starts,
        end: End::Refused(end::fills_its_columns),
        read: rtla::read,
    },
    Reader {
        name: "a log of rt-app",
        recognises: rt_app::recognises,
        note_starts: rt_app::note_starts,
        end: End::LeftOut(end::fills_its_columns),
        read: rt_app::read,
    },
    Reader {
        name: "a log of MangoHud or PresentMon",
        recognises: frames::recognises,
        note_starts: frames::note_starts,
        end: End::LeftOut(end::ends_in_no_number),
        read: frames::read,
    },
    Reader {
        name: "UnixBench's log",
        recognises: log::recognises,
        note_starts: log::note_starts,
        end: End::LeftOut(end::ends_in_no_number),
        read: log::read_text,
    },
    Reader {
        name: "a report of UnixBench or BYTE",
        recognises: report::recognises,
        note_starts: report::note_starts,
        end: End::LeftOut(|_, line| end::has_decimals(line, 1)),
        read: report::read_text,
    },
];

const fn document(
    name: &'static str,
    recognises: fn(&Text<'_>) -> bool,
    read: fn(&Text<'_>, Draft<'_>) -> Result<Vec<Journal>>,
) -> Reader {
    Reader { name, recognises, note_starts: note_no_starts, end: End::Marked, read }
}

/// For a kind whose reader divides a text itself.
fn note_no_starts(_: &Text<'_>, _: &mut Starts) {}

/// A text, or a part of it, with the reader of its kind.
struct Part<'t> {
    reader: &'static Reader,
    text: Text<'t>,
}

/// The results that a file holds, as journals with the procedure `imported` and no name: one, or
/// one for each run or system of a file with several. `file_name` serves where the text has no host
/// and no date, as UnixBench's logs have not.
///
/// # Errors
/// The text is of no kind or version that is known, holds no result, or is damaged or cut where its
/// kind cannot be read without the missing part: the line is named.
pub fn import(
    file_name: &str,
    content: &(impl AsRef<[u8]> + ?Sized),
    catalogue: &Catalogue,
) -> Result<Vec<Journal>> {
    let text = plain::to_plain(&bytes::to_text(content.as_ref())?);
    let text = harness::output_of_events(&text).unwrap_or(text);
    let draft = Draft::new(file_name, catalogue);

    // Such a table is read from the text itself, which has the order and repetition of its keys.
    if let Some(table) = runs::find_table(&text) {
        let journals = runs::read(&table, &draft)?;
        journals.iter().try_for_each(Journal::check)?;
        return Ok(journals);
    }
    ensure!(
        !is_run(&text),
        "it is already a run of unixmark; give its directory to `unixmark report`"
    );

    let Documents { found, damage } = text::documents(&text);
    let (results, others) = known_documents(found, |json| !is_plain(json));
    if !results.is_empty() {
        let mut notes = describe_surroundings(&text, &results);
        notes.extend(
            damage.map(|damage| format!("JSON that is damaged or truncated is left out: {damage}")),
        );
        return read_parts(&join_documents(results, &text), &draft, notes);
    }

    let mut notes = Vec::new();
    let with_points = with_decimal_points(&text, &mut notes);
    let whole = Text::new(&with_points);
    if let Some(reader) = TEXTS.iter().find(|reader| (reader.recognises)(&whole)) {
        notes.extend(describe_other_kinds(reader, &whole));
        let whole = settle_end(reader, whole, &mut notes)?;
        return read_parts(&divide_runs(reader, &whole), &draft, notes);
    }

    // Next to damaged JSON a plain object is not read: the damage is reported.
    let (objects, _) = known_documents(others, is_plain);
    if !objects.is_empty() && damage.is_none() {
        let notes = describe_surroundings(&text, &objects);
        return read_parts(&join_documents(objects, &text), &draft, notes);
    }
    Err(refuse(&text, damage))
}

/// Divides documents into those that a reader recognises and that are `wanted`, and the others. An
/// array that no reader recognises stands for its elements.
fn known_documents<'t>(
    documents: Vec<Text<'t>>,
    wanted: impl Fn(&Value) -> bool,
) -> (Vec<Part<'t>>, Vec<Text<'t>>) {
    let (mut known, mut others) = (Vec::new(), Vec::new());
    let mut queue: VecDeque<Text<'t>> = documents.into();
    while let Some(document) = queue.pop_front() {
        let reader = DOCUMENTS.iter().find(|reader| (reader.recognises)(&document));
        match (reader, document.json_or_null()) {
            (Some(reader), json) if wanted(json) => known.push(Part { reader, text: document }),
            (None, Value::Array(elements)) if elements.iter().all(Value::is_object) => {
                for element in elements.iter().rev() {
                    queue.push_front(document.with_json(element.clone()));
                }
            }
            _ => others.push(document),
        }
    }
    (known, others)
}

/// Makes one part of documents that are all of one kind of benchmark program: its reader joins
/// those that have no figure in common into one run.
fn join_documents<'t>(parts: Vec<Part<'t>>, text: &'t str) -> Vec<Part<'t>> {
    let [first, others @ ..] = &parts[..] else {
        return parts;
    };
    let kind = harness::kind_of_document(first.text.json_or_null());
    let is_alike = |part: &Part<'_>| harness::kind_of_document(part.text.json_or_null()) == kind;
    if others.is_empty() || kind.is_none() || !others.iter().all(is_alike) {
        return parts;
    }
    vec![Part { reader: first.reader, text: Text::new(text) }]
}

/// True for a plain object of figures. Many programs log one next to their results, so it is read
/// only where nothing else is.
fn is_plain(json: &Value) -> bool {
    harness::kind_of_document(json) == Some(harness::Kind::Json)
}

/// Sentences about the lines before, between and after the documents of a text, which are left out.
fn describe_surroundings(text: &str, documents: &[Part<'_>]) -> Vec<String> {
    let mut is_within = vec![false; text.lines().count() + 1];
    for document in documents {
        is_within[document.text.first_line()..=document.text.last_line()].fill(true);
    }
    let first_line = documents.first().map_or(0, |document| document.text.first_line());

    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()).filter(|(number, _)| !is_within[*number]) {
        if number < first_line { before.push(line) } else { after.push(line) }
    }
    let before = text::describe_left_out(before.into_iter(), "before the JSON");
    let after = text::describe_left_out(after.into_iter(), "after the JSON");
    before.into_iter().chain(after).collect()
}

/// A text with points where its numbers have decimal commas, which is noted.
fn with_decimal_points<'t>(text: &'t str, notes: &mut Vec<String>) -> Cow<'t, str> {
    // Benchmark programs print points whatever the locale, and libtest groups digits by commas.
    if harness::recognises(&Text::new(text)) {
        return Cow::Borrowed(text);
    }
    let Some((points, comma)) = plain::with_points(text) else {
        return Cow::Borrowed(text);
    };
    notes.push(format!("its numbers have decimal commas, as '{comma}': they are read so"));
    Cow::Owned(points)
}

/// Leaves out a last line that has no newline and may be cut, where its format can do without it.
///
/// # Errors
/// The line may be cut, and the text cannot be read without it.
fn settle_end<'t>(reader: &Reader, text: Text<'t>, notes: &mut Vec<String>) -> Result<Text<'t>> {
    let (is_whole, is_needed) = match reader.end {
        End::Marked => return Ok(text),
        End::LeftOut(is_whole) => (is_whole, false),
        End::Refused(is_whole) => (is_whole, true),
    };
    let (before, last) = text.raw.rsplit_once('\n').unwrap_or(("", text.raw));
    if last.trim().is_empty() || end::is_no_figure(last) || is_whole(&text, last) {
        return Ok(text);
    }

    let shorter = Text::new(&text.raw[..text.raw.len() - last.len()]);
    let line = text.last_line();
    let last = excerpt(last);
    if is_needed || before.trim().is_empty() || !(reader.recognises)(&shorter) {
        bail!(
            "it ends at line {line} without a newline, perhaps within a figure: '{last}'; import the whole file, or add the \
             newline if it is whole"
        );
    }
    notes.push(format!(
        "line {line} is left out, since it has no newline and its figures may be cut: '{last}'"
    ));
    Ok(shorter)
}

/// A sentence that names the other kinds that a text looks like, which its reader passes over.
fn describe_other_kinds(reader: &Reader, text: &Text<'_>) -> Option<String> {
    // A page is a copy of a report.
    if text.raw.trim_start().starts_with('<') {
        return None;
    }
    let names: Vec<&str> = TEXTS
        .iter()
        .filter(|other| other.name != reader.name && (other.recognises)(text))
        .map(|other| other.name)
        .collect();
    if names.is_empty() {
        return None;
    }
    let also = words::listed(&names, names.len());
    Some(format!("it also has {also}, which is left out; import that from a file of its own"))
}

/// Divides a text into its runs.
fn divide_runs<'t>(reader: &'static Reader, text: &Text<'t>) -> Vec<Part<'t>> {
    let mut starts = Starts::default();
    (reader.note_starts)(text, &mut starts);
    let starts = starts.into_lines();

    let mut texts = text.split(&starts);
    // What stands before the first head is of no run, unless it is one that has lost its own.
    let has_prelude = starts.first().is_some_and(|first| *first > text.first_line());
    if has_prelude && !(reader.recognises)(&texts[0]) {
        texts.remove(0);
    }
    texts.into_iter().map(|text| Part { reader, text }).collect()
}

/// The journals of all parts. The notes, and what was wrong in runs without a result, become
/// warnings of the first journal.
///
/// # Errors
/// There are more than [`MAX_RUNS`] parts, a part cannot be read, or none has a result.
fn read_parts(
    parts: &[Part<'_>],
    draft: &Draft<'_>,
    mut notes: Vec<String>,
) -> Result<Vec<Journal>> {
    ensure!(parts.len() <= MAX_RUNS, "it has more than {MAX_RUNS} runs; import a part of it");

    let mut journals = Vec::new();
    for part in parts {
        let runs = (part.reader.read)(&part.text, draft.clone())?;
        let (runs, empty_runs): (Vec<Journal>, Vec<Journal>) =
            runs.into_iter().partition(has_result);
        // If it is the only part, the error below says so.
        if runs.is_empty() && parts.len() > 1 {
            let line = part.text.first_line();
            notes.push(format!("what begins at line {line} has no result: it is left out"));
        }
        let warnings = empty_runs.into_iter().flat_map(|run| run.warnings);
        notes.extend(warnings.map(|warning| warning.text));
        journals.extend(runs);
    }

    let Some(first) = journals.first_mut() else {
        let kind = parts.first().map_or("", |part| part.reader.name);
        let why = notes.first().map_or("it may be truncated", String::as_str);
        bail!(
            "it looks like {kind}, but has no result: {why}; import the whole output of a run that \
             succeeded"
        );
    };
    for text in notes {
        let note = Warning { cell: None, text };
        if !first.warnings.contains(&note) {
            first.warnings.push(note);
        }
    }
    journals.iter().try_for_each(Journal::check)?;
    Ok(journals)
}

fn has_result(journal: &Journal) -> bool {
    journal.trials.iter().any(|trial| !trial.copies.is_empty() || trial.score.is_some())
}

/// True if the first line is that of a journal, in any serialisation.
fn is_run(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
    first.is_some_and(|record| record["type"] == "run")
}

/// Why no reader reads a text, and what to import in its place. JSON that begins the text, or has
/// no other name, is called damaged; without that a format that is known is named.
fn refuse(text: &str, damage: Option<String>) -> Error {
    const LIST: &str = "`unixmark import --help` lists what can be imported";

    let format = strangers::describe(text);
    let is_document = text.trim_start().starts_with('{');
    if let Some(damage) = damage.filter(|_| is_document || format.is_none()) {
        let why = format!("it is JSON that is damaged or truncated: {damage}");
        return Error::new(Unrecognised(format!("{why}; import the whole file")));
    }
    if text.trim().is_empty() {
        return Error::new(Unrecognised(format!("it is empty; {LIST}")));
    }
    if let Some(reason) = format.or_else(|| harness::describe_empty_text(text)) {
        return anyhow!(reason);
    }
    Error::new(Unrecognised(format!(
        "it is in no format that is known here; {LIST}, and figures of anything else can be given \
         as {{\"name\": number}}"
    )))
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
            assert_eq!(
                refused(empty),
                "it is empty; `unixmark import --help` lists what can be imported"
            );
        }
        for run in [
            "{\"type\":\"run\",\"format\":\"unixmark-run/1\"}",
            "{\"format\": \"unixmark-run/1\", \"type\": \"run\"}\n{}",
        ] {
            assert!(refused(run).starts_with("it is already a run"));
        }
        for stranger in ["\u{0}\u{1}\u{fffd}ELF", "{\"a\": \"b\"}", "[]", "[INFO] start\n"] {
            assert_eq!(
                refused(stranger),
                "it is in no format that is known here; `unixmark import --help` lists what can be \
                 imported, and figures of anything else can be given as {\"name\": number}",
                "{stranger}"
            );
        }
        assert!(
            refused("<html><h1>Hello</h1></html>")
                .starts_with("it is an HTML page, but no report of UnixBench")
        );
        assert!(
            refused("   BYTE UNIX Benchmarks (Version 6.0.0)\n").contains(", but has no result: ")
        );
        assert!(refused("#### Pass 1\n").contains(", but has no result: "));
        assert!(refused("{\"a\": 1,\n \"b\"").contains("at line 2 column 4"));
    }

    #[test]
    fn no_control_character_is_passed_on() {
        let text = "Line \u{1b}[31mred 5.0 lps (10.0 s, 7 samples)\nPipe Throughput 5.0 lps (10.0 s, 7 samples)\n";
        let journal = import("a\u{7}b", text, &Catalogue::load().unwrap()).unwrap().remove(0);
        assert_eq!(journal.cells[0].label, "Line red");
        let shown = format!("{:?}", journal);
        assert!(!shown.contains("\\u{1b}") && !shown.contains("\\u{7}"), "{shown}");
    }
}
