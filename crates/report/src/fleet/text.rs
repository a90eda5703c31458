//! The text form, in 80 columns: what is slow first.

use super::super::compare::text::{WIDTH, line, wrapped};
use super::super::compare::{interval, value};
use super::{by_how_much, counted, deviation, percent, plain, probability, title, verdict};
use ::fleet::{Fleet, State};
use analysis::fleet::{Against, Column, FleetReport, Named, Outlier};
use analysis::{RATE, Verdict};

/// Lines of a list before the rest is only counted.
const MOST: usize = 20;

/// Tests told of one node.
const TESTS: usize = 6;

/// Nodes that the ranking shows of a large fleet: the best and the worst.
const BEST: usize = 5;
const WORST: usize = 10;

/// Columns of a node's name and of a test's.
const NODE: usize = 24;
const TEST: usize = 20;

/// Returns the report.
pub(super) fn render(fleet: &Fleet, report: &FleetReport) -> String {
    let mut text = String::new();
    line(&mut text, &format!("Fleet run {}", plain(&report.run)));
    line(&mut text, "");
    wrapped(&mut text, "", &headline(report));
    for warning in &report.warnings {
        wrapped(&mut text, "Warning: ", &format!("{warning}."));
    }
    states(&mut text, fleet);
    named(&mut text, report);
    traits(&mut text, report);
    if let Some(against) = &report.against {
        changes(&mut text, report, against);
    }
    groups(&mut text, report);
    tests(&mut text, report);
    ranking(&mut text, report);
    differing(&mut text, report);
    reading(&mut text, report);
    text
}

/// The answer in a sentence or three.
pub(crate) fn headline(report: &FleetReport) -> String {
    let count = report.nodes.len();
    let slow = report.slow();
    let fast = report.named(Named::Fast).into_iter().filter(|(node, _)| slow.iter().all(|(other, _)| other != node));
    let fast: Vec<(usize, Vec<&Outlier>)> = fast.collect();
    let mut text = match slow.len() {
        _ if report.columns.is_empty() => format!("{} delivered, and nothing was measured", counted(count, "node")),
        _ if report.groups.iter().all(|group| !group.judged) => {
            format!("{} delivered: too few alike to call one slow", counted(count, "node"))
        }
        0 => format!("None of {} is slow", counted(count, "node")),
        1 => format!("1 of {} is slow: {}", counted(count, "node"), slow_nodes(report, &slow)),
        many => format!("{many} of {} are slow: {}", counted(count, "node"), slow_nodes(report, &slow)),
    };
    text += &in_common(report);
    text += ".";
    if !fast.is_empty() {
        let names: Vec<String> = fast.iter().take(3).map(|(node, _)| plain(&report.nodes[*node].name)).collect();
        let more = if fast.len() > names.len() { ", …" } else { "" };
        text += &format!(" Faster than the others: {}{more}.", names.join(", "));
    }
    text
}

/// What several slow nodes share beyond chance; of one, what no other has.
fn in_common(report: &FleetReport) -> String {
    let Some(one) = report.traits.first() else { return String::new() };
    let fact = format!("{} {}", one.name, plain(&one.value));
    match one.slow {
        1 if one.others_with == 0 => format!(", which alone has {fact}"),
        1 => String::new(),
        _ if one.q > RATE => String::new(),
        _ => format!(
            ", with {fact} in common ({} of {}, {} of {} others)",
            one.slow_with, one.slow, one.others_with, one.others
        ),
    }
}

/// The gravest slow nodes, each with how slow it is and where.
fn slow_nodes(report: &FleetReport, slow: &[(usize, Vec<&Outlier>)]) -> String {
    let one = |(node, found): &(usize, Vec<&Outlier>)| {
        let told: Vec<String> = found.iter().take(2).map(|one| told(report, one)).collect();
        let more = if found.len() > 2 { ", …" } else { "" };
        format!("{} ({}{more})", plain(&report.nodes[*node].name), told.join(", "))
    };
    let mut all: Vec<String> = slow.iter().take(3).map(one).collect();
    if slow.len() > all.len() {
        all.push(format!("and {} more", slow.len() - all.len()));
    }
    all.join(", ")
}

fn told(report: &FleetReport, one: &Outlier) -> String {
    let what = one.column.map_or("over all".to_owned(), |column| format!("at {}", title(&report.columns[column])));
    format!("{} {what}", by_how_much(&one.deviation))
}

/// Parts of the fleet run that are not whole, or of which more is to be said.
fn states(text: &mut String, fleet: &Fleet) {
    let told: Vec<_> =
        fleet.entries.iter().filter(|entry| entry.state != State::Whole || !entry.notes.is_empty()).collect();
    if told.is_empty() {
        return;
    }
    line(text, "");
    let whole = fleet.entries.iter().filter(|entry| entry.state == State::Whole).count();
    line(text, &format!("Delivered: {whole} of {} whole", fleet.entries.len()));
    for entry in told.iter().take(MOST) {
        let why: Vec<&str> = entry.reason.iter().chain(&entry.notes).map(String::as_str).collect();
        wrapped(text, &format!("  {} {}: ", plain(&entry.node), entry.state.name()), &why.join("; "));
    }
    rest(text, told.len(), "`unixmark fleet status` tells all");
}

