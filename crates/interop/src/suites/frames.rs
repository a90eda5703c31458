//! Frames that MangoHud and PresentMon have logged: CSV with a line a frame.
//!
//! A log is cut into blocks of about a second, and each block gives one value of a figure, so that
//! its spread is known. The rate is a block's mean; the lows are the rate of the slowest frames of
//! larger blocks; and the change from one frame to the next shows stutter. MangoHud may log a frame
//! at an interval only ([`sampled_seconds`]): then only the rate is known.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Draft, Heading, Journal, Result, Starts, Text, lines};
use crate::figure;
use stats::{mean, median};
use words::Grouped;

/// The start of the line above MangoHud's system.
const SYSTEM_HEAD: &str = "os,cpu,";

/// Columns of frame times, in the order in which they are looked for: MangoHud's, PresentMon 2's
/// and 1's.
const TIMES: [&str; 4] = ["frametime", "FrameTime", "MsBetweenPresents", "msBetweenPresents"];

/// The product of rate and frame time above which times are in us, as older versions of MangoHud
/// have them: it is about a million then, and a thousand where they are in ms.
const MIN_PRODUCT_OF_US: f64 = 1e5;

/// A rate of the slowest frames.
struct Low {
    name: &'static str,
    /// Their share of all frames.
    share: f64,
    /// The frames that a block needs for ten of them.
    block_frames: usize,
}

const LOWS: [Low; 2] = [
    Low { name: "1 % low", share: 0.01, block_frames: 1000 },
    Low { name: "0.1 % low", share: 0.001, block_frames: 10_000 },
];

/// Columns of MangoHud's system, each with the name, label and group of its fact.
const FACTS: [(&str, &str, &str, &str); 6] = [
    ("os", "system.os", "Operating system", "System"),
    ("kernel", "kernel.release", "Release", "Kernel"),
    ("cpu", "cpu.model", "Model", "Processor"),
    ("cpuscheduler", "imported.governor", "Governor", "Imported"),
    ("gpu", "imported.gpu", "Graphics card", "Imported"),
    ("driver", "imported.driver", "Graphics driver", "Imported"),
];

/// How many times as long as its frames the clock of a log must run to show that frames are
/// missing.
const MIN_SAMPLED_FACTOR: f64 = 1.5;

/// A frame as logged.
struct Frame {
    /// In ms, or in us where [`MIN_PRODUCT_OF_US`] shows it.
    time: f64,
    /// Frames per second, which MangoHud logs.
    rate: Option<f64>,
    /// The time since the start of the log, which MangoHud logs.
    elapsed_ns: Option<f64>,
    /// True if it was not shown, which PresentMon notes.
    is_dropped: bool,
}

/// What presents frames: a window of an application, in PresentMon's words.
#[derive(PartialEq, Eq, Hash)]
struct SwapChain<'t> {
    application: &'t str,
    process: &'t str,
    address: &'t str,
}

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    line.contains(',') && fields(line).any(|name| TIMES.contains(&name))
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        if line.starts_with(SYSTEM_HEAD) {
            starts.may_begin(number);
        } else if is_head(line) {
            starts.note_mark_or_begin(number, "head".to_owned());
        }
    }
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let is_mangohud = source.has_line(SYSTEM_HEAD);
    if is_mangohud { "MangoHud" } else { "PresentMon" }.clone_into(&mut draft.run.tool);
    add_system(source, &mut draft);

    let mut chains = read_swap_chains(source, &mut draft)?;
    // The busiest of an application's swap chains has its name alone: that one is in every log.
    chains.sort_by_key(|(_, frames)| Reverse(frames.len()));
    let mut applications: BTreeMap<&str, usize> = BTreeMap::new();
    for (chain, frames) in &chains {
        let number = applications.entry(chain.application).or_default();
        *number += 1;
        let mut name = chain.application.to_owned();
        if *number > 1 {
            name = format!("{name} #{number}").trim().to_owned();
            let fact = format!("imported.{}", draft.invent_name(&name));
            let place = format!("process {}, swap chain {}", chain.process, chain.address);
            draft.add_fact(&fact, &name, "Imported", &place);
        }
        let dropped = frames.iter().filter(|frame| frame.is_dropped).count();
        if dropped > 0 {
            let label = format!("{name} frames that were not shown");
            let fact = format!("imported.{}", draft.invent_name(&label));
            draft.add_fact(
                &fact,
                label.trim(),
                "Imported",
                &format!("{dropped} of {}", frames.len()),
            );
        }
        add_figures(&name, frames, &mut draft);
    }
    Ok(vec![draft.finish()])
}

