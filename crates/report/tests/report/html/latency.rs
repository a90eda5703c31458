//! The page of runs with interactive tasks.

use super::{cell, empty, html, noise, row, typical};
use analysis::{
    Attribution, Figure, HeldUp, Latency, Load, Missing, Remark, Results, TrialFigures,
};
use catalogue::{Catalogue, Metric};
use journal::{Cause, Key, Latency as Kind, read};
use report::{Format, Subject};
use stats::{Estimate, Histogram};
use testing::page::{check, text};

/// Latencies around `ms` with a long tail.
fn histogram(ms: f64, frames: usize) -> Histogram {
    let mut histogram = Histogram::default();
    for frame in 0..frames {
        let late = (noise(frame * 7 + frames).abs() + 1e-3).powf(-0.7);
        histogram.record((ms * 1e6 * 0.5 * late) as u64);
    }
    histogram
}

fn latency(ms: f64, frames: usize, seconds: usize) -> Latency {
    let histogram = histogram(ms, frames);
    let value = if histogram.carries(0.99) { "p99" } else { "p50" };
    Latency {
        holders: None,
        worst: Vec::new(),
        kind: Kind::Wake,
        value,
        came: histogram.clone(),
        response: histogram.clone(),
        jitter: histogram.clone(),
        planned: frames as u64 + 10,
        deadlines_met: Some(Estimate { value: 97.5, low: 96.0, high: 99.0 }),
        late: 1.5,
        dropped: 1.0,
        cpu_received: Some(Estimate { value: 99.0, low: 98.0, high: 100.0 }),
        rates: None,
        requests: None,
        stall: ms * 9.0,
        seconds: (0..seconds).map(|k| (k as f64 * 1.1, ms * (1.5 + noise(k)))).collect(),
        attribution: Attribution {
            runqueue_wait_ms: Some(12.5),
            steal_ms: None,
            ..Attribution::default()
        },
        trials: vec![TrialFigures { block: 0, p50: ms, p99: None, met: Some(97.5) }],
        histogram,
    }
}

/// What a load did, with or without an interval.
fn load(name: &str, achieved: f64, half: f64) -> Load {
    Load {
        label: format!("Load {name}"),
        throughput: 123.4,
        unit: "KBps".to_owned(),
        achieved,
        interval: Estimate { value: achieved, low: achieved - half, high: achieved + half },
    }
}

fn latency_row(task: usize, place: usize, name: &str, frames: usize, seconds: usize) -> Figure {
    let mut cell = cell(&format!("task{task}"), &format!("Task {task}"), "ms", 1);
    (cell.metric, cell.key.load) = (Metric::Latency, name.to_owned());
    let ms = 0.3 * 2.5f64.powf(place as f64 % 7.0);
    let mut row = row(cell, ms, 0.05, 6);
    let latency = latency(ms, frames, seconds);
    let share = if latency.value == "p99" { 0.99 } else { 0.5 };
    row.score = Estimate::within(latency.histogram.quantile(share) / 1e6, 0.08);
    row.latency = Some(Box::new(latency));
    row.load = (name != "none").then(|| load(name, 70.0 + 3.0 * place as f64, 5.0));
    row
}

/// A run of `tasks` beside `loads` loads, the first of them none.
fn interactive(tasks: usize, loads: usize, frames: usize, seconds: usize) -> Results {
    let mut results = empty();
    for task in 0..tasks {
        for place in 0..loads {
            let name = if place == 0 { "none".to_owned() } else { format!("load{place}") };
            results.figures.push(latency_row(task, place, &name, frames, seconds));
        }
    }
    results.seconds = seconds as f64 * 1.2;
    results
}

fn gone(load: &str, reason: &str) -> Missing {
    Missing {
        printed: false,
        lost: false,
        key: Key {
            test: "task0".to_owned(),
            copies: 1,
            load: load.to_owned(),
            condition: "none".to_owned(),
        },
        label: "Task 0".to_owned(),
        latency: true,
        reason: reason.to_owned(),
    }
}

fn recorded() -> Results {
    let catalogue = Catalogue::load().unwrap();
    Results::new(&read(&testing::recorded("latency")).unwrap(), &catalogue, None)
}

/// How many fields of the map a page has.
fn fields(page: &str) -> usize {
    let map = page.split(" heat\">").nth(1).unwrap().split("</table>").next().unwrap();
    map.matches("<td").count()
}

