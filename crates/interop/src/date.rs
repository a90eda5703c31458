//! Dates as reports print them.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

/// The time in which one level of copies was measured, by the clock of the machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Period {
    /// The start, where the machine was.
    pub start: DateTime,
    /// Hours east of Greenwich, where the report tells.
    pub zone: Option<i8>,
    /// Its length in seconds; 0 where the report tells only the start.
    pub seconds: f64,
}

/// Zones by the names that BYTE's reports carry and that stand for one offset only, each with its hours east of
/// Greenwich.
const ZONES: &str = "UTC 0 GMT 0 WET 0 WEST 1 CET 1 CEST 2 MET 1 MEST 2 EET 2 EEST 3 MSK 3 JST 9 AEST 10 EST -5 EDT -4 \
                     CDT -5 MST -7 MDT -6 PST -8 PDT -7";

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl Period {
    /// Reads "Sat Nov 21 2026 03:12:55 - 03:14:35", "Mon, June 25, 2018 20:25:47 - 20:54:19" or
    /// "Fri Jul 8 09:37:08 EDT 1994"; nothing where year, month, day or time is missing.
    pub fn read(text: &str) -> Option<Period> {
        let words: Vec<&str> = text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
        let number = |digits: std::ops::RangeInclusive<usize>| {
            let fits = |word: &&&str| digits.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
            words.iter().find(fits)?.parse::<i16>().ok()
        };
        let month = words.iter().find_map(|word| month(word))?;
        let day = i8::try_from(number(1..=2)?).ok()?;
        let date = Date::new(number(4..=4)?, month, day).ok()?;
        let mut times = words.iter().filter_map(|word| time(word));
        let start = date.to_datetime(times.next()?);
        let seconds = times.next().map_or(0.0, |end| after(start.time(), end));
        let zone = words.iter().find_map(|word| zone(word));
        Some(Period { start, zone, seconds })
    }

    /// Returns the start as RFC 3339 has it; a clock whose zone is not told is taken for UTC.
    pub fn rfc3339(&self) -> Option<String> {
        let offset = Offset::from_hours(self.zone.unwrap_or(0)).ok()?;
        let start = offset.to_timestamp(self.start).ok()?;
        Some(if self.zone.is_some() { start.display_with_offset(offset).to_string() } else { start.to_string() })
    }

    /// Returns the seconds from this one's start to the end of `last`; 0 where that is earlier.
    pub fn until(&self, last: &Period) -> f64 {
        let between = last.start.duration_since(self.start).as_secs_f64();
        (between + last.seconds).max(0.0)
    }
}

/// Returns a Unix time in seconds as a time stamp of RFC 3339; `None` if it is out of range.
pub(super) fn since_1970(seconds: f64) -> Option<String> {
    jiff::Timestamp::from_second(seconds as i64).ok().map(|moment| moment.to_string())
}

/// Returns a time such as `2026-11-22 19:20:42`, whose zone is unknown and taken as UTC, as a time stamp of RFC 3339.
pub(super) fn plain(text: &str) -> Option<String> {
    utc(text.trim().parse().ok()?)
}

/// Returns the moment of `20261122-192042`, likewise.
pub(super) fn packed(text: &str) -> Option<String> {
    utc(DateTime::strptime("%Y%m%d-%H%M%S", text.trim()).ok()?)
}

/// Returns the moment of `Sun, 22 Nov 2026 19:20:42 +0000`, as RFC 3339 has it.
pub(super) fn of_mail(text: &str) -> Option<String> {
    jiff::fmt::rfc2822::parse(text.trim()).ok().map(|moment| moment.timestamp().to_string())
}

fn utc(moment: DateTime) -> Option<String> {
    Offset::UTC.to_timestamp(moment).ok().map(|moment| moment.to_string())
}

/// Returns host and start, RFC 3339 at midnight, that a file's name `HOST-YYYY-MM-DD-NN` tells.
pub(super) fn from_file_name(name: &str) -> Option<(String, String)> {
    let name = ["log", "txt", "html", "csv", "json", "xml"]
        .iter()
        .find_map(|end| name.strip_suffix(&format!(".{end}")))
        .unwrap_or(name);
    let mut parts = name.rsplitn(5, '-');
    let number: u32 = digits(parts.next()?)?;
    let [day, month] = [digits::<i8>(parts.next()?)?, digits(parts.next()?)?];
    let date = Date::new(digits(parts.next()?)?, month, day).ok()?;
    let host = parts.next().filter(|host| !host.is_empty() && number > 0)?;
    Some((host.to_owned(), format!("{date}T00:00:00Z")))
}

fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Returns the hours of a zone east of Greenwich.
fn zone(word: &str) -> Option<i8> {
    let mut words = ZONES.split(' ').skip_while(|name| *name != word);
    words.nth(1)?.parse().ok()
}

fn month(word: &str) -> Option<i8> {
    let start = word.get(..3)?.to_ascii_lowercase();
    let place = MONTHS.iter().position(|month| *month == start)?;
    i8::try_from(place + 1).ok()
}

fn time(word: &str) -> Option<Time> {
    let mut parts = word.split(':').map(digits::<i8>);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() { None } else { Time::new(hour, minute, second, 0).ok() }
}

/// Seconds from `start` to `end`, which may be on the next day.
fn after(start: Time, end: Time) -> f64 {
    let seconds = end.duration_since(start).as_secs_f64();
    if seconds < 0.0 { seconds + 86_400.0 } else { seconds }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<(String, f64)> {
        let period = Period::read(text)?;
        Some((period.rfc3339()?, period.seconds))
    }

    #[test]
    fn three_suites_dates() {
        let cases = [
            ("Sat Nov 21 2026 03:12:55 - 03:14:35", "2026-11-21T03:12:55Z", 100.0),
            ("Mon, June 25, 2018 20:25:47 - 20:54:19", "2018-06-25T20:25:47Z", 1712.0),
            ("Fri Jul 8 09:37:08 EDT 1994", "1994-07-08T09:37:08-04:00", 0.0),
            ("Thu Dec 31 2026 23:59:00 - 00:01:00", "2026-12-31T23:59:00Z", 120.0),
        ];
        for (text, started, seconds) in cases {
            assert_eq!(told(text), Some((started.to_owned(), seconds)), "{text}");
        }
    }

    #[test]
    fn half_a_date_is_none() {
        for text in ["", "Sat Nov 21 2026", "Sat Nov 2026 03:12:55", "Feb 30 2026 03:12:55", "Nov 21 2026 03:12:65"] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn levels_add_up() {
        let first = Period::read("Sat Nov 21 2026 03:18:59 - 03:19:32").unwrap();
        let last = Period::read("Sat Nov 21 2026 03:19:32 - 03:19:58").unwrap();
        assert_eq!(first.until(&last), 59.0);
        assert_eq!(last.until(&first), 0.0);
    }

    #[test]
    fn file_names() {
        let told = |host: &str, date: &str| Some((host.to_owned(), format!("{date}T00:00:00Z")));
        assert_eq!(from_file_name("vm-2026-11-21-01.log"), told("vm", "2026-11-21"));
        assert_eq!(from_file_name("db-3.example.org-2011-01-05-12"), told("db-3.example.org", "2011-01-05"));
        for name in ["", "log", "vm-2026-13-21-01.log", "-2026-11-21-01", "vm-2026-11-21", "vm-+2026-11-21-01"] {
            assert_eq!(from_file_name(name), None, "{name}");
        }
    }
}
