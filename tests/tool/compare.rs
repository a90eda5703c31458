//! `unixmark compare` on runs that are written here: what is slower is called so, and nothing else
//! is.

mod conditions;
mod energy;
mod gate;
mod made;
mod systems;
mod thesis;

use analysis::{Asked, Comparisons, Verdict};
use journal::{Build, Warning};
use made::{Made, earlier, json, of, place, text};
use serde_json::Value;

fn compared(a: &Made, b: &Made) -> Comparisons {
    Comparisons::new(vec![a.results(), b.results()], &Asked { threshold: 1.0, ..Asked::default() })
}

#[test]
fn what_is_slower_is_called_so() {
    let a = Made::new("a", 1).rate("syscall", 1e6, 24).rate("pipe", 2e5, 24).rate("spawn", 9e3, 24);
    let b = Made::new("b", 2).rate("syscall", 9e5, 24).rate("pipe", 2e5, 24).rate("spawn", 3e3, 24);
    let place = place(&[a, b]);
    // Of two runs alone it is not known whether the machine differed.
    let report = json(&place, "a b");
    let differs = of(&report, "syscall", "score");
    assert_eq!(
        (&differs["verdict"], &differs["verdict_text"]),
        (&"differs".into(), &"differs between the runs".into())
    );
    assert!(text(&place, "a b").contains("B against A: 2 differ between the runs (spawn -6"));
    earlier(
        |made| made.rate("syscall", 1e6, 24).rate("pipe", 2e5, 24).rate("spawn", 9e3, 24),
        &place,
    );
    let report = json(&place, "a b");
    let slower = of(&report, "syscall", "score");
    for key in [
        "test",
        "label",
        "copies",
        "load",
        "condition",
        "delta",
        "low",
        "high",
        "time_factor",
        "verdict",
    ] {
        assert!(!slower[key].is_null(), "{key}");
    }
    assert!(slower["pairs"].as_array().unwrap().is_empty());
    assert_eq!(slower["verdict"], "slower", "{slower}");
    assert_eq!(slower["method"], "rank-sum");
    let delta = slower["delta"].as_f64().unwrap();
    assert!((-12.0..-8.0).contains(&delta), "{delta}");
    assert!((slower["time_factor"].as_f64().unwrap() - 1.0 / (1.0 + delta / 100.0)).abs() < 1e-9);
    assert!(
        slower["low"].as_f64() < slower["delta"].as_f64() && slower["high"].as_f64().unwrap() < 0.0
    );
    assert!(
        ["same", "undecided"].contains(&of(&report, "pipe", "score")["verdict"].as_str().unwrap())
    );
    assert!(
        of(&report, "spawn", "score")["verdict_text"].as_str().unwrap().starts_with("slower (3.")
    );
    assert!(
        (report["totals"][0]["delta"].as_f64().unwrap() + 33.0).abs() < 3.0,
        "{}",
        report["totals"]
    );
    // The other way round it is faster, by the inverse.
    let report = json(&place, "b a");
    let faster = of(&report, "syscall", "score");
    assert_eq!(faster["verdict"], "faster");
    assert!(
        (faster["delta"].as_f64().unwrap() - 100.0 * (1.0 / (1.0 + delta / 100.0) - 1.0)).abs()
            < 1e-6
    );
}

#[test]
fn the_same_is_never_slower_or_faster() {
    let mut wrong = 0;
    for seed in 0..40 {
        let run = |seed| {
            (0..12).fold(Made::new("x", seed), |made, test| made.rate(&format!("t{test}"), 1e6, 8))
        };
        let all = compared(&run(2 * seed), &run(2 * seed + 1));
        let decided =
            |verdict: &Verdict| !matches!(verdict, Verdict::Same(_) | Verdict::Undecided(_));
        wrong += usize::from(all.comparisons.iter().any(|one| decided(&one.verdict)));
    }
    // 5 % of 40 reports are two.
    assert!(
        wrong <= 2,
        "{wrong} of 40 reports of twelve tests call a difference where there is none"
    );
}

