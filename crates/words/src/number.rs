//! Numbers for people. A number that is not finite is `-` ([`NOTHING`]), and an interval that is
//! not, `no interval`.

use crate::NOTHING;

/// A score with one decimal, as UnixBench has it, but below 100 with four significant figures, and
/// below 0.1 with three, however small it is.
pub fn score(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        size if size > 0.0 && size < 1e-10 => format!("{value:.2e}"),
        size if size > 0.0 && size < 0.009_995 => {
            format!("{value:.*}", (2.0 - size.log10().floor()) as usize)
        }
        _ => with_decimals(value, &[99.995, 9.9995, 0.999_95], 1),
    }
}

/// A number with `least` decimals, and one more for each border that it is below.
fn with_decimals(value: f64, borders: &[f64], least: usize) -> String {
    let decimals = least + borders.iter().filter(|border| value.abs() < **border).count();
    format!("{value:.decimals$}")
}

/// A number with three significant figures and at most three decimals: `0`, `0.098`, `3.12`, `245`.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        0.0 => "0".to_owned(),
        _ => with_decimals(value, &[99.95, 9.995, 0.995], 0),
    }
}

/// A positive number with three significant figures, and at most 12 decimals.
pub fn fine(value: f64) -> String {
    if value > 0.0 && value < 0.0995 {
        let decimals = (2.0 - value.log10().floor()).min(12.0) as usize;
        format!("{value:.decimals$}")
    } else {
        figure(value)
    }
}

/// A number with four significant figures in at most seven characters, with a letter for thousands:
/// `123.5K`.
pub fn short(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        0.0 => "0".to_owned(),
        size if size >= 999.95e9 => format!("{value:.1e}"),
        size if size >= 999.95e6 => format!("{}G", four_figures(value / 1e9)),
        size if size >= 999.95e3 => format!("{}M", four_figures(value / 1e6)),
        size if size >= 99_999.5 => format!("{}K", four_figures(value / 1e3)),
        _ => four_figures(value),
    }
}

fn four_figures(value: f64) -> String {
    with_decimals(value, &[999.95, 99.995, 9.9995, 0.999_95], 0)
}

/// A number in at most eight columns: `51234568`, `3.28e9`, `0.012`.
pub fn compact(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        size if size >= 1e8 => format!("{value:.2e}"),
        size if size >= 1e5 => format!("{value:.0}"),
        size if size >= 10.0 || size == 0.0 => format!("{value:.1}"),
        size if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// A coefficient such as sigma or kappa with three significant figures, however small:
/// `0.00952`.
pub fn coefficient(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        0.0 => "0".to_owned(),
        size if size < 0.000_05 => format!("{value:.1e}"),
        _ => with_decimals(value, &[9.995, 0.9995, 0.099_95, 0.009_995, 0.000_999_5], 1),
    }
}

/// A number with six decimals, as the tables of the 1994 thesis have; `-` as everywhere for no
/// number.
pub fn millionths(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        size if size < 1e5 => unsigned_zero(format!("{value:.6}")),
        _ => format!("{value:.3e}"),
    }
}

/// A whole number.
pub fn whole(value: f64) -> String {
    if value.is_finite() { format!("{value:.0}") } else { NOTHING.to_owned() }
}

/// An energy in J with three figures in the unit that suits it: `23.2 nJ`.
pub fn joules(joules: f64) -> String {
    let units = [("pJ", 1e-12), ("nJ", 1e-9), ("µJ", 1e-6), ("mJ", 1e-3), ("J", 1.0), ("kJ", 1e3)];
    if !joules.is_finite() {
        return NOTHING.to_owned();
    }

    let (unit, worth) =
        units.into_iter().find(|(_, worth)| joules < 999.5 * worth).unwrap_or(("kJ", 1e3));
    format!("{} {unit}", figure(joules / worth))
}

