//! rt-app's logs, one a thread: what each activation ran and how late it woke.

use super::{Draft, Heading, Journal, Result, Text};
use stats::{mean, quantile};

/// The columns that are kept, in us.
const COLUMNS: [&str; 3] = ["run", "period", "wu_lat"];

/// The column of the time left before the next activation; below 0 a deadline was missed.
const SLACK: &str = "slack";

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    let names: Vec<&str> = names(line).collect();
    names.first() == Some(&"idx") && names.contains(&"perf") && names.contains(&SLACK)
}

fn names(line: &str) -> impl Iterator<Item = &str> {
    line.trim_start_matches('#').split_whitespace()
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "rt-app".clone_into(&mut draft.run.tool);
    let Some((_, head)) = source.lines().find(|(_, line)| is_head(line)) else {
        return Err(source.cut("its columns"));
    };
    let names: Vec<&str> = names(head).collect();
    if let Some((number, _)) =
        source.lines().find(|(_, line)| is_head(line) && self::names(line).ne(names.iter().copied()))
    {
        return Err(source.damaged(number, head, "columns like those of the first head"));
    }
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (number, line) in source.lines().filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Option<Vec<f64>> = line.split_whitespace().map(|field| field.parse().ok()).collect();
        let fields =
            fields.filter(|fields| fields.len() == names.len() && fields.iter().all(|field| field.is_finite()));
        rows.push(fields.ok_or_else(|| source.damaged(number, line, "number for each column"))?);
    }
    let column = |name: &str| -> Vec<f64> {
        let place = names.iter().position(|one| *one == name);
        place.map_or_else(Vec::new, |place| rows.iter().map(|row| row[place]).collect())
    };
    for name in COLUMNS {
        let mut values = column(name);
        values.sort_by(f64::total_cmp);
        let middle = (!values.is_empty()).then(|| mean(values.iter().copied()));
        draft.figure(&Heading::time(format!("{name} mean"), "us"), middle);
        // A p99 of fewer frames would be their largest.
        let tail = (values.len() >= 1000).then(|| quantile(&values, 0.99));
        draft.figure(&Heading::time(format!("{name} p99"), "us"), tail);
    }
    let slack = column(SLACK);
    let missed = slack.iter().filter(|slack| **slack < 0.0).count();
    draft.fact("imported.missed", "Deadlines missed", "Imported", &format!("{missed} of {}", slack.len()));
    Ok(vec![draft.finish()])
}
