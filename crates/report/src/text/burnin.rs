//! A burn-in in the text report.

use super::{WIDTH, line, wrapped};
use crate::burnin::{Table, figures, retest, tables, time, title, untold};
use analysis::BurnIn;
use journal::Fault;

/// Faults that are shown; the JSON report has all.
const FAULTS: usize = 20;

/// Appends the block.
pub(super) fn block(text: &mut String, burnin: &BurnIn) {
    line(text, "");
    line(text, &"-".repeat(WIDTH));
    wrapped(text, "", &title(burnin));
    line(text, "");
    wrapped(text, "", &burnin.verdict);
    line(text, "");
    for figure in figures(burnin) {
        line(text, &format!("{:<34}{:>12}  {}", figure.name, figure.value, figure.plus_minus));
    }
    // Of faults, a line each is too wide.
    for table in tables(burnin, 0) {
        self::table(text, &table);
    }
    if !burnin.faults.is_empty() {
        line(text, "");
        line(text, "Faults");
        burnin.faults.iter().take(FAULTS).for_each(|fault| self::fault(text, fault));
        let more = untold(burnin, FAULTS);
        if !more.is_empty() {
            line(text, &format!("  {more}"));
        }
    }
}

/// A table with a column of words and others of numbers.
fn table(text: &mut String, table: &Table) {
    line(text, "");
    let remark = if table.remark.is_empty() { String::new() } else { format!(": {}", table.remark) };
    line(text, &format!("{}{remark}", table.name));
    let columns = table.head.len();
    let width = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([table.head[column].chars().count()]).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(width).collect();
    // The words give way where a line would be too wide.
    let whole: usize = widths.iter().sum::<usize>() + 2 * columns;
    widths[0] -= whole.saturating_sub(WIDTH).min(widths[0].saturating_sub(8));
    let show = |cells: &mut dyn Iterator<Item = &str>| {
        let mut shown = String::from(" ");
        for (column, cell) in cells.enumerate() {
            let width = widths[column];
            if column == 0 {
                let cut: String = cell.chars().take(width).collect();
                shown += &format!(" {cut:<width$}");
            } else {
                shown += &format!("  {cell:>width$}");
            }
        }
        shown
    };
    line(text, &show(&mut table.head.iter().copied()));
    for row in &table.rows {
        line(text, &show(&mut row.iter().map(String::as_str)));
    }
}

fn fault(text: &mut String, fault: &Fault) {
    let physical = fault.physical.map(|physical| format!(", physical {physical}")).unwrap_or_default();
    let hot = fault.temperature.as_ref().map(|(_, celsius)| format!(", {celsius:.0} °C")).unwrap_or_default();
    line(
        text,
        &format!("  {} {} after {}{hot}: {}{physical}", fault.pass, fault.pattern, time(fault.at), fault.address),
    );
    line(text, &format!("    expected {} read {} xor {}", fault.expected, fault.read, fault.difference()));
    wrapped(text, "    read again ", &format!("{}, {}", fault.retest, retest(fault)));
}
