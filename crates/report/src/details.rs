//! What tests told beside their scores, as plain tables that every form of report can print.

use super::{figure, plus_minus};
use analysis::{Details, Limit, Results, Row, named};
use catalogue::Metric;
use stats::Estimate;

/// A table with a row per cell.
pub(super) struct Sheet {
    pub(super) title: &'static str,
    /// What its columns are.
    pub(super) caption: &'static str,
    /// The columns after name and copies.
    pub(super) head: &'static [&'static str],
    pub(super) lines: Vec<Line>,
}

/// One cell's line.
pub(super) struct Line {
    pub(super) label: String,
    pub(super) copies: u32,
    pub(super) fields: Vec<String>,
    /// A remark, if there is one.
    pub(super) note: Option<String>,
}

/// Returns the tables that have any line.
pub(super) fn sheets(results: &Results) -> Vec<Sheet> {
    let sheets = [
        Sheet {
            title: "Single operations",
            caption: "How long one operation took: the shortest, and the times that 10, 50 and 99 % do not exceed. \
                      ± is that of the median over trials.",
            head: &["least", "p10", "p50", "±", "p99"],
            lines: lines(results, times),
        },
        Sheet {
            title: "Undisturbed",
            caption: "What one copy does in the shortest of many short pieces of its work, with the clock that the core had \
                      meanwhile by a chain of additions, and the cycles of that for one operation, byte or FLOP.",
            head: &["at best", "unit", "±", "GHz", "cycles"],
            lines: lines(results, best),
        },
        Sheet {
            title: "Limits",
            caption: "How near the undisturbed figure comes to what bounds it; notes say whence the limit is.",
            head: &["reached", "limit", "unit", "share"],
            lines: lines(results, limits),
        },
        Sheet {
            title: "Also measured",
            caption: "What programs told besides and was not the same in all trials, on average over copies; the median \
                      over trials.",
            head: &["value", "unit", "±"],
            lines: lines(results, values),
        },
    ];
    sheets.into_iter().filter(|sheet| !sheet.lines.is_empty()).collect()
}

/// What one row gives to a sheet: an addition to its label, the fields and a note.
type Parts = Vec<(String, Vec<String>, Option<String>)>;

fn lines(results: &Results, parts: fn(&Row, &Details) -> Parts) -> Vec<Line> {
    let of = |row: &Row| -> Vec<Line> {
        let parts = row.details.as_deref().map(|details| parts(row, details)).unwrap_or_default();
        let line = |(more, fields, note)| Line {
            label: format!("{}{more}", label(row)),
            copies: row.cell.key.copies,
            fields,
            note,
        };
        parts.into_iter().map(line).collect()
    };
    results.rows.iter().flat_map(of).collect()
}

fn label(row: &Row) -> String {
    named(&row.cell.label, &row.cell.key.load, &row.cell.key.condition)
}

fn times(_: &Row, details: &Details) -> Parts {
    let Some(times) = &details.times else { return Vec::new() };
    let of = |name: &str| times.quantiles.iter().find(|known| known.0 == name).map(|known| known.1);
    let shown = |found: Option<Estimate>| found.map_or("-".to_owned(), |found| time(found.value));
    let half = of("p50").map_or("-".to_owned(), |p50| plus_minus(&p50));
    vec![(
        String::new(),
        vec![time(times.least.value), shown(of("p10")), shown(of("p50")), half, shown(of("p99"))],
        None,
    )]
}

fn best(row: &Row, details: &Details) -> Parts {
    let Some(best) = &details.best else { return Vec::new() };
    let cell = &row.cell;
    let at_best = match cell.metric {
        Metric::Time => best.ns.value * cell.scale / 1e9,
        Metric::Rate | Metric::Latency => cell.scale * cell.timebase * 1e9 / best.ns.value,
    };
    let (clock, cycles) = (fine(best.clock.value), fine(best.cycles.value));
    vec![(String::new(), vec![fine(at_best), cell.unit.clone(), plus_minus(&best.ns), clock, cycles], None)]
}

fn limits(_: &Row, details: &Details) -> Parts {
    let Some(Limit { reached, limit, unit, source, share }) = &details.limit else { return Vec::new() };
    let fields = vec![figure(*reached), figure(*limit), unit.clone(), format!("{:.1}%", share * 100.0)];
    vec![(String::new(), fields, Some(format!("limit: {source}")))]
}

fn values(_: &Row, details: &Details) -> Parts {
    let part = |value: &analysis::Value| {
        let fields = vec![figure(value.value.value), value.unit.clone(), plus_minus(&value.value)];
        (format!(": {}", value.name), fields, None)
    };
    // Programs' sizes and widths are in the JSON report.
    details.values.iter().filter(|value| value.varies).map(part).collect()
}

/// Returns a number with three figures, however small it is.
fn fine(value: f64) -> String {
    if value > 0.0 && value < 0.0995 {
        let decimals = (2.0 - value.log10().floor()).min(12.0);
        // At most 12 decimals.
        format!("{value:.*}", decimals as usize)
    } else {
        figure(value)
    }
}

/// Returns a time in the unit that suits it: `23.2 µs`.
pub(super) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 999.5 => format!("{} ns", figure(ns)),
        ns if ns < 999.5e3 => format!("{} µs", figure(ns / 1e3)),
        ns if ns < 999.5e6 => format!("{} ms", figure(ns / 1e6)),
        ns => format!("{} s", figure(ns / 1e9)),
    }
}
