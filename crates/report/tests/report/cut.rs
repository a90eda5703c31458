//! A run that was cut short makes every report.

use analysis::Results;
use catalogue::Catalogue;
use report::{Format, Subject, render};

#[test]
fn every_number_of_lines_makes_a_report() {
    let whole = std::fs::read_to_string(testing::file("tests/runs/index/run.jsonl")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::load().unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for count in 1..=lines.len() {
        std::fs::write(folder.path().join("run.jsonl"), lines[..count].concat()).unwrap();
        let journal = journal::read(folder.path()).unwrap();
        let results = Results::new(&journal, &catalogue, None);
        for (format, _) in Format::FILES {
            let report = render(Subject::Run(&results), format).unwrap();
            assert!(!report.contains("NaN"), "{count} lines, {format:?}");
            let flat = testing::flat(&report);
            let warned = flat.contains("the run was cut short") || format == Format::Csv;
            assert_eq!(
                count < lines.len() || format == Format::Csv,
                warned,
                "{count} lines, {format:?}"
            );
        }
    }
}
