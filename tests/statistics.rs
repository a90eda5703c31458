//! The intervals hold what they promise, shown by simulation with a fixed seed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use unixmark::stats::{Sampled, log_interval, mean_half_width, median, median_interval};

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
}

/// Noise as a shared machine has it: a normal part, and now and then a stall that only slows.
fn noise(random: &mut Pcg64Mcg) -> f64 {
    let stall = if random.random::<f64>() < 0.15 { -0.3 * random.random::<f64>() } else { 0.0 };
    0.02 * normal(random) + stall
}

fn share(times: usize, mut holds: impl FnMut() -> bool) -> f64 {
    (0..times).filter(|_| holds()).count() as f64 / times as f64
}

#[test]
fn a_median_s_interval_covers_whatever_the_noise() {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    // The population's median, from a large sample.
    let population: Vec<f64> = (0..400_001).map(|_| noise(&mut random).exp()).collect();
    let truth = median(&population);
    for n in [6, 8, 12, 20] {
        let covered = share(4000, || {
            let sample: Vec<f64> = (0..n).map(|_| noise(&mut random).exp()).collect();
            let interval = median_interval(&sample);
            interval.low <= truth && truth <= interval.high
        });
        // At least 95 %, and not all of it: the exact coverage is 1 − 2·P(Binomial(n, ½) < k).
        assert!((0.94..0.997).contains(&covered), "n = {n}: {covered}");
    }
}

#[test]
fn student_s_interval_covers_under_log_normal_noise() {
    let mut random = Pcg64Mcg::seed_from_u64(12);
    for n in [2, 3, 5, 10] {
        let covered = share(4000, || {
            let logs: Vec<f64> = (0..n).map(|_| 0.03 * normal(&mut random)).collect();
            let sample: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            let mean = (logs.iter().sum::<f64>() / f64::from(n)).exp();
            let interval = log_interval(mean, &sample);
            interval.low <= 1.0 && 1.0 <= interval.high
        });
        assert!((0.94..0.96).contains(&covered), "n = {n}: {covered}");
    }
}

fn median_log(values: &[f64]) -> f64 {
    median(values).ln()
}

/// The index of twelve tests, with noise of each test's own and noise common to a block.
fn index_coverage(blocks: usize, common: f64, mixed: bool) -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(13);
    share(600, || {
        let shared: Vec<f64> = (0..blocks).map(|_| common * normal(&mut random)).collect();
        let tests: Vec<Vec<f64>> = (0..12)
            .map(|test| {
                let own = 0.005 * f64::from(test + 1);
                shared.iter().map(|shared| (shared + own * normal(&mut random)).exp()).collect()
            })
            .collect();
        // Tests whose interval is narrow are closed early: every other one has the first half only.
        let tests: Vec<&[f64]> = tests
            .iter()
            .enumerate()
            .map(|(number, test)| if mixed && number % 2 == 0 { &test[..blocks / 2] } else { &test[..] })
            .collect();
        let index = tests.iter().map(|test| median_log(test)).sum::<f64>() / 12.0;
        let samples: Vec<Sampled<'_>> = tests.iter().map(|values| Sampled { values, statistic: &median_log }).collect();
        index.abs() <= mean_half_width(&samples)
    })
}

#[test]
fn an_index_s_interval_covers() {
    for (blocks, common, mixed) in
        [(6, 0.0, false), (6, 0.02, false), (12, 0.0, false), (12, 0.02, false), (12, 0.0, true), (12, 0.02, true)]
    {
        let covered = index_coverage(blocks, common, mixed);
        assert!((0.93..=0.995).contains(&covered), "{blocks} blocks, common noise {common}, {mixed}: {covered}");
    }
}

#[test]
fn an_index_s_interval_is_not_absurdly_wide() {
    // Twelve tests of 1 % noise, 12 blocks: the standard error of a median is 1.25·0.01/√12, that of
    // the mean of twelve a √12-th of it, so the half-width should be near 2.1·0.00104 = 0.0022.
    let mut random = Pcg64Mcg::seed_from_u64(14);
    let tests: Vec<Vec<f64>> = (0..12).map(|_| (0..12).map(|_| (0.01 * normal(&mut random)).exp()).collect()).collect();
    let samples: Vec<Sampled<'_>> = tests.iter().map(|values| Sampled { values, statistic: &median_log }).collect();
    let half = mean_half_width(&samples);
    assert!((0.0012..0.004).contains(&half), "{half}");
    assert!(mean_half_width(&samples[..0]).is_infinite());
    let one = [Sampled { values: &tests[0][..1], statistic: &median_log }];
    assert!(mean_half_width(&one).is_infinite());
    let flat = [5.0; 8];
    assert_eq!(mean_half_width(&[Sampled { values: &flat, statistic: &median_log }]), 0.0);
}