/// A p or q value in a few characters: `0.040`, `1e-4`.
pub fn probability(value: f64) -> String {
    match value {
        value if !value.is_finite() => NOTHING.to_owned(),
        value if value >= 0.0995 => format!("{value:.2}"),
        value if value >= 0.000_95 => format!("{value:.3}"),
        value if value < 1e-99 => "<1e-99".to_owned(),
        value => format!("{value:.0e}"),
    }
}

/// The changes in per cent beyond which a factor says more: twice, and a twentieth.
pub const MIN_MULTIPLE: f64 = 100.0;
const MAX_FRACTION: f64 = -95.0;

/// A number with one decimal, as UnixBench's index block has.
pub fn tenth(value: f64) -> String {
    if value.is_finite() { format!("{value:.1}") } else { NOTHING.to_owned() }
}

/// A difference with its sign and one decimal; from 1000 on with none, and from 100,000 on as
/// `+1.0e5`, so that it has at most six characters below 10^10: `-10.2`, `+1234`. Zero has no sign.
pub fn signed(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let text = if value.abs() >= 999.95 { format!("{value:+.0}") } else { format!("{value:+.1}") };
    let text = if text.len() > 6 { format!("{value:+.1e}") } else { text };
    unsigned_zero(text)
}

/// A difference with its sign, with hundredths below one: `-85.2`, `-0.03`. Zero has no
/// sign.
pub fn signed_fine(value: f64) -> String {
    if value.is_finite() && value.abs() < 0.995 {
        unsigned_zero(format!("{value:+.2}"))
    } else {
        signed(value)
    }
}

/// The text of a difference, without its sign if all digits are zero.
fn unsigned_zero(text: String) -> String {
    let is_zero = text.bytes().all(|byte| !(b'1'..=b'9').contains(&byte));
    if is_zero { text.trim_start_matches(['+', '-']).to_owned() } else { text }
}

/// A size without its sign as an upper bound: two figures, at least 0.1, rounded away from
/// zero; no number from 1000 on.
pub fn at_least(value: f64) -> String {
    // A little less, since 0.1 × 10 may exceed 1 in binary.
    let up = |scale: f64| (value.abs() * scale - 1e-9).ceil() / scale;
    match up(10.0) {
        tenths if !tenths.is_finite() || tenths >= 1000.0 => NOTHING.to_owned(),
        tenths if tenths < 10.0 => format!("{:.1}", tenths.max(0.1)),
        _ => format!("{:.0}", up(1.0)),
    }
}

/// A share of 1 in per cent with a tenth: `62.5%`.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1}%", share * 100.0) } else { NOTHING.to_owned() }
}

/// A percentage as prose has it: `62.5 %`.
pub fn percentage(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", share * 100.0) } else { NOTHING.to_owned() }
}

/// A share that is in per cent already, without its sign: whole where it is whole, and
/// never 100 where anything is missing: `99.9`, `<0.1`.
pub fn share(percent: f64) -> String {
    match percent {
        share if !share.is_finite() => NOTHING.to_owned(),
        share if share > 99.9 && share < 100.0 => "99.9".to_owned(),
        share if share > 0.0 && share < 0.1 => "<0.1".to_owned(),
        share if share.fract() == 0.0 || share >= 100.0 => format!("{share:.0}"),
        share => format!("{share:.1}"),
    }
}

/// A quotient of times or rates: `6.77x`, `22.9x`.
pub fn factor(value: f64) -> String {
    match value {
        factor if !factor.is_finite() => NOTHING.to_owned(),
        factor if factor < 9.995 => format!("{factor:.2}x"),
        factor => format!("{}x", figure(factor)),
    }
}

/// A change in per cent as people read it: `+28.6%`; from twice on the factor, `91x`; from a
/// twentieth down its inverse, `1/45x`.
pub fn change(percent: f64) -> String {
    let number = change_like(percent)(percent);
    if number == NOTHING || is_factor(percent) { number } else { format!("{number}%") }
}

/// True if a change of so many per cent is written as a factor.
pub fn is_factor(percent: f64) -> bool {
    let is_multiple = percent >= MIN_MULTIPLE && percent.is_finite();
    let is_fraction = percent <= MAX_FRACTION && percent > -100.0;
    is_multiple || is_fraction
}

