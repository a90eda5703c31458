//! Tail areas of the normal and of Student's distribution, as two-sided p values, and their
//! quantiles; those of the chi-square distribution.

use crate::Exact;

/// The 97.5 % quantile of the standard normal distribution: half the width of a 95 % interval in
/// standard errors.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;

/// From this many degrees of freedom Student's distribution is treated as the normal one: quantiles
/// differ by < 1e-6.
const NORMAL_FROM_DEGREES: f64 = 1e7;

/// Terms of a continued fraction; some thirty are enough.
const MAX_TERMS: u32 = 300;

/// P(|Z| ≥ `z`) of a standard normal Z; 1 of NaN. The relative error is below 1.2e-7 (Press et al.,
/// Numerical Recipes, 3rd ed., §6.2.2).
pub fn normal_p(z: f64) -> f64 {
    const SERIES: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    if z.is_nan() {
        return 1.0;
    }
    let x = z.abs() / std::f64::consts::SQRT_2;
    if x.is_infinite() {
        return 0.0;
    }

    let t = 1.0 / (1.0 + 0.5 * x);
    let sum = SERIES.iter().rev().fold(0.0, |sum, term| sum * t + term);
    (t * (sum - x * x).exponential()).min(1.0)
}

/// z with P(|Z| ≥ z) = `p` of a standard normal Z; infinite of 0.
pub fn normal_quantile(p: f64) -> f64 {
    find_quantile(p, normal_p)
}

/// t with P(|T| ≥ t) = `p` of Student's T with `degrees` of freedom; infinite of 0.
pub fn student_quantile(p: f64, degrees: f64) -> f64 {
    find_quantile(p, |t| student_p(t, degrees))
}

/// The 97.5 % quantile of Student's t: half the width of a 95 % interval in standard errors of
/// `degrees` degrees of freedom. Infinite if these are 0 or NaN.
pub fn quantile_975(degrees: f64) -> f64 {
    if degrees >= NORMAL_FROM_DEGREES { NORMAL_975 } else { student_quantile(0.05, degrees) }
}

/// The 2.5 and 97.5 % quantiles of the chi-square distribution with `degrees` of freedom: those of
/// `degrees` times an estimated variance over the true one. With 4 degrees they are off by less
/// than 8 %, from 14 on by less than 1 % (Wilson & Hilferty 1931).
pub fn chi_square_quantiles(degrees: f64) -> (f64, f64) {
    let spread = 2.0 / (9.0 * degrees);
    let quantile = |z: f64| degrees * (1.0 - spread + z * spread.sqrt()).max(0.0).powi(3);
    (quantile(-NORMAL_975), quantile(NORMAL_975))
}

/// The greatest point at which a falling tail is looked for.
const MAX_QUANTILE: f64 = 1e9;

/// Halvings of an interval that leave no number between its ends, with some to spare.
const MAX_HALVINGS: usize = 100;

/// The point at which a falling tail is `p`, by bisection; infinity if it is beyond
/// [`MAX_QUANTILE`].
fn find_quantile(p: f64, tail: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high) > p {
        (low, high) = (high, 2.0 * high);
        if high > MAX_QUANTILE {
            return f64::INFINITY;
        }
    }

    for _ in 0..MAX_HALVINGS {
        let middle = f64::midpoint(low, high);
        let is_between = low < middle && middle < high;
        if !is_between {
            break;
        }
        if tail(middle) > p { low = middle } else { high = middle }
    }
    high
}

/// P(|T| ≥ `t`) of Student's T with `degrees` of freedom; 1 of NaN (Abramowitz & Stegun, 26.7.1:
/// the incomplete beta function of ν/(ν + t²)).
pub fn student_p(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    if degrees >= NORMAL_FROM_DEGREES {
        return normal_p(t);
    }

    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5).clamp(0.0, 1.0)
}