/// Says how many of a list are not shown.
fn rest(text: &mut String, count: usize, where_else: &str) {
    if count > MOST {
        line(text, &format!("  … and {} more: {where_else}", count - MOST));
    }
}

/// A heading with a rule below.
fn heading(text: &mut String, words: &str) {
    line(text, "");
    line(text, words);
    line(text, &"-".repeat(WIDTH));
}

/// `words` in `width` columns, cut where they are longer.
fn fitted(words: &str, width: usize) -> String {
    let count = words.chars().count();
    if count <= width {
        return format!("{words:<width$}");
    }
    words.chars().take(width - 1).chain(['…']).collect()
}

/// The nodes that are unlike the others, each with what it is so at.
fn named(text: &mut String, report: &FleetReport) {
    if report.outliers.is_empty() {
        return;
    }
    heading(text, &format!("{:<NODE$} {:<TEST$} {:>10} {:>7} {:>14}", "node", "test", "figure", "dev.", "95 %"));
    let lists = [report.named(Named::Slow), report.named(Named::Fast)].concat();
    for (node, found) in lists.iter().take(MOST) {
        let node = &report.nodes[*node];
        for (place, one) in found.iter().take(TESTS).enumerate() {
            let (name, figure) = match one.column {
                None => (format!("all {} together", node.values.iter().flatten().count()), String::new()),
                Some(column) => {
                    let figure = node.values[column].map_or(f64::NAN, |value| value.value.value);
                    (title(&report.columns[column]), value(figure))
                }
            };
            line(
                text,
                &format!(
                    "{:<NODE$} {} {figure:>10} {:>7} {:>14}",
                    if place == 0 { plain(&node.name) } else { String::new() },
                    fitted(&name, TEST),
                    percent(one.deviation.value),
                    interval(&one.deviation)
                ),
            );
        }
        if found.len() > TESTS {
            line(text, &format!("{:<NODE$} … and {} more", "", found.len() - TESTS));
        }
    }
    rest(text, lists.len(), "`--format json` has all");
}

fn traits(text: &mut String, report: &FleetReport) {
    if report.traits.is_empty() {
        return;
    }
    heading(text, &format!("{:<52} {:>8} {:>9} {:>7}", "slow nodes have in common", "slow", "others", "q"));
    for one in report.traits.iter().take(TESTS) {
        let counts = (format!("{}/{}", one.slow_with, one.slow), format!("{}/{}", one.others_with, one.others));
        let name = fitted(&format!("{} {}", one.name, one.value), 52);
        line(text, &format!("{name} {:>8} {:>9} {:>7}", counts.0, counts.1, probability(one.q)));
    }
    if report.traits.len() > TESTS {
        line(text, &format!("  … and {} more: `--format json` has all", report.traits.len() - TESTS));
    }
}

fn changes(text: &mut String, report: &FleetReport, against: &Against) {
    heading(
        text,
        &format!(
            "{:<29} {:>6} {:>7} {:>15} {}",
            format!("against {}", fitted(&plain(&against.run), 20)),
            "nodes",
            "change",
            "95 %",
            "verdict"
        ),
    );
    for change in &against.changes {
        let name = change.column.map_or("all together".to_owned(), |column| title(&report.columns[column]));
        line(
            text,
            &format!(
                "{} {:>6} {:>7} {:>15} {}",
                fitted(&name, 29),
                change.nodes,
                percent(change.delta.value),
                interval(&change.delta),
                verdict(change)
            ),
        );
    }
    for one in against.unlike.iter().take(MOST) {
        let name = plain(&report.nodes[one.node].name);
        wrapped(text, "", &format!("{name} changed unlike the others: {}.", told(report, one)));
    }
    rest(text, against.unlike.len(), "`--format json` has all");
    for (names, words) in [(&against.only_before, "Only before"), (&against.only_after, "Only now")] {
        if !names.is_empty() {
            let few: Vec<String> = names.iter().take(TESTS).map(|name| plain(name)).collect();
            let more =
                if names.len() > few.len() { format!(" and {} more", names.len() - few.len()) } else { String::new() };
            wrapped(text, &format!("{words}: "), &format!("{}{more}", few.join(", ")));
        }
    }
    for fact in against.facts.iter().take(TESTS) {
        wrapped(
            text,
            &format!("Changed on {}: ", counted(fact.nodes, "node")),
            &format!("{} from {} to {}", fact.name, fact.before, fact.after),
        );
    }
    if against.facts.len() > TESTS {
        line(text, &format!("  … and {} more facts: `--format json` has all", against.facts.len() - TESTS));
    }
    if against.changes.iter().any(|change| matches!(change.verdict, Verdict::Undecided(_))) {
        let words = "neither is shown; a change of y would have been seen in four of five such comparisons.";
        wrapped(text, "undecided (y): ", words);
    }
}

