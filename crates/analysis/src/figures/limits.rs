//! The upper limit of a figure: what the processor, the storage's link or another test allows.
//!
//! A test of the catalogue names its limit: `test:ID` is another test's time, `link` the speed of
//! the storage's link, and anything else a figure of processors, as work per cycle or cycles per
//! piece of work.

use crate::figures::{Figure, Limit};
use catalogue::{Catalogue, Metric, Processor};
use journal::{Journal, Quantity};

/// Adds its limit to every row that has details.
pub(crate) fn add_limits(rows: &mut [Figure], journal: &Journal, catalogue: &Catalogue) {
    // The limit of one row may be another row's figure, so all are found before any is stored.
    let limits: Vec<Option<Limit>> =
        rows.iter().map(|row| limit(row, rows, journal, catalogue)).collect();
    for (row, limit) in rows.iter_mut().zip(limits) {
        if let Some(details) = &mut row.details {
            details.limit = limit;
        }
    }
}

fn limit(row: &Figure, rows: &[Figure], journal: &Journal, catalogue: &Catalogue) -> Option<Limit> {
    let name = row.cell.limit.as_deref()?;
    if let Some(test) = name.strip_prefix("test:") {
        return limit_by_test(row, rows, test);
    }
    if name == "link" {
        return limit_by_link(row, journal);
    }
    limit_by_processor(row, rows, journal, catalogue)
}

/// What the processor can do by its row in the catalogue or, without one, what the best row of the
/// same kind reached with one copy.
fn limit_by_processor(
    row: &Figure,
    rows: &[Figure],
    journal: &Journal,
    catalogue: &Catalogue,
) -> Option<Limit> {
    let name = row.cell.limit.as_deref()?;
    let figure = catalogue.figures.iter().find(|figure| figure.id == name)?;
    let reached = per_cycle(row, figure)?;

    let processor = processor(journal, catalogue);
    let known = processor.and_then(|known| Some((*known.limits.get(name)?, known.name.clone())));
    let (limit, source) = match known {
        Some(known) => known,
        None => best_measured(rows, figure)?,
    };
    let share = if figure.is_cycles() { limit / reached } else { reached / limit };
    Some(Limit { reached, limit, unit: figure.unit.clone(), source, share })
}

/// The best figure of the rows with this limit that were measured with one copy, and its source.
fn best_measured(rows: &[Figure], figure: &catalogue::Figure) -> Option<(f64, String)> {
    let same = rows.iter().filter(|row| {
        row.cell.limit.as_deref() == Some(figure.id.as_str()) && row.cell.key.copies == 1
    });
    let measured = same.filter_map(|row| Some((per_cycle(row, figure)?, row)));
    let (limit, best) =
        measured.max_by(
            |(a, _), (b, _)| {
                if figure.is_cycles() { b.total_cmp(a) } else { a.total_cmp(b) }
            },
        )?;
    Some((limit, format!("measured: {}", best.cell.label)))
}

/// The processor's row in the catalogue: by the make of its core or, on x86, by family and model.
fn processor<'c>(journal: &Journal, catalogue: &'c Catalogue) -> Option<&'c Processor> {
    let fact = |name: &str| journal.facts.value(name);
    if let Some(processor) = fact("cpu.core").and_then(|core| catalogue.core(core)) {
        return Some(processor);
    }
    catalogue.processor(fact("cpu.vendor")?, fact("cpu.stepping")?)
}

/// A row's undisturbed figure: work per cycle, or cycles per piece of work.
fn per_cycle(row: &Figure, figure: &catalogue::Figure) -> Option<f64> {
    let cycles = row.details.as_ref()?.best?.cycles.value;
    Some(if figure.is_cycles() { cycles } else { 1.0 / cycles })
}

/// The time of another test at the same copies, load and condition, which this one cannot fall
/// below. Both by their shortest times.
fn limit_by_test(row: &Figure, rows: &[Figure], test: &str) -> Option<Limit> {
    let key = &row.cell.key;
    let floor = rows.iter().find(|other| {
        let other = &other.cell.key;
        other.test == test
            && (other.copies, &other.load, &other.condition)
                == (key.copies, &key.load, &key.condition)
    })?;
    let reached = shortest_ns(row)?;
    let limit = shortest_ns(floor)?;
    let source = format!("measured: {}", floor.cell.label);
    Some(Limit { reached, limit, unit: "ns".to_owned(), source, share: limit / reached })
}

/// ns per operation: undisturbed, or the shortest of all, or the mean where only that is known.
fn shortest_ns(row: &Figure) -> Option<f64> {
    let details = row.details.as_ref();
    let best = details.and_then(|details| details.best).map(|best| best.ns.value);
    let shortest = details.and_then(|details| details.times.as_ref()).map(|times| times.least);
    let ns = best.or(shortest).or_else(|| mean_ns(row));
    ns.filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// The mean time of an operation by the score; `None` if the score is neither a time nor a rate.
fn mean_ns(row: &Figure) -> Option<f64> {
    match row.cell.metric {
        Metric::Time => Some(row.score.value * 1e9 / row.cell.scale),
        Metric::Rate => {
            Some(f64::from(row.cell.key.copies) * row.cell.scale * 1e9 / row.score.value)
        }
        Metric::Latency | Metric::Amount | Metric::Yield | Metric::Unknown => None,
    }
}

/// The link of the storage under test, where the machine reports its speed in MB/s.
fn limit_by_link(row: &Figure, journal: &Journal) -> Option<Limit> {
    let fact = journal.facts.get("storage.link")?;
    let speed = fact.quantity.clone().filter(|speed| speed.unit == "MB/s")?;
    let Quantity { number: limit, unit } = speed;
    let reached = row.score.value;
    Some(Limit { reached, limit, unit, source: fact.value.clone(), share: reached / limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On x86 by family and model, elsewhere by the make of core.
    #[test]
    fn the_processor_is_found_by_its_facts() {
        let catalogue = Catalogue::load().unwrap();
        let name = |facts: &[(&str, &str)]| {
            let mut journal = Journal::default();
            for (name, value) in facts {
                let [name, value] = [name, value].map(|text| (*text).to_owned());
                journal.facts.push(journal::Fact::from_text(
                    name,
                    String::new(),
                    "Processor".to_owned(),
                    value,
                ));
            }
            processor(&journal, &catalogue).map(|found| found.name.clone())
        };
        assert_eq!(name(&[("cpu.core", "POWER9")]).as_deref(), Some("IBM POWER9"));
        assert_eq!(
            name(&[("cpu.vendor", "AuthenticAMD"), ("cpu.stepping", "25 1 1")]).as_deref(),
            Some("AMD Zen 3")
        );
        assert_eq!(name(&[("cpu.core", "acme,one")]), None);
    }
}