/// How the ends of the interval around a change of `percent` are written: as the change itself, and
/// without its `%`.
pub fn change_like(percent: f64) -> fn(f64) -> String {
    let multiple = |end: f64| factor(1.0 + end / 100.0);
    let fraction = |end: f64| match factor(1.0 / (1.0 + end / 100.0)) {
        missing if missing == NOTHING => missing,
        inverse => format!("1/{inverse}"),
    };
    if !is_factor(percent) {
        return signed_fine;
    }
    if percent > 0.0 { multiple } else { fraction }
}

/// A gain with two decimals, however large: `1.40x`.
pub fn gain(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}x") } else { NOTHING.to_owned() }
}

/// A number's text without the digits that its interval leaves open: it ends with the second
/// significant digit of the interval's half-width, and keeps at least two digits (Guide to the
/// Expression of Uncertainty in Measurement, §7.2.6). Text that does not begin with a plain number
/// of the usual size, such as `12.3K`, stays as it is.
pub fn known(text: String, half: f64) -> String {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let Ok(value) = number.parse::<f64>() else {
        return text;
    };
    // Beyond 2^53 a number has no digits to leave out.
    let plain = value > 0.0 && value < 9e15 && half > 0.0 && half < 9e15;
    if !plain || !["", "x"].contains(&rest) {
        return text;
    }

    let last = half.log10().floor().min(value.log10().floor()) as i32 - 1;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if last >= 0 {
        let unit = 10_f64.powi(last);
        return format!("{:.0}{rest}", (value / unit).round() * unit);
    }

    format!("{value:.*}{rest}", decimals.min(last.unsigned_abs() as usize))
}

/// The ratio of the halves of an interval from which both are written.
const MIN_LOPSIDED_RATIO: f64 = 1.5;