#[test]
fn the_recorded_run_has_all_its_parts() {
    let results = recorded();
    let page = html(&results);
    check(&page);
    assert_eq!(fields(&page), results.figures.len() + results.skipped.len() + results.errors.len());
    let text = text(&page);
    for words in [
        "Interbench's figures are not comparable",
        "Audio: wake-up latency in ms",
        "Worst of each second, ms",
    ] {
        assert!(text.contains(words), "{words}");
    }
    for row in &results.figures {
        let max = row.latency.as_ref().unwrap().histogram.max() / 1e6;
        if max >= 99.95 {
            assert!(text.contains(&format!("\n{max:.0}\n")), "{max}");
        }
    }
    for absent in ["No index", "parallel cop", "<h2>Trials</h2>", "ended before its first trial"] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn curves_are_solid_as_far_as_they_carry() {
    let curve = |frames: usize| {
        let page = html(&interactive(1, 1, frames, 30));
        check(&page);
        let dashed = page.matches("class=\"curve h0 dashed\"").count();
        let all = page.matches("class=\"curve ").count();
        let mark = |name: &str| page.contains(&format!(">without a load: {name} "));
        let marks = ["p50", "p90", "p95", "p99", "p99.9", "longest"].map(mark);
        (all - dashed, dashed, marks)
    };
    assert_eq!(curve(8), (0, 1, [false, false, false, false, false, true]));
    assert_eq!(curve(100), (1, 1, [true, true, false, false, false, true]));
    assert_eq!(curve(1000), (1, 1, [true, true, true, true, false, true]));
    assert_eq!(curve(10_000), (1, 1, [true; 6]));
}

#[test]
fn cells_without_a_result_say_why() {
    let mut results = interactive(2, 2, 500, 20);
    results.skipped = vec![gone("gpu", "needs the device /dev/dri")];
    results.errors = vec![gone("burn", "killed by signal 4")];
    let page = html(&results);
    check(&page);
    // Two tasks beside four loads; the second was not asked for beside two of them.
    assert_eq!(fields(&page), 8);
    assert_eq!(page.matches("<td></td>").count(), 2);
    for (word, reason) in
        [("error", "killed by signal 4"), ("skipped", "needs the device /dev/dri")]
    {
        let field = page
            .split("<td class=\"gone\" title=\"")
            .find(|part| part.contains(&format!(">{word}</td>")));
        assert!(field.unwrap().split('"').next().unwrap().contains(reason), "{reason}");
        assert!(text(&page).contains(&format!(": {reason}\n")), "the table says it too");
    }
    assert!(!page.contains(" ?<"), "intervals of 8 % tell a load apart");
    results.figures[1].score = Estimate::alone(results.figures[1].score.value);
    assert_eq!(html(&results).matches(" p50 ?<").count(), 1);
    results.figures.clear();
    let page = html(&results);
    check(&page);
    assert_eq!(fields(&page), 2);
    assert!(page.contains("Nothing was measured"));
}

#[test]
fn runs_with_rates_and_latencies_have_both() {
    let rates = html(&typical(&[1]));
    for part in [" heat\"", "<h2>Latency</h2>", "What the loads did", "Interbench"] {
        assert!(!rates.contains(part), "{part} without a latency");
    }
    let mut results = typical(&[1]);
    let mut beside = results.figures[0].clone();
    beside.cell.key.load = "burn".to_owned();
    beside.load = Some(load("burn", 43.2, f64::INFINITY));
    results.figures.push(beside);
    results.figures.extend(interactive(2, 3, 2000, 30).figures);
    let page = html(&results);
    check(&page);
    assert_eq!(fields(&page), 6, "burn ran beside no task, and none of the rates is in the map");
    for part in [
        "running 1 parallel copy of tests",
        "<h2>Trials</h2>",
        "What the loads did",
        "Index per test",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        text(&page).contains("\n43.2\n")
            && page.contains("alongside burn: 123 KBps, 43.2 % of what it does alone")
    );
    let panels = |page: &str| page.matches("class=\"panel\"").count();
    assert_eq!(panels(&page), panels(&rates) + 1 + 2 * 3, "latencies have charts of their own");
}

#[test]
fn hostile_tasks_and_loads_are_text() {
    let hostile = "</title></style><script>alert(1)</script>\"'><img src=x onerror=a()>&amp;{{ x }}\u{1b}[31m\u{202e}\u{0}\n--> ]]>";
    let mut results = interactive(2, 3, 500, 20);
    for row in &mut results.figures {
        for text in [
            &mut row.cell.label,
            &mut row.cell.key.load,
            &mut row.cell.key.condition,
            &mut row.cell.unit,
        ] {
            text.push_str(hostile);
        }
        row.warnings.push(Remark::Journal(hostile.to_owned()));
        if let Some(load) = &mut row.load {
            (load.label, load.unit) = (hostile.to_owned(), hostile.to_owned());
        }
    }
    results.errors = vec![gone(hostile, hostile)];
    hostile.clone_into(&mut results.errors[0].label);
    let page = html(&results);
    check(&page);
    assert!(text(&page).matches("<script>alert(1)</script>").count() > 50);
    let table = report::render(Subject::Run(&results), Format::Markdown).unwrap();
    assert!(!table.contains("<script") && !table.contains('\u{1b}'));
}

#[test]
fn odd_latencies_are_drawn_or_left_out() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-300, 1e300];
    for (place, &value) in odd.iter().enumerate() {
        let mut results = interactive(3, 3, 50, 5);
        for (number, row) in results.figures.iter_mut().enumerate() {
            let other = odd[(number + place) % odd.len()];
            row.score = Estimate { value, low: other, high: value };
            row.samples.iter_mut().for_each(|sample| (sample.at, sample.value) = (other, value));
            row.load = Some(load("burn", value, other));
            let latency = row.latency.as_mut().unwrap();
            (latency.stall, latency.late, latency.cpu_received) = (value, other, Some(row.score));
            latency.seconds = vec![(value, other), (other, value)];
            latency.histogram = match number % 3 {
                0 => Histogram::default(),
                1 => Histogram::sum(std::iter::once(&{
                    let mut zero = Histogram::default();
                    (0..30).for_each(|_| zero.record(0));
                    zero
                })),
                _ => histogram(1e7, 30),
            };
        }
        check(&html(&results));
        report::render(Subject::Run(&results), Format::Markdown).unwrap();
    }
}