/// The regularised incomplete beta function Iₓ(a, b) (Press et al., §6.4).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)
        + a * x.natural_log()
        + b * (-x).log_of_1_plus())
    .exponential();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    // Numbers that are divided by are kept off 0.
    let off_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };

    let mut c = 1.0;
    let mut d = 1.0 / off_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    for term in 1..MAX_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = product;
        for step in [even, odd] {
            d = 1.0 / off_zero(1.0 + step * d);
            c = off_zero(1.0 + step / c);
            product *= c * d;
        }
        if (product / before - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

/// ln Γ(x) for x > 0, by Lanczos' approximation with g = 7 and n = 9; error below 1e-13.
pub(super) fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // Γ(x) Γ(1 − x) = π ÷ sin πx.
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sine()).natural_log()
            - ln_gamma(1.0 - x);
    }
    let mut sum = 0.999_999_999_999_809_9;
    let mut place = x - 1.0;
    let base = place + 7.5;
    for term in TERMS {
        place += 1.0;
        sum += term / place;
    }
    0.5 * (2.0 * std::f64::consts::PI).natural_log() + (x - 0.5) * base.natural_log() - base
        + sum.natural_log()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz & Stegun, table 26.1, and the usual critical values.
    #[test]
    fn normal_tails() {
        for (z, p) in [
            (0.0, 1.0),
            (1.0, 0.317_310_5),
            (1.959_964, 0.05),
            (2.575_829, 0.01),
            (5.0, 5.733_03e-7),
        ] {
            assert!((normal_p(z) / p - 1.0).abs() < 2e-6, "{z}: {}", normal_p(z));
            assert!((normal_p(-z) - normal_p(z)).abs() < 1e-15);
        }
        assert_eq!((normal_p(f64::INFINITY), normal_p(f64::NAN)), (0.0, 1.0));
    }

    /// Abramowitz & Stegun, table 26.10; one degree is Cauchy's: 1 − 2·atan(t)/π.
    #[test]
    fn student_tails() {
        for (t, degrees, p) in [
            (12.706_2, 1.0, 0.05),
            (2.570_58, 5.0, 0.05),
            (2.228_14, 10.0, 0.05),
            (3.169_27, 10.0, 0.01),
            (0.879_058, 10.0, 0.4),
            (2.042_27, 30.0, 0.05),
            (1.0, 1.0, 0.5),
            (1.959_97, 1e7, 0.05),
        ] {
            assert!(
                (student_p(t, degrees) / p - 1.0).abs() < 2e-5,
                "{t}, {degrees}: {}",
                student_p(t, degrees)
            );
        }
        assert_eq!(student_p(0.0, 4.0), 1.0);
        assert_eq!((student_p(f64::INFINITY, 4.0), student_p(f64::NAN, 4.0)), (0.0, 1.0));
    }

    #[test]
    fn quantiles_are_where_the_tails_are() {
        assert!(
            (normal_quantile(0.05) - 1.959_964).abs() < 1e-5 && (normal_quantile(1.0)).abs() < 1e-6
        );
        assert!((student_quantile(0.05, 5.0) - 2.570_58).abs() < 1e-4);
        assert!((student_quantile(0.01, 10.0) - 3.169_27).abs() < 1e-4);
        assert!(student_quantile(0.0, 3.0).is_infinite());
    }

    /// Abramowitz & Stegun, table 26.10, and numerical integration of the density.
    #[test]
    fn half_widths_in_standard_errors() {
        for (degrees, quantile) in [
            (1.0, 12.706_205),
            (2.0, 4.302_653),
            (2.5, 3.574_655),
            (9.0, 2.262_157),
            (30.0, 2.042_272),
            (45.0, 2.014_103),
            (1e6, 1.959_966),
            (1e9, 1.959_964),
            (f64::INFINITY, 1.959_964),
        ] {
            let found = quantile_975(degrees);
            assert!((found - quantile).abs() < 2e-6, "{degrees}: {found}");
        }
        assert!((normal_quantile(0.05) - NORMAL_975).abs() < 2e-7);
        assert!(quantile_975(0.0).is_infinite());
        assert!(quantile_975(f64::NAN).is_infinite());
    }

    /// Abramowitz & Stegun, table 26.8.
    #[test]
    fn chi_square_quantiles_are_close_to_the_table() {
        for (degrees, low, high, error) in [
            (4.0, 0.484_419, 11.143_3, 0.08),
            (14.0, 5.628_73, 26.119_0, 0.01),
            (30.0, 16.790_8, 46.979_2, 0.01),
        ] {
            let found = chi_square_quantiles(degrees);
            assert!((found.0 / low - 1.0).abs() < error, "{degrees}: {found:?}");
            assert!((found.1 / high - 1.0).abs() < error, "{degrees}: {found:?}");
        }
    }
}