#[test]
fn few_trials_are_undecided_and_say_what_they_could_have_seen() {
    let a = Made::new("a", 3).rate("syscall", 1e6, 3).rate("pipe", 1e6, 1);
    let b = Made::new("b", 4).rate("syscall", 9.8e5, 3).rate("pipe", 5e5, 1);
    let place = place(&[a, b]);
    let report = json(&place, "a b");
    let few = of(&report, "syscall", "score");
    assert_eq!(
        (few["verdict"].as_str(), few["method"].as_str()),
        (Some("undecided"), Some("welch"))
    );
    assert!(few["could_have_seen"].as_f64().unwrap() > 2.0);
    let one = of(&report, "pipe", "score");
    assert_eq!(one["verdict_text"], "undecided (no interval)");
    assert!(one["low"].is_null() && (one["delta"].as_f64().unwrap() + 50.0).abs() < 20.0);
    let flat = testing::flat(&text(&place, "a b"));
    assert!(flat.contains("Welch's t, which assumes log-normal noise"), "{flat}");
    assert!(flat.contains("undecided (too few)") && flat.contains("share no blocks"), "{flat}");
}

#[test]
fn latencies_have_three_comparisons() {
    let a =
        Made::new("a", 5).latency("none", 100.0, 2, 1200, 8).latency("compile", 100.0, 2, 200, 8);
    let b =
        Made::new("b", 6).latency("none", 300.0, 9, 1200, 8).latency("compile", 100.0, 2, 200, 8);
    let place = place(&[a, b]);
    let report = json(&place, "a b");
    let p50 = of(&report, "audio", "p50");
    assert_eq!((p50["verdict"].as_str(), p50["unit"].as_str()), (Some("differs"), Some("ms")));
    assert!((p50["time_factor"].as_f64().unwrap() - 3.0).abs() < 0.3, "{p50}");
    // In its own direction: three times the latency is 200 % more of it.
    let delta = p50["delta"].as_f64().unwrap();
    assert!((delta - 200.0).abs() < 30.0 && p50["low"].as_f64().unwrap() > 0.0, "{p50}");
    // Both sides show what the reports of their runs show, and the delta is a median of
    // differences.
    let ratio = p50["b"].as_f64().unwrap() / p50["a"].as_f64().unwrap();
    assert!((ratio - 1.0 - delta / 100.0).abs() < 0.1, "{p50}");
    assert_eq!(p50["lower_is_better"], true);
    assert_eq!(of(&report, "audio", "p99")["method"], "rank-sum");
    let met = of(&report, "audio", "met");
    assert_eq!(
        (met["verdict"].as_str(), met["delta_unit"].as_str()),
        (Some("differs"), Some("points"))
    );
    assert!(
        (-8.0..-1.5).contains(&met["delta"].as_f64().unwrap()) && met["time_factor"].is_null(),
        "{met}"
    );
    // 200 frames of a trial carry no p99, 1600 of all trials do: then it is of all frames together.
    let all = report["comparisons"].as_array().unwrap();
    let compile: Vec<&Value> = all.iter().filter(|one| one["load"] == "compile").collect();
    assert_eq!(compile.len(), 3);
    assert_eq!(
        (compile[1]["measure"].as_str(), compile[1]["method"].as_str()),
        (Some("p99"), Some("bootstrap"))
    );
    // All trials of either side met all deadlines, which shows little of what may happen to the
    // next.
    assert_eq!(compile[2]["verdict"], "undecided", "{}", compile[2]);
    assert!(
        text(&place, "a b").contains("audio, load compile p50, ms "),
        "{}",
        text(&place, "a b")
    );
}

/// Text, pages, JSON, the gate and the trend say of a longer latency that it is higher.
#[test]
fn latencies_have_one_direction_everywhere() {
    let run = |name: &str, seed, late| Made::new(name, seed).latency("none", late, 2, 1200, 8);
    let place = place(&[run("a", 5, 100.0), run("b", 6, 300.0)]);
    let output = place.unixmark("compare a b --fail-on 5%").output().unwrap();
    let said = testing::stderr(&output);
    let (_, from_factor) = said.split_once("in B, ").unwrap_or_else(|| panic!("{said}"));
    let (factor, _) = from_factor.split_once('x').unwrap_or_else(|| panic!("{said}"));
    let factor: f64 = factor.parse().unwrap();
    assert!(said.contains("audio (p50") && (factor - 3.0).abs() < 0.4, "{said}");
    for format in ["text", "markdown", "html"] {
        let page = text(&place, &format!("--format {format} a b"));
        assert!(
            page.contains("audio p50")
                && (page.contains("audio p99 +2") || page.contains("audio p99 3."))
                && !page.contains("audio p99 -"),
            "{format}: {page}"
        );
    }
    let trend = place.unixmark("report --trend audio").output().unwrap();
    let trend = testing::flat(&testing::stdout(&trend));
    assert!(trend.contains("% higher (worse) than the run before it"), "{trend}");
}

