//! Agents: their events and losses, and how they are started and stopped.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use testing::{stderr, stdout};

use crate::experiment::Bench;

#[test]
#[ignore = "changes the system"]
fn an_agent_loses_what_was_planted_at_every_rate() {
    let Some(bench) = Bench::new() else { return };
    let output = bench.cost("agent --rate 1%,2% -i 3 --format json");
    assert!(output.status.success(), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let sentence = report["sentences"][0].as_str().unwrap();
    assert!(sentence.contains(" 10 % of them are lost (10 to 10)"), "{sentence}");
    let costs = report["comparisons"].as_array().unwrap();
    let losses: Vec<_> = costs.iter().map(|cost| &cost["losses"]).collect();
    assert_eq!(losses.len(), 2, "{report}");
    for losses in losses {
        assert_eq!(
            (losses["seen"].as_f64(), losses["lost"].as_f64()),
            (Some(270e6), Some(30e6)),
            "{losses}"
        );
    }
    let evidence = report.to_string();
    for figure in ["agent's processors", "agent's memory"] {
        assert!(evidence.contains(figure), "{evidence}");
    }
    let wrong = bench.cost("miscounts -i 2 syscall");
    assert!(
        stderr(&wrong).contains("its counter events printed 'many'; it must print one number"),
        "{}",
        stderr(&wrong)
    );
    let broken = bench.cost("breaks -i 2 syscall");
    assert!(stderr(&broken).contains("): no such probe"), "{}", stderr(&broken));
    bench.is_put_back();
}

/// Logs as sysdig does: its driver drops one of ten events.
const SYSDIG: &str = r#"#!/bin/sh
while sleep 0.1; do
    made=$((made + 1000))
    echo "11-27 19:41:38.091333 n_evts:$made n_drops:$((made / 10)) n_drops_buffer:0 n_drops_pf:0" >&2
done
"#;

#[test]
#[ignore = "changes the system"]
fn what_sysdig_logs_is_counted() {
    let Some(bench) = Bench::new() else { return };
    let folder = bench.file("bin");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("sysdig"), SYSDIG).unwrap();
    fs::set_permissions(folder.join("sysdig"), PermissionsExt::from_mode(0o755)).unwrap();
    let device = Path::new("/dev/scap0");
    let is_ours = !device.exists() && fs::write(device, "").is_ok();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let words =
        format!("cost --quick --dir {} sysdig -i 2 syscall", bench.place.scratch().display());
    let output = bench.command(&words).env("PATH", path).output();
    if is_ours {
        fs::remove_file(device).unwrap();
    }
    let output = output.unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let losses = &bench.place.json("latest")["comparisons"][0]["losses"];
    let [seen, lost] = ["seen", "lost"].map(|name| losses[name].as_f64().unwrap());
    assert!(lost > 0.0 && seen == 9.0 * lost, "{losses}");
    bench.is_put_back();
}