fn groups(text: &mut String, report: &FleetReport) {
    if report.groups.len() < 2 {
        return;
    }
    heading(text, &format!("{:<60} {:>8} {:>10}", format!("groups by {}", report.by), "nodes", "typical"));
    for group in report.groups.iter().take(MOST) {
        let typical = group.overall.map_or("-".to_owned(), |ratio| percent(100.0 * (ratio - 1.0)));
        line(text, &format!("{} {:>8} {typical:>10}", fitted(&group.name, 60), group.nodes));
    }
    rest(text, report.groups.len(), "`--format json` has all");
}

fn tests(text: &mut String, report: &FleetReport) {
    heading(
        text,
        &format!("{:<26} {:>9} {:>7} {:>7} {:>7} {}", "test", "typical", "within", "between", "groups", "slowest"),
    );
    for (place, column) in report.columns.iter().enumerate() {
        let slowest = slowest(report, place);
        let slowest = slowest.map_or(String::new(), |(name, by)| fitted(&format!("{} {name}", percent(by)), 19));
        line(
            text,
            &format!(
                "{} {:>9} {:>7} {:>7} {:>7} {}",
                fitted(&unit(column), 26),
                value(column.typical.value),
                deviation(column.spread.within),
                deviation(column.spread.between),
                column.spread.groups.map_or("-".to_owned(), deviation),
                slowest
            ),
        );
    }
}

fn unit(column: &Column) -> String {
    format!("{}, {}", title(column), column.unit)
}

/// The node that is furthest below its group's typical one.
fn slowest(report: &FleetReport, column: usize) -> Option<(String, f64)> {
    let deviations = report.nodes.iter().filter_map(|node| Some((node, node.values[column]?.deviation.value)));
    let (node, by) = deviations.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((plain(&node.name), by))
}

fn ranking(text: &mut String, report: &FleetReport) {
    let several = report.groups.len() > 1;
    let count = report.nodes.len();
    heading(
        text,
        &format!(
            "{:>9}  {:<NODE$} {:>8} {:>15}  {}",
            "place",
            "node",
            "over all",
            "95 %",
            if several { "group" } else { "" }
        ),
    );
    let shown = |place: usize| count <= MOST || place < BEST || place + WORST >= count;
    for (place, node) in report.nodes.iter().enumerate() {
        if !shown(place) {
            if place == BEST {
                line(text, &format!("{:>9}  {} between", "…", counted(count - BEST - WORST, "node")));
            }
            continue;
        }
        let ranks = match node.rank {
            (0, _) => "-".to_owned(),
            (low, high) if low == high => low.to_string(),
            (low, high) => format!("{low}–{high}"),
        };
        let over = |ratio: f64| 100.0 * (ratio - 1.0);
        let mut estimate = node.overall;
        (estimate.value, estimate.low, estimate.high) = (over(estimate.value), over(estimate.low), over(estimate.high));
        let mark = node.named.map_or("", Named::name);
        let mark = if node.whole { mark.to_owned() } else { format!("{mark} (not whole)").trim().to_owned() };
        let group = if several { fitted(&report.groups[node.group].name, 18) } else { String::new() };
        line(
            text,
            &format!(
                "{ranks:>9}  {:<NODE$} {:>8} {:>15}  {}",
                plain(&node.name),
                percent(estimate.value),
                interval(&estimate),
                [mark, group].join(" ").trim()
            ),
        );
    }
}

/// Facts that are not the same on all nodes, without those of which nearly each node has its own.
fn differing(text: &mut String, report: &FleetReport) {
    let few = |distinct: usize| 2 * distinct <= report.nodes.len() + 1;
    let told: Vec<_> = report.differing.iter().filter(|fact| few(fact.distinct)).collect();
    if told.is_empty() {
        return;
    }
    line(text, "");
    line(text, "The nodes differ in");
    for fact in told.iter().take(MOST) {
        let mut values: Vec<String> = fact
            .values
            .iter()
            .take(4)
            .map(|(value, count)| format!("{} ({count})", fitted(value, 40).trim_end()))
            .collect();
        if fact.distinct > values.len() {
            values.push(format!("{} more", fact.distinct - values.len()));
        }
        if fact.unknown > 0 {
            values.push(format!("unknown ({})", fact.unknown));
        }
        wrapped(text, &format!("  {}: ", fact.name), &values.join(", "));
    }
    rest(text, told.len(), "`--format json` has all");
}

fn reading(text: &mut String, report: &FleetReport) {
    line(text, "");
    let least = report.threshold;
    let named = format!(
        "a node is named where it is more than {least} % from its group's median beyond what chance makes of nodes that differ as these \
         do: a false discovery rate of {:.0} % over all nodes and tests. Negative is worse. Intervals are of the measurement.",
        100.0 * RATE
    );
    wrapped(text, "How to read: ", &named);
    let spread = "within a node from trial to trial, between nodes of a group, and between groups, as standard deviations. A \
                  place is the best and worst within the group that the intervals allow.";
    wrapped(text, "Spread: ", spread);
    for note in &report.notes {
        wrapped(text, "Note: ", &format!("{note}."));
    }
}
