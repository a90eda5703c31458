//! Frames that MangoHud and PresentMon have logged: CSV with a line a frame.

use super::{Draft, Heading, Journal, Result, Text, lines};
use stats::{mean, median};
use words::Grouped;

/// Columns of frame times, in the order in which they are looked for: MangoHud's, PresentMon 2's and 1's.
const TIMES: [&str; 4] = ["frametime", "FrameTime", "MsBetweenPresents", "msBetweenPresents"];

/// Frames per second times the frame time of older versions of MangoHud, which is in us, are a million, and else a
/// thousand.
const MICROSECONDS: f64 = 1e5;

/// Shares of the slowest frames, and the frames that a block needs for ten of them.
const LOWS: [(&str, f64, usize); 2] = [("1 % low", 0.01, 1000), ("0.1 % low", 0.001, 10_000)];

/// Columns of MangoHud's system, and the facts that they are.
const FACTS: [(&str, &str, &str, &str); 6] = [
    ("os", "system.os", "Operating system", "System"),
    ("kernel", "kernel.release", "Release", "Kernel"),
    ("cpu", "cpu.model", "Model", "Processor"),
    ("cpuscheduler", "imported.governor", "Governor", "Imported"),
    ("gpu", "imported.gpu", "Graphics card", "Imported"),
    ("driver", "imported.driver", "Graphics driver", "Imported"),
];

/// A frame as logged: its time, and the frames per second, which PresentMon does not have.
type Frame = (f64, Option<f64>);

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    line.contains(',') && fields(line).any(|name| TIMES.contains(&name))
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let is_mangohud = source.has_line("os,cpu,");
    if is_mangohud { "MangoHud" } else { "PresentMon" }.clone_into(&mut draft.run.tool);
    note_system(source, &mut draft);
    for (application, frames) in applications(source)? {
        put(application, &frames, &mut draft);
    }
    Ok(vec![draft.finish()])
}

/// Notes what the line after MangoHud's `os,cpu,…` says.
fn note_system(source: &Text<'_>, draft: &mut Draft<'_>) {
    let mut lines = source.raw.lines().skip_while(|line| !line.starts_with("os,cpu,"));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return };
    for (column, value) in fields(names).zip(fields(values)) {
        if let Some((_, name, label, group)) = FACTS.iter().find(|(known, ..)| *known == column) {
            draft.fact(name, label, group, value);
        }
    }
}

/// Returns the frames of each application, in the order in which they appear.
fn applications<'t>(source: &Text<'t>) -> Result<Vec<(&'t str, Vec<Frame>)>> {
    let mut lines = source.lines().skip_while(|(_, line)| !is_head(line));
    let Some((_, head)) = lines.next() else { return Err(source.cut("its columns")) };
    let columns: Vec<&str> = fields(head).collect();
    let column = |name: &str| columns.iter().position(|one| *one == name);
    let Some(time) = TIMES.iter().find_map(|name| column(name)) else { return Err(source.cut("frame times")) };
    let (rate, application) = (column("fps"), column("Application"));
    let mut frames = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let values: Vec<&str> = fields(line).collect();
        let value = |column: usize| values.get(column).copied().and_then(lines::number);
        if values.get(time) == Some(&"NA") {
            continue;
        }
        let took = value(time).filter(|_| values.len() == columns.len());
        let took = took.ok_or_else(|| source.damaged(number, line, "frame time"))?;
        let name = application.map_or("", |column| values[column]);
        frames.push((name, (took, rate.and_then(value))));
    }
    Ok(frames.into_iter().grouped())
}

/// Puts the figures of an application, each of the blocks that its frames are cut into.
fn put(application: &str, frames: &[Frame], draft: &mut Draft<'_>) {
    let products: Vec<f64> = frames.iter().filter_map(|(time, rate)| Some(time * (*rate)?)).collect();
    let unit = if !products.is_empty() && median(&products) > MICROSECONDS { 1e-3 } else { 1.0 };
    let times: Vec<f64> = frames.iter().map(|(time, _)| time * unit).collect();
    let label = |name: &str| format!("{application} {name}").trim().to_owned();
    let seconds = times.iter().sum::<f64>() / 1e3;
    let whole_seconds = (seconds as usize).max(1);
    draft.seconds = draft.seconds.max(seconds);
    let rates = blocks(&times, whole_seconds).map(|block| 1e3 / mean(block.iter().copied()));
    draft.figure(&Heading::rate(label("frames"), "fps"), rates);
    for (name, share, least) in LOWS {
        let lows = blocks(&times, times.len() / least).map(|block| 1e3 / slowest(block, share));
        draft.figure(&Heading::rate(label(name), "fps"), lows);
    }
    let changes = blocks(&times, whole_seconds).map(|block| {
        let steps = block.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        if block.len() < 2 { 0.0 } else { mean(steps) }
    });
    draft.figure(&Heading::time(label("change between frames"), "ms"), changes.filter(|change| *change > 0.0));
    note_stutters(&times, &label("frames over twice the median time"), draft);
}

fn note_stutters(times: &[f64], label: &str, draft: &mut Draft<'_>) {
    if times.is_empty() {
        return;
    }
    let limit = 2.0 * median(times);
    let long = times.iter().filter(|time| **time > limit).count();
    let name = format!("imported.{}", draft.invented(label));
    draft.fact(&name, label, "Imported", &format!("{long} of {}", times.len()));
}

/// Returns frames in blocks of equal length, as many as are wanted.
fn blocks(times: &[f64], number: usize) -> impl Iterator<Item = &[f64]> {
    let number = number.min(times.len());
    (0..number).map(move |block| {
        let end = |block: usize| block * times.len() / number;
        &times[end(block)..end(block + 1)]
    })
}

/// Returns the mean time of a share of the frames, the slowest.
fn slowest(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let count = ((share * sorted.len() as f64) as usize).max(1);
    mean(sorted.iter().take(count).copied())
}