/// The halves of an interval below and above the value, shares of it, in per cent: `±0.4%`,
/// or `-3/+17%` where they differ. One that is larger than the value is a factor up and down,
/// `×÷3.1`.
pub fn plus_minus([down, up]: [f64; 2]) -> String {
    let (less, more) = (down.min(up), down.max(up));
    let decimals = usize::from(more * 100.0 < 9.95);
    match more * 100.0 {
        s if !s.is_finite() => "no interval".to_owned(),
        s if s >= 9850.0 => "×÷>99".to_owned(),
        s if s >= 895.0 => format!("×÷{:.0}", more + 1.0),
        s if s > 100.0 => format!("×÷{:.1}", more + 1.0),
        s if s >= 0.15 && more > less * MIN_LOPSIDED_RATIO => {
            format!("-{:.decimals$}/+{:.decimals$}%", down * 100.0, up * 100.0)
        }
        s => format!("±{s:.decimals$}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User review of 2026-11, person 3: a loss of 91 times was `+9050 %`.
    #[test]
    fn large_changes_are_factors() {
        for (percent, shown) in [
            (28.6, "+28.6%"),
            (-0.04, "-0.04%"),
            (99.9, "+99.9%"),
            (100.0, "2.00x"),
            (9050.0, "91.5x"),
            (-85.2, "-85.2%"),
            (-97.8, "1/45.5x"),
            (-100.0, "-100.0%"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(change(percent), shown);
        }
    }

    #[test]
    fn units_suit_the_energy() {
        for (energy, shown) in [
            (2.5e-13, "0.250 pJ"),
            (23.2e-9, "23.2 nJ"),
            (999.6e-6, "1.00 mJ"),
            (5.0, "5.00 J"),
            (2e6, "2000 kJ"),
        ] {
            assert_eq!(joules(energy), shown);
        }
        assert_eq!(joules(f64::NAN), "-");
    }

    #[test]
    fn half_widths() {
        for (spread, shown) in [
            (0.004, "±0.4%"),
            (0.22, "±22%"),
            (1.0, "±100%"),
            (2.12, "×÷3.1"),
            (11.0, "×÷12"),
            (1e4, "×÷>99"),
            (f64::INFINITY, "no interval"),
        ] {
            assert_eq!(plus_minus([spread, spread]), shown);
        }
        for (down, up, shown) in [
            (0.03, 0.17, "-3/+17%"),
            (0.012, 0.004, "-1.2/+0.4%"),
            (0.1, 0.14, "±14%"),
            (0.0004, 0.001, "±0.1%"),
        ] {
            assert_eq!(plus_minus([down, up]), shown);
        }
    }

    #[test]
    fn digits_that_an_interval_leaves_open_are_not_shown() {
        for (text, half, shown) in [
            ("60546874.8", 7.9e6, "60500000"),
            ("982.4", 29.0, "982"),
            ("982.5", 2.9, "982.5"),
            ("9.876", 0.3, "9.88"),
            ("1.87x", 0.4, "1.87x"),
            ("18.18x", 6.0, "18.2x"),
            ("123.4", 5000.0, "120"),
            ("123.4", f64::INFINITY, "123.4"),
            ("12.3K", 3000.0, "12.3K"),
            ("-", 1.0, "-"),
        ] {
            assert_eq!(known(text.to_owned(), half), shown);
        }
    }

    #[test]
    fn small_scores_keep_their_figures() {
        for (value, shown) in [
            (0.031, "0.0310"),
            (2.2e-5, "0.0000220"),
            (-0.004, "-0.00400"),
            (3e-12, "3.00e-12"),
            (0.0, "0.0000"),
            (1.25, "1.250"),
            (99.96, "99.96"),
            (1544834.0, "1544834.0"),
        ] {
            assert_eq!(score(value), shown);
        }
        assert_eq!(fine(0.000_123_4), "0.000123");
    }

    #[test]
    fn short_numbers_fit_seven_columns() {
        let shown = [
            (1137.0, "1137"),
            (20.8, "20.80"),
            (0.098, "0.0980"),
            (99_999.0, "99999"),
            (123_456.0, "123.5K"),
            (999_960.0, "1.000M"),
            (41_234_567.0, "41.23M"),
            (9_876_543_210.0, "9.877G"),
            (1e13, "1.0e13"),
        ];
        for (value, text) in shown {
            assert_eq!(short(value), text);
            assert!(text.len() <= 7);
        }

        for (value, text) in [
            (0.580_95, "0.581"),
            (0.009_524, "0.00952"),
            (-0.04, "-0.0400"),
            (2.3, "2.30"),
            (1e-7, "1.0e-7"),
        ] {
            assert_eq!(coefficient(value), text);
        }
        for (number, text) in
            [(51_234_567.8, "51234568"), (3.28e9, "3.28e9"), (0.0123, "0.012"), (99.97, "100.0")]
        {
            assert_eq!(compact(number), text);
        }
    }

    #[test]
    fn differences_have_signs_and_zero_has_none() {
        for (number, text) in [
            (-10.24, "-10.2"),
            (1234.4, "+1234"),
            (0.0, "0.0"),
            (-0.04, "0.0"),
            (99_999.0, "+99999"),
            (4e12, "+4.0e12"),
        ] {
            assert_eq!(signed(number), text);
        }
        assert_eq!([-1e-9, -2.5, 1e6].map(millionths), ["0.000000", "-2.500000", "1.000e6"]);
        for (number, text) in [(-0.004, "0.00"), (-0.03, "-0.03"), (-85.24, "-85.2")] {
            assert_eq!(signed_fine(number), text);
        }
    }

    #[test]
    fn bounds_round_away_from_zero() {
        for (number, text) in
            [(0.04, "0.1"), (0.4, "0.4"), (0.41, "0.5"), (9.95, "10"), (12.01, "13"), (5e3, "-")]
        {
            assert_eq!(at_least(number), text);
        }
    }

    #[test]
    fn probabilities_are_short() {
        for (value, shown) in [(1.0, "1.00"), (0.04, "0.040"), (0.0001, "1e-4"), (0.0, "<1e-99")] {
            assert_eq!(probability(value), shown);
        }
    }
}