#[test]
fn large_runs_have_a_bounded_page() {
    let results = interactive(30, 20, 12_000, 180);
    let page = html(&results);
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    check(&page);
    assert_eq!(fields(&page), 600);
    let curves: Vec<&str> = page.split("class=\"curve ").skip(1).collect();
    assert!(curves.len() >= 600, "{}", curves.len());
    for path in curves {
        assert!(
            path.split('"').nth(2).is_some_and(|d| d.matches('L').count() <= 60),
            "{:.200}",
            path
        );
    }
}

#[test]
fn colours_carry_their_text() {
    let css = report::STYLE;
    let (light, rest) = css.split_once("@media screen and (prefers-color-scheme: dark)").unwrap();
    let dark = rest.split("\n* {").next().unwrap();
    for sheet in [light, dark] {
        let colour = |name: &str| {
            let value =
                sheet.split(&format!("--{name}: #")).nth(1).unwrap().split(';').next().unwrap();
            let long = if value.len() == 3 {
                value.chars().flat_map(|c| [c, c]).collect()
            } else {
                value.to_owned()
            };
            luminance(u32::from_str_radix(&long, 16).unwrap())
        };
        let steps: Vec<f64> = (0..6).map(|step| colour(&format!("t{step}"))).collect();
        for (step, back) in steps.iter().enumerate() {
            let (text, back) = (colour(&format!("k{step}")) + 0.05, back + 0.05);
            assert!(
                (text / back).max(back / text) >= 4.5,
                "step {step}: {}",
                (text / back).max(back / text)
            );
        }
        // Whoever sees no hues sees the order.
        assert!(steps.is_sorted_by(|a, b| a < b) || steps.is_sorted_by(|a, b| a > b), "{steps:?}");
    }
}

/// The relative luminance of WCAG.
fn luminance(rgb: u32) -> f64 {
    let linear = |shift: u32| {
        let value = f64::from(rgb >> shift & 0xFF) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
}

#[test]
fn what_held_late_frames_up_is_named_with_its_share_of_all_that_are_explained() {
    let cause =
        |name: &str, frames, ms: u64| Cause { name: name.to_owned(), frames, ns: ms * 1_000_000 };
    let mut results = interactive(1, 2, 2000, 5);
    let waits = vec![("hog <b>".to_owned(), 9.0), ("softirq NET_RX".to_owned(), 0.2)];
    let causes = vec![cause("hog <b>", 45, 400), cause("rcu", 5, 20), cause("idle", 0, 1)];
    let held = HeldUp { late: 60, traced: 50, causes, worst: vec![(9.5, waits)] };
    results.figures[1].latency.as_mut().unwrap().holders = Some(held);
    let page = html(&results);
    check(&page);
    let text = text(&page).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Late frames were held up by hog <b> (90 %) and rcu (10 %).",
        "Task 0 load1 hog <b> 45 90 400",
        "Task 0 load1 9.50 hog <b> 9.00 the trace explains 50 of 60 late frames",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("NET_RX") && !text.contains("idle"), "too small to name");
}