/// Adds the facts of the line after MangoHud's `os,cpu,…`.
fn add_system(source: &Text<'_>, draft: &mut Draft<'_>) {
    let mut lines = source.raw.lines().skip_while(|line| !line.starts_with(SYSTEM_HEAD));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return;
    };
    for (column, value) in fields(names).zip(fields(values)) {
        if let Some((_, name, label, group)) = FACTS.iter().find(|(known, ..)| *known == column) {
            draft.add_fact(name, label, group, value);
        }
    }
}

/// The frames of each swap chain, in the order in which they appear. A frame whose time cannot be
/// one is left out with a warning.
///
/// # Errors
/// The log has no head with a column of frame times; or a line has more or fewer columns than the
/// head, or no number as its time.
fn read_swap_chains<'t>(
    source: &Text<'t>,
    draft: &mut Draft<'_>,
) -> Result<Vec<(SwapChain<'t>, Vec<Frame>)>> {
    let mut lines = source.lines().skip_while(|(_, line)| !is_head(line));
    let Some((_, head)) = lines.next() else {
        return Err(source.truncated_error("its columns"));
    };
    let columns: Vec<&str> = fields(head).collect();
    let find_column = |name: &str| columns.iter().position(|column| *column == name);
    let Some(time_column) = TIMES.iter().find_map(|name| find_column(name)) else {
        return Err(source.truncated_error("frame times"));
    };
    // Each of these may be missing.
    let [rate, elapsed, dropped] = ["fps", "elapsed", "Dropped"].map(find_column);
    let chain = ["Application", "ProcessID", "SwapChainAddress"].map(find_column);

    let mut frames = Vec::new();
    let mut without_time = 0;
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let values: Vec<&str> = fields(line).collect();
        // PresentMon's word for the first frame, which has none before it.
        if values.get(time_column) == Some(&"NA") {
            without_time += 1;
            continue;
        }
        let frame_time = values.get(time_column).copied().and_then(figure::parse_number);
        let frame_time = frame_time
            .filter(|_| values.len() == columns.len())
            .ok_or_else(|| source.damaged_line_error(number, line, "frame time"))?;
        if !frame_time.is_finite() || frame_time < 0.0 {
            draft.skip_line(number, line);
            continue;
        }

        let number_at = |column: Option<usize>| lines::measured_number(values[column?]);
        let [application, process, address] =
            chain.map(|column| column.map_or("", |column| values[column]));
        let frame = Frame {
            time: frame_time,
            rate: number_at(rate),
            elapsed_ns: number_at(elapsed),
            is_dropped: number_at(dropped) == Some(1.0),
        };
        frames.push((SwapChain { application, process, address }, frame));
    }
    let chains = frames.into_iter().grouped();
    if without_time > chains.len() {
        let count = words::count(without_time, "frame");
        draft.warn(format!("{count} are left out, since their time is NA"));
    }
    Ok(chains)
}

