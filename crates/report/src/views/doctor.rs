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

/// Returns the findings, worst first, each with how to fix it.
pub fn doctor(findings: &[Finding]) -> Document {
    let mut document = Document::new(FORMAT, "unixmark doctor", "This machine", &["findings"]);
    if findings.is_empty() {
        document.blocks.push(Block::Lead(vec!["Nothing here will spoil a run.".to_owned()]));
    }
    let columns = Columns::new()
        .with(Column::words("Check").keyed("name"), |finding: &Finding| Field::text(&finding.name))
        .with(Column::data("severity"), |finding| Field::data(&finding.severity))
        .with(Column::words("Found").keyed("what").main(), |finding| Field::text(&finding.what))
        .with(Column::words("Fix").keyed("fix"), |finding| Field::text(&finding.fix));
    for (severity, heading) in HEADINGS {
        let found: Vec<&Finding> = findings.iter().filter(|finding| finding.severity == severity).collect();
        if found.is_empty() {
            continue;
        }
        document.blocks.push(Block::Section(heading.to_owned()));
        for finding in &found {
            // Sentences need the width of a terminal.
            document.blocks.push(Block::Text(Readers::TERMINAL, format!("  {}: ", finding.name), finding.what.clone()));
            document.blocks.push(Block::Text(Readers::TERMINAL, "      ".to_owned(), finding.fix.clone()));
        }
        document.table(columns.table(found).keyed("findings").shown(Readers { terminal: false, ..Readers::ALL }));
    }
    document.table(columns.empty_table().keyed("findings").shown(Readers::PROGRAM));
    document
}