/// What runs say of many tests is one line for each kind, with the runs and the tests.
#[test]
fn remarks_of_a_kind_are_one_line() {
    let run = |name: &str, seed| {
        let made = Made::new(name, seed).rate("syscall", 1e6, 6).rate("pipe", 1e6, 6);
        made.with(|journal| {
            for trial in &mut journal.trials {
                let steal_s = Some(0.2 * (1 + trial.cell) as f64);
                trial.noise = Some(journal::Noise { steal_s, ..journal::Noise::default() });
            }
        })
    };
    let place = place(&[run("a", 1), run("b", 2)]);
    for format in ["text", "markdown"] {
        let page = testing::flat(&text(&place, &format!("--format {format} a b")));
        assert_eq!(page.matches("other guests took").count(), 1, "{page}");
        assert!(
            page.contains("A, B: other guests took 10 to 20 % of")
                && page.contains("(pipe; syscall)"),
            "{page}"
        );
    }
}

#[test]
fn too_few_frames_for_a_p99_are_told() {
    let run = |name, seed| Made::new(name, seed).latency("none", 100.0, 2, 60, 6);
    let place = place(&[run("a", 5), run("b", 6)]);
    let report = json(&place, "a b");
    assert_eq!(report["missing"][0]["measure"], "p99");
    assert!(
        report["missing"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("360 frames in all, and a p99 needs 1000")
    );
}

#[test]
fn what_is_missing_has_a_row() {
    let a = Made::new("a", 7).rate("syscall", 1e6, 8).rate("pipe", 1e6, 8).without(
        "spawn",
        None,
        Some("it crashed"),
    );
    let b = Made::new("b", 8).rate("syscall", 1e6, 8).rate("execl", 1e3, 8).without(
        "spawn",
        None,
        Some("it hung"),
    );
    let b = b.without("shell1", Some("there is no sort"), None);
    let place = place(&[a, b]);
    for format in ["text", "json", "markdown", "csv"] {
        let report = text(&place, &format!("--format {format} a b"));
        let flat = testing::flat(&report);
        for reason in [
            "not in B",
            "not in A",
            "failed in A: it crashed; failed in B: it hung",
            "there is no sort",
        ] {
            assert!(flat.contains(reason), "{format}: {reason}: {report}");
        }
    }
    assert_eq!(json(&place, "a b")["missing"].as_array().unwrap().len(), 4);
    // As many fields in every line.
    let csv = text(&place, "--format csv a b");
    let widths: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{csv}");
}

#[test]
fn a_software_renderer_is_never_taken_for_a_card() {
    let drawn = |name: &str, seed: u64, renderer: &str, rendering: &str| {
        let made =
            Made::new(name, seed).rate("ubgears", 900.0, 8).fact("graphics.gl_renderer", renderer);
        made.fact("graphics.rendering", rendering).fact("graphics.server", "Xorg")
    };
    let card = || drawn("card", 3, "AMD Radeon RX 7600", "hardware");
    let software = drawn("software", 4, "llvmpipe (LLVM 15.0.6, 256 bits)", "software");
    let place = place(&[card(), software, Made::new("none", 5).rate("ubgears", 900.0, 8)]);
    let report = testing::flat(&text(&place, "card software"));
    let told = "the renderers differ: AMD Radeon RX 7600 (A), llvmpipe (LLVM 15.0.6, 256 bits) (B)";
    assert!(report.contains(told) && report.contains("these runs are not comparable"), "{report}");
    // Of a run that drew nothing there is nothing to say.
    assert!(!text(&place, "card none").contains("renderers"));
}

#[test]
fn unlike_runs_are_never_compared_silently() {
    let a = Made::new("a", 9)
        .rate("syscall", 1e6, 8)
        .fact("kernel.release", "6.1")
        .fact("run.work-speed", "1000000 ops/ms");
    let b = Made::new("b", 10)
        .rate("syscall", 1e6, 8)
        .fact("kernel.release", "6.2")
        .fact("run.work-speed", "1200000 ops/ms");
    let b = b.with(|journal| {
        journal.run.build =
            Some(Build { hash: "ffff".to_owned(), ..journal.run.build.clone().unwrap() });
        journal.run.host = "other".to_owned();
        journal.run.procedure = journal::Procedure::Quick;
        journal.warnings.push(Warning { cell: None, text: "the governor changed".to_owned() });
    });
    let place = place(&[a, b]);
    let report = text(&place, "a b");
    let flat = testing::flat(&report);
    for told in [
        "Warning: the builds differ: native 0123456789ab",
        "Warning: the hosts differ: vm (A), other (B)",
        "Warning: the procedures differ: standard (A), quick (B)",
        "Warning: the speed of work differs",
        "Warning: B: the governor changed",
        "release: 6.1 (A), 6.2 (B)",
    ] {
        assert!(flat.contains(told), "{told}: {report}");
    }
    assert!(
        flat.contains("not comparable, because they differ in builds, hosts, procedures, kernels;"),
        "{report}"
    );
    let alone = compared(
        &Made::new("a", 1).rate("x", 1e6, 6).fact("kernel.release", "6.1"),
        &Made::new("b", 2).rate("x", 1e6, 6).fact("kernel.release", "6.2"),
    );
    let told =
        "the kernels differ: 6.1 (A), 6.2 (B); this is the difference that you asked to measure";
    assert_eq!(alone.warnings, [told]);
    let report = json(&place, "a b");
    assert_eq!((&report["comparable"], &report["unlike"][3]), (&false.into(), &"kernels".into()));
    assert_eq!(report["differences"][0]["name"], "kernel.release");
    let alike =
        compared(&Made::new("a", 1).rate("x", 1e6, 6), &Made::new("b", 2).rate("x", 1e6, 6));
    assert!(alike.warnings.is_empty() && alike.differences.is_empty(), "{:?}", alike.warnings);
}

#[test]
fn runs_in_turn_are_paired() {
    // The machine drifts by 20 % from round to round: unpaired, that hides a loss of 4 %.
    let drift = [1.0, 0.8, 1.1, 0.9, 1.2, 0.7];
    let runs: Vec<Made> = (0..12)
        .map(|number| {
            // What was changed comes first.
            let speed = 1e6 * drift[number / 2] * if number % 2 == 0 { 0.96 } else { 1.0 };
            let made = Made::new(&format!("run{number}"), number as u64).rate("syscall", speed, 12);
            let made = made.rate("pipe", 1e6 * drift[number / 2], 12);
            if number == 5 { made } else { made.rate("spawn", 1e6, 12) }
        })
        .collect();
    let place = place(&runs);
    let names: Vec<String> = (0..12).map(|number| format!("run{number}")).collect();
    let report = json(&place, &format!("--paired {}", names.join(" ")));
    let loss = of(&report, "syscall", "score");
    assert_eq!(
        (loss["method"].as_str(), loss["pairs"].as_array().unwrap().len()),
        (Some("signed-rank"), 6)
    );
    assert!((loss["delta"].as_f64().unwrap() + 4.0).abs() < 1.0, "{loss}");
    assert!(loss["high"].as_f64().unwrap() < 0.0);
    let pair = &loss["pairs"][1];
    assert!(
        (pair["a"].as_f64().unwrap() / pair["b"].as_f64().unwrap() - 0.96).abs() < 0.02,
        "{pair}"
    );
    assert_eq!(
        (loss["run"].as_str(), loss["against"].as_str(), pair["round"].as_u64()),
        (Some("A"), Some("B"), Some(2))
    );
    // Five rounds of six have it, which is Student's.
    let spawn = of(&report, "spawn", "score");
    assert_eq!((spawn["n"][0].as_u64(), spawn["method"].as_str()), (Some(5), Some("student")));
    assert!(
        spawn["warnings"].to_string().contains("5 of 6 rounds have it in both runs: not in B3"),
        "{spawn}"
    );
    assert!(report["warnings"].as_array().unwrap().is_empty(), "{}", report["warnings"]);
    assert!((report["totals"][0]["delta"].as_f64().unwrap() + 2.0).abs() < 1.0);
    // The least p of six rounds is 2/2⁶ = 0.031: among three comparisons a lone difference needs
    // 2/2ⁿ < 0.05/3.
    assert_eq!(loss["verdict"], "undecided");
    assert!(
        report["notes"].to_string().contains(
            "with fewer than 7 rounds no single difference among 3 comparisons can be significant"
        ),
        "{report}"
    );
    // All A before all B is no alternation.
    let order = "run0 run6 run1 run7 run2 run8";
    assert!(
        json(&place, &format!("--paired {order}"))["warnings"][0]
            .as_str()
            .unwrap()
            .contains("did not alternate")
    );
}

/// A machine that drifts from trial to trial: the intervals of runs apart allow for it.
#[test]
fn an_unblocked_comparison_says_how_weak_it_is() {
    let drifting = |name: &str, seed| {
        let made = (0..6)
            .fold(Made::new(name, seed), |made, test| made.rate(&format!("t{test}"), 1e6, 20));
        made.with(|journal| {
            for trial in &mut journal.trials {
                let drift = 0.3 * (f64::from(trial.block) * 0.8 + seed as f64).sin();
                let slice = &mut trial.copies[0].slices[0];
                slice.count = (slice.count as f64 * drift.exp()) as u64;
            }
        })
    };
    let place = place(&[
        drifting("a", 1),
        drifting("b", 2),
        Made::new("c", 3).rate("x", 1e6, 3),
        Made::new("d", 4).rate("x", 1e6, 3),
    ]);
    let report = json(&place, "a b");
    for run in report["runs"].as_array().unwrap() {
        assert!(run["drift"]["widening"].as_f64().unwrap() > 1.7, "{run}");
    }
    let one = of(&report, "t0", "score");
    let (low, high) = (one["low"].as_f64().unwrap(), one["high"].as_f64().unwrap());
    assert!(low < -20.0 && high > 20.0, "{one}");
    let flat = testing::flat(&text(&place, "a b"));
    assert!(
        flat.contains("intervals allow for the machine's drift while a run lasts (")
            && flat.contains(" in A"),
        "{flat}"
    );
    let few = testing::flat(&text(&place, "c d"));
    assert!(few.contains("the trials are too few to show any"), "{few}");
}

#[test]
fn more_than_two_are_compared_with_the_first() {
    let run = |name: &str, seed, rate| {
        Made::new(name, seed).rate("syscall", rate, 8).rate("pipe", 1e6, 8)
    };
    let place = place(&[run("a", 21, 1e6), run("b", 22, 8e5), run("c", 23, 1.3e6)]);
    let report = json(&place, "a b c");
    let verdicts: Vec<&str> = report["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["test"] == "syscall")
        .map(|one| one["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["differs", "differs"]);
    assert_eq!(report["runs"][2]["letter"], "C");
    assert_eq!(report["totals"].as_array().unwrap().len(), 2);
}

#[test]
fn the_text_fits_a_terminal() {
    let mut a = Made::new("a-host-with-a-name-2026-11-21-01", 31)
        .rate("syscall", 1e6, 8)
        .rate("pipe", 2.5e9, 8);
    let mut b = Made::new("a-host-with-a-name-2026-11-21-02", 32)
        .rate("syscall", 2e5, 8)
        .rate("pipe", 2.5e9, 8);
    for (made, factor) in [(&mut a, 1.0), (&mut b, 1e-4)] {
        let next = std::mem::replace(made, Made::new("", 0)).rate(
            "a-test-whose-name-is-rather-long",
            0.02 * 1e9,
            8,
        );
        *made = next.rate("spawn", 1e9 * factor, 2).latency("none", 80.0, 2, 1200, 7);
    }
    let a = a.without(&"name-".repeat(20), None, Some("it crashed"));
    let a =
        a.latency("hackbench-and-more", 80.0, 2, 1200, 7).fact("kernel.release", "6.1.0-9-amd64");
    let b =
        b.latency("hackbench-and-more", 400.0, 9, 1200, 7).fact("kernel.release", &"x".repeat(100));
    let place = place(&[a, b]);
    let report = text(&place, "a-host-with-a-name-2026-11-21-01 a-host-with-a-name-2026-11-21-02");
    for line in report.lines() {
        assert!(line.chars().count() <= 80, "{line}\n{report}");
    }
    insta::assert_snapshot!("compare_text", report);
}
