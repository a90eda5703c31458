//! The findings about this machine: problems for runs, and what else is worth knowing of it.

use journal::{Finding, Severity};

use crate::document::{Block, Column, Columns, Document, Field, Readers};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-doctor/1";

/// How findings are headed, worst first.
const HEADINGS: [(Severity, &str); 3] = [
    (Severity::Spoils, "Will spoil a run"),
    (Severity::Disturbs, "Will disturb a run"),
    (Severity::Note, "Worth knowing"),
];

/// The findings, worst first, each with how to fix it.
pub fn doctor(findings: &[Finding]) -> Document {
    let mut document = Document::new(FORMAT, "unixmark doctor", "This machine", &["findings"]);
    if findings.is_empty() {
        document.blocks.push(Block::Lead(vec!["Nothing here will spoil a run.".to_owned()]));
    }

    // At a terminal, sentences need the whole width, and have paragraphs in place of a table.
    let table_readers = Readers { terminal: false, ..Readers::ALL };
    for (severity, heading) in HEADINGS {
        let found: Vec<&Finding> =
            findings.iter().filter(|finding| finding.severity == severity).collect();
        if found.is_empty() {
            continue;
        }

        document.blocks.push(Block::section(heading));
        document.extend(found.iter().copied().flat_map(paragraphs));
        document.table(columns().table(found).keyed("findings").shown(table_readers));
    }

    // Without findings, programs still get an array.
    document.table(columns().empty_table().keyed("findings").shown(Readers::PROGRAM));
    document
}

/// What was found, and below it the fix, for a terminal.
fn paragraphs(finding: &Finding) -> [Block; 2] {
    let name = format!("  {}: ", finding.name);
    [
        Block::Text(Readers::TERMINAL, name, finding.what.clone()),
        Block::Text(Readers::TERMINAL, "      ".to_owned(), finding.fix.clone()),
    ]
}

fn columns() -> Columns<'static, Finding> {
    Columns::new()
        .with(Column::words("Check").keyed("name"), |finding: &Finding| Field::text(&finding.name))
        .with(Column::data("severity"), |finding| Field::data(&finding.severity))
        .with(Column::words("Found").keyed("what").main(), |finding| Field::text(&finding.what))
        .with(Column::words("Fix").keyed("fix"), |finding| Field::text(&finding.fix))
}
