//! Sizes of memory and files.

use crate::NOTHING;

/// A size in binary units: `512 bytes`, `1.5 KiB`, `32 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = count as f64;
    let mut unit = 0;
    // From 1000 on there are no decimals, so 1023.5 would be shown as 1024.
    while value >= if unit == 0 { 1024.0 } else { 1023.5 } && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }

    let decimals = usize::from(value.fract() != 0.0 && value < 1000.0);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// A rate in bytes per second: `1.5 GiB/s`.
pub fn bytes_per_second(rate: f64) -> String {
    if rate.is_finite() { format!("{}/s", bytes(rate as u64)) } else { NOTHING.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (count, shown) in
            [(512, "512 bytes"), (1536, "1.5 KiB"), (32 << 20, "32 MiB"), (u64::MAX, "16384 PiB")]
        {
            assert_eq!(bytes(count), shown);
        }

        assert_eq!(
            (bytes_per_second(1536.0).as_str(), bytes_per_second(f64::NAN).as_str()),
            ("1.5 KiB/s", "-")
        );
    }
}