/// Adds the figures of an application, with a value for each of the blocks that its frames are cut
/// into.
fn add_figures(application: &str, frames: &[Frame], draft: &mut Draft<'_>) {
    let times = times_in_ms(frames);
    let seconds = times.iter().sum::<f64>() / 1e3;
    let label = |name: &str| format!("{application} {name}").trim().to_owned();
    if let Some(elapsed) = sampled_seconds(frames, seconds) {
        add_sampled_rate(&label("frames"), frames, &times, elapsed, draft);
        return;
    }

    draft.seconds = draft.seconds.max(seconds);
    let whole_seconds = (seconds as usize).max(1);
    let rates = blocks(&times, whole_seconds).map(|block| 1e3 / mean(block.iter().copied()));
    draft.add_values(&Heading::rate(label("frames"), "fps"), rates);

    for Low { name, share, block_frames } in LOWS {
        let lows = blocks(&times, times.len() / block_frames)
            .map(|block| 1e3 / mean_of_slowest(block, share));
        draft.add_values(&Heading::rate(label(name), "fps"), lows);
    }

    let changes = blocks(&times, whole_seconds).map(mean_change).filter(|change| *change > 0.0);
    draft.add_values(&Heading::time(label("change between frames"), "ms"), changes);
    note_stutters(&times, &label("frames over twice the median time"), draft);
}

fn times_in_ms(frames: &[Frame]) -> Vec<f64> {
    let products: Vec<f64> =
        frames.iter().filter_map(|frame| Some(frame.time * frame.rate?)).collect();
    let are_us = !products.is_empty() && median(&products) > MIN_PRODUCT_OF_US;
    let unit = if are_us { 1e-3 } else { 1.0 };
    frames.iter().map(|frame| frame.time * unit).collect()
}

/// The mean change in time from one frame to the next; 0 of a single frame.
fn mean_change(times: &[f64]) -> f64 {
    if times.len() < 2 {
        return 0.0;
    }
    mean(times.windows(2).map(|pair| (pair[1] - pair[0]).abs()))
}

/// The seconds of a log that has only some of the frames, one at each interval: its clock runs much
/// longer than the `seconds` that they took. `None` of any other log.
fn sampled_seconds(frames: &[Frame], seconds: f64) -> Option<f64> {
    let mut clock = frames.iter().filter_map(|frame| frame.elapsed_ns);
    let (first, last) = (clock.clone().next()?, clock.next_back()?);
    let elapsed = (last - first) / 1e9;
    (elapsed > MIN_SAMPLED_FACTOR * seconds).then_some(elapsed)
}

/// Adds the rate alone: of frames that do not follow each other neither the slowest nor the change
/// from one to the next is known.
fn add_sampled_rate(
    label: &str,
    frames: &[Frame],
    times: &[f64],
    seconds: f64,
    draft: &mut Draft<'_>,
) {
    let interval_ms = seconds * 1e3 / (frames.len().max(2) - 1) as f64;
    draft.warn(format!(
        "one frame was logged every {} ms, not each: there are no lows and no change between frames",
        words::compact(interval_ms)
    ));
    draft.seconds = draft.seconds.max(seconds);

    // Each rate is that of its interval, so their mean over time is that of all frames.
    let rates: Vec<f64> = frames
        .iter()
        .zip(times)
        .map(|(frame, time)| frame.rate.unwrap_or(1e3 / time))
        .filter(|rate| rate.is_finite())
        .collect();
    let means = blocks(&rates, (seconds as usize).max(1)).map(|block| mean(block.iter().copied()));
    draft.add_values(&Heading::rate(label, "fps"), means);
}

/// Adds the number of frames that took more than twice the median time, as a fact.
fn note_stutters(times: &[f64], label: &str, draft: &mut Draft<'_>) {
    if times.is_empty() {
        return;
    }
    let limit = 2.0 * median(times);
    let count = times.iter().filter(|time| **time > limit).count();
    let name = format!("imported.{}", draft.invent_name(label));
    draft.add_fact(&name, label, "Imported", &format!("{count} of {}", times.len()));
}

/// The values in `count` blocks of equal length; in one block each if there are fewer.
fn blocks(values: &[f64], count: usize) -> impl Iterator<Item = &[f64]> {
    let count = count.min(values.len());
    (0..count).map(move |block| {
        let start = block * values.len() / count;
        let end = (block + 1) * values.len() / count;
        &values[start..end]
    })
}

/// The mean time of the slowest frames, of which there is at least one.
fn mean_of_slowest(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let count = ((share * sorted.len() as f64) as usize).max(1);
    mean(sorted.iter().take(count).copied())
}
