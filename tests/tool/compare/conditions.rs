//! Cells of one condition compared with those of another, in one run and in two.

use super::made::{Made, json, of, place, text};
use journal::{Copy, Journal, Trial};
use testing::stderr;

/// A run on a machine that drifts by a factor of two, whose conditions `none` and `audit=all` are
/// measured in the same blocks; the latter takes `cost` of the rate.
fn drifting(name: &str, seed: u64, cost: f64) -> Made {
    let made =
        Made::new(name, seed).rate("syscall", 1e6, 12).rate("syscall", 1e6 * (1.0 - cost), 12);
    let made = made.rate("pipe", 1e6, 12).rate("pipe", 1e6, 12).rate("spawn", 1e3, 12);
    made.with(|journal: &mut Journal| {
        for cell in [1, 3] {
            journal.cells[cell].key.condition = "audit=all".to_owned();
        }
        for Trial { block, copies, .. } in &mut journal.trials {
            let drift = [1.0, 0.6, 1.2, 0.8, 1.1, 0.7][*block as usize % 6];
            for Copy { slices, .. } in copies {
                slices[0].count = (slices[0].count as f64 * drift) as u64;
            }
        }
    })
}

#[test]
fn within_one_run_by_blocks() {
    let place = place(&[drifting("a", 1, 0.2)]);
    for words in ["a --conditions none,audit=all", "a a --conditions none,audit=all"] {
        let report = json(&place, words);
        let all = report["comparisons"].as_array().unwrap();
        let cost = of(&report, "syscall", "score");
        assert_eq!(
            (cost["test"].as_str(), cost["condition"].as_str()),
            (Some("syscall"), Some("audit=all"))
        );
        assert_eq!(
            (cost["method"].as_str(), cost["verdict"].as_str()),
            (Some("signed-rank"), Some("slower"))
        );
        assert!((cost["delta"].as_f64().unwrap() + 20.0).abs() < 6.0, "{cost}");
        assert_eq!(all.len(), 2, "{report}");
        // The total too is by blocks.
        let total = &report["totals"][0];
        assert!(total["high"].as_f64().unwrap() < 0.0, "{total}");
        assert_eq!(report["missing"][0]["test"], "spawn");
        assert_eq!(report["runs"][1]["condition"], "audit=all");
        assert!(report["notes"].to_string().contains("in the same blocks"), "{report}");
    }
    let text = text(&place, "a --conditions none,audit=all");
    assert!(
        text.contains("condition none")
            && text.contains("procedure, condition\n                 audit=all"),
        "{text}"
    );
    // The other way round it is a gain.
    let report = json(&place, "a --conditions audit=all,none");
    assert_eq!(of(&report, "syscall", "score")["verdict"], "faster");
}

#[test]
fn of_two_runs() {
    let place = place(&[
        drifting("a", 1, 0.1),
        drifting("b", 2, 0.5),
        drifting("c", 3, 0.5),
        drifting("d", 4, 0.5),
    ]);
    let report = json(&place, "a b --conditions none,audit=all");
    let cost = of(&report, "syscall", "score");
    // The drift of either run, a factor of two, is in what they share no blocks for.
    assert_eq!(
        (cost["verdict"].as_str(), cost["method"].as_str()),
        (Some("undecided"), Some("rank-sum"))
    );
    assert!((cost["delta"].as_f64().unwrap() + 50.0).abs() < 15.0, "{report}");
    // Of rounds, A is what was changed: the first condition.
    let report = json(&place, "--paired b b c c d d --conditions audit=all,none");
    let cost = of(&report, "syscall", "score");
    assert_eq!((cost["condition"].as_str(), cost["run"].as_str()), (Some("audit=all"), Some("A")));
    assert!((cost["delta"].as_f64().unwrap() + 50.0).abs() < 3.0, "{cost}");
    assert_eq!(report["thesis"]["rows"][0]["condition"], "audit=all");
}

#[test]
fn conditions_that_are_not_there() {
    let place = place(&[drifting("a", 1, 0.1), Made::new("b", 2).rate("syscall", 1e6, 8)]);
    for (words, told) in [
        (
            "a b --conditions none,audit=all",
            "'b' has no cell under the condition 'audit=all'; it has: none",
        ),
        ("a --conditions none,thp=never", "it has: audit=all, none"),
        ("a --conditions none", "'none' is not two conditions; try none,audit=all"),
        ("a --conditions none,none", "are the same run"),
        ("a", "needs two runs"),
    ] {
        let output = place.unixmark(&format!("compare {words}")).output().unwrap();
        assert!(
            output.status.code() == Some(2) && stderr(&output).contains(told),
            "{words}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_gate_names_the_condition_and_how_to_look_again() {
    let place = place(&[drifting("a", 1, 0.2)]);
    let output =
        place.unixmark("compare a --conditions none,audit=all --fail-on 5%").output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    for told in [
        "syscall (score, 1 copy, load none, condition audit=all) is slower in B",
        "`unixmark cost audit=all syscall -c 1`",
        "`unixmark compare a --conditions none,audit=all --fail-on 5% --confirm latest`",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn their_energy_is_compared_within_blocks() {
    let metered = drifting("a", 1, 0.2).fact("run.energy", "meter").with(|journal| {
        journal
            .trials
            .iter_mut()
            .for_each(|trial| trial.energy = Some(journal::Energy::new(40.0, 1.0)));
    });
    let place = place(&[metered]);
    let report = json(&place, "a --conditions none,audit=all");
    let energy = of(&report, "syscall", "energy");
    assert_eq!(
        (energy["method"].as_str(), energy["verdict"].as_str()),
        (Some("signed-rank"), Some("worse"))
    );
    let [delta, low, high] = ["delta", "low", "high"].map(|key| energy[key].as_f64().unwrap());
    assert!(
        low < 25.0 && 25.0 < high && (delta - 25.0).abs() < 6.0,
        "a fifth less work at the same power: {energy}"
    );
}
