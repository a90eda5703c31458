//! sysbench's text: cpu, memory, fileio, threads, mutex and the database tests.

use super::{Draft, Heading, Journal, Result, Text, ensure, leading, lines};

const BANNER: &str = "sysbench ";

/// The last section, which a truncated text lacks.
const LAST: &str = "execution time (avg/stddev):";

/// Lines with a rate: how they begin, the name that the rate gets, and its unit.
const RATES: [(&str, &str, &str); 6] = [
    ("events per second:", "cpu events", "1/s"),
    ("reads/s:", "fileio reads", "1/s"),
    ("writes/s:", "fileio writes", "1/s"),
    ("fsyncs/s:", "fileio fsyncs", "1/s"),
    ("read, MiB/s:", "fileio read", "MiB/s"),
    ("written, MiB/s:", "fileio written", "MiB/s"),
];

/// Lines with a rate in brackets: the same, and what follows the number.
const IN_BRACKETS: [(&str, &str, &str, &str); 4] = [
    ("Total operations:", "memory operations", "1/s", "per second"),
    ("transactions:", "transactions", "1/s", "per sec."),
    ("queries:", "queries", "1/s", "per sec."),
    ("", "memory", "MiB/s", "MiB/sec"),
];

/// Lines with a latency in ms.
const LATENCIES: [(&str, &str); 3] = [("avg:", "avg"), ("95th percentile:", "95th percentile"), ("max:", "max")];

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.has_line(BANNER) && (text.has_line("Number of threads:") || text.has_line("Running the test with"))
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let Some((number, banner)) = source.lines().find(|(_, line)| line.starts_with(BANNER)) else {
        return Err(source.cut("sysbench's version"));
    };
    let version = banner[BANNER.len()..].split(' ').next().unwrap_or_default();
    ensure!(version.starts_with("1."), source.unknown(number, "sysbench", version, "version 1"));
    ensure!(source.has_line(LAST), source.cut("its last section, Threads fairness"));
    draft.run.tool = format!("sysbench {version}");
    let value = |start: &str| source.raw.lines().find_map(|line| line.trim().strip_prefix(start)).map(str::trim);
    let copies = value("Number of threads:").and_then(|threads| threads.parse().ok()).unwrap_or(1);
    let seconds = value("total time:").and_then(leading).unwrap_or(0.0);
    draft.seconds = seconds;
    let mut rates = Vec::new();
    for line in source.raw.lines().map(str::trim) {
        let plain = RATES
            .iter()
            .filter_map(|(start, name, unit)| Some((*name, *unit, lines::number(line.strip_prefix(start)?.trim())?)));
        let bracketed = IN_BRACKETS.iter().filter_map(|(start, name, unit, end)| {
            let inside = line.strip_prefix(start)?.rsplit_once('(')?.1.strip_suffix(')')?;
            Some((*name, *unit, lines::number(inside.strip_suffix(end)?.trim())?))
        });
        rates.extend(plain.chain(bracketed));
    }
    // What has no rate of its own, as threads and mutex have none, has its events.
    if let (true, Some(events)) =
        (rates.is_empty() && seconds > 0.0, value("total number of events:").and_then(leading))
    {
        rates.push(("events", "1/s", events / seconds));
    }
    let of = rates.first().map_or("", |(name, ..)| name.split(' ').next().unwrap_or_default());
    for (name, unit, rate) in &rates {
        draft.figure(&Heading::rate(format!("sysbench {name}"), unit).at(copies), [*rate]);
    }
    let latencies = source.raw.split_once("Latency (ms):").map_or("", |(_, after)| after);
    for (start, name) in LATENCIES {
        let ms = latencies.lines().find_map(|line| lines::number(line.trim().strip_prefix(start)?.trim()));
        draft.figure(&Heading::time(format!("sysbench {of} latency {name}"), "ms").at(copies), ms);
    }
    Ok(vec![draft.finish()])
}
