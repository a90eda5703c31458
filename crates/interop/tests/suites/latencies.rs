//! Latencies that cyclictest and rtla print.

use super::*;

#[test]
fn cyclictest() {
    for (text, threads) in [(CYCLIC, 2), (CYCLIC_JSON, 2), (CYCLIC_HISTOGRAM, 2)] {
        let (_, results) = one(text);
        let [least, mean, most] = ["Min", "Avg", "Max"]
            .map(|name| row(&results, &format!("cyclictest {name}")).score.value);
        assert!(least < mean && mean < most, "{least} {mean} {most}");
        assert_eq!(results.figures[0].cell.key.copies, threads);
    }
    let summary = "T: 0 ( 1) P: 0 I:1000 C:   3000 Min:      2 Act:    6 Avg:    5 Max:      30\n\
                   T: 1 ( 2) P: 0 I:1500 C:   1000 Min:      1 Act:    7 Avg:    9 Max:      20\n";
    let (_, results) = one(summary);
    let values =
        ["Min", "Avg", "Max"].map(|name| row(&results, &format!("cyclictest {name}")).score.value);
    assert_eq!(values, [1.0, 6.0, 30.0], "the mean of all cycles");
    assert_eq!(one(CYCLIC_JSON).0.run.started, "2026-11-22T19:20:42Z");
    assert!(refused(&summary[..100]).contains("at line 2"));
    assert!(
        refused(&CYCLIC_JSON.replacen("\"file_version\": 1", "\"file_version\": 7", 1))
            .contains("'7' (line 2)")
    );
}

#[test]
fn rtlas_latencies_and_noise() {
    let timerlat = |results: &Results, kind: &str| {
        ["Min", "Avg", "Max"]
            .map(|name| row(results, &format!("rtla timerlat {kind} {name}")).score.value)
    };
    for text in [TIMERLAT_HISTOGRAM, TIMERLAT_TOP] {
        let (_, results) = one(text);
        assert_eq!(timerlat(&results, "IRQ"), [1.0, 1.25, 12.0], "the mean of all samples");
        assert_eq!(timerlat(&results, "Thread"), [1.0, 5.5, 40.0]);
        let most = row(&results, "rtla timerlat IRQ Max");
        assert_eq!((most.cell.key.copies, most.cell.unit.as_str()), (2, "us"));
    }
    let (_, results) = one(&TIMERLAT_HISTOGRAM.replace("microseconds (us)", "nanoseconds (ns)"));
    assert_eq!(timerlat(&results, "Return to user"), [1.0, 4.0, 8.0]);
    let user = row(&results, "rtla timerlat Return to user Max");
    assert_eq!((user.cell.key.copies, user.cell.unit.as_str()), (1, "ns"));

    let (_, results) = one(OSNOISE_TOP);
    let noise = ["Noise", "Max Noise", "Max Single"]
        .map(|name| row(&results, &format!("rtla osnoise {name}")));
    assert_eq!(noise.map(|figure| figure.score.value), [0.1, 1200.0, 110.0]);
    assert_eq!(noise.map(|figure| figure.cell.unit.as_str()), ["%", "us", "us"]);
    let histogram = "# RTLA osnoise histogram\nIndex CPU-000\ncount: 9\nmin: 1\navg: 2\nmax: 8\n";
    assert_eq!(row(&one(histogram).1, "rtla osnoise Max").score.value, 8.0);

    assert!(
        refused(TIMERLAT_HISTOGRAM.split("avg:").next().unwrap())
            .contains("ends at line 9, without avg:")
    );
    assert!(
        refused(&TIMERLAT_HISTOGRAM.replacen("      9  ", "     x9  ", 1))
            .contains("in line 8: '3000 1 5 x9'")
    );
    assert!(refused(TIMERLAT_TOP.rsplit_once("         7").unwrap().0).contains("at line 10"));
    assert!(refused(OSNOISE_TOP.rsplit_once("         900").unwrap().0).contains("at line 5"));
    assert!(
        refused(OSNOISE_TOP.split("  0 #3").next().unwrap()).contains("without a CPU's figures")
    );
}
