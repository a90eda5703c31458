//! A plan in words, for `--dry-run`.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Cell, Kind, Plan};
use catalogue::Copies;
use words::clock;

/// Returns the plan as text: cells, windows, the order of the first block, the expected duration.
#[must_use]
pub fn show(plan: &Plan) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} procedure, seed {}",
        journal::Procedure::from(plan.procedure().kind).name(),
        plan.request.seed
    );
    let _ = writeln!(
        text,
        "\n{:>4}  {:<18} {:>6}  {:<8} {:<10} trials  window",
        "cell", "test", "copies", "load", "condition"
    );
    for (number, cell) in plan.cells.iter().enumerate() {
        let trials = match cell.most {
            most if most == cell.least => most.to_string(),
            most if most > 1000 => format!("{}+", cell.least),
            most => format!("{}-{most}", cell.least),
        };
        let line = format!(
            "{number:>4}  {:<18} {:>6}  {:<8} {:<10} {trials:>6}  {} x {} ms  {}",
            cell.test.id,
            cell.copies,
            cell.load_name(),
            cell.condition.name,
            cell.window.slices,
            cell.window.slice.as_millis(),
            words(cell),
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let one = plan.cells.iter().filter(|cell| cell.test.copies == Copies::One);
    let one: BTreeSet<&str> = one.map(|cell| cell.test.id.as_str()).collect();
    if !one.is_empty() {
        let _ = writeln!(text, "\nnever more than one copy: {}", Vec::from_iter(one).join(", "));
    }
    if plan.procedure().kind != Kind::Classic
        && let Some(first) = plan.rounds().next()
    {
        let order: Vec<String> = first.cells.iter().map(usize::to_string).collect();
        let _ = writeln!(text, "\nfirst block: {}", order.join(" "));
    }
    let (least, most) = plan.duration();
    if clock(least) == clock(most) {
        let _ = writeln!(text, "\nexpected duration: {}", clock(most));
    } else {
        let _ = writeln!(text, "\nexpected duration: {} to {}", clock(least), clock(most));
    }
    text
}

/// The arguments of the program, and of its load.
fn words(cell: &Cell) -> String {
    let mut words = cell.args.clone();
    words.extend(cell.pinned(0, cell.copies));
    if !cell.load_args.is_empty() {
        words.push("beside".to_owned());
        words.extend(cell.load_args.iter().cloned());
    }
    words.join(" ")
}
