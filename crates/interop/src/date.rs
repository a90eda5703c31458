//! Dates as reports print them.
//!
//! UnixBench and BYTE print what `date` of their day and locale did, which [`Period::read`] takes
//! apart by its words: a year has four digits, a day one or two, and a month is a name or has a
//! counter (月). Of a clock whose zone is unknown the time is taken as UTC. All other forms have a
//! function of their own, and every function gives a time stamp as RFC 3339 has it.

use std::ops::RangeInclusive;

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

use super::lines;

/// The time in which one level of copies was measured, by the machine's clock.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Period {
    /// The start, in the machine's zone.
    pub start: DateTime,
    /// Hours east of Greenwich, where the report has a zone.
    pub zone: Option<i8>,
    /// Its length; 0 where the report has only the start.
    pub seconds: f64,
}

/// Zones by the names that BYTE's reports carry and that stand for one offset only, each with its
/// hours east of Greenwich.
const ZONES: &str = "UTC 0 GMT 0 WET 0 WEST 1 CET 1 CEST 2 MET 1 MEST 2 EET 2 EEST 3 MSK 3 JST 9 AEST 10 EST -5 EDT -4 \
                     CDT -5 MST -7 MDT -6 PST -8 PDT -7";

/// The beginnings of each month's name, by the languages of those who published reports. Where two
/// months begin alike, the longer beginning counts.
const MONTHS: [&[&str]; 12] = [
    &["jan", "gen", "ene", "sty", "янв", "oca"],
    &["feb", "fév", "fev", "lut", "фев", "şub"],
    &["mar", "mär", "mrz", "mrt", "мар"],
    &["apr", "avr", "abr", "kwi", "апр", "nis"],
    &["may", "mai", "mag", "maj", "mei", "мая", "май"],
    &["jun", "juin", "giu", "cze", "июн", "haz"],
    &["jul", "juil", "lug", "lip", "июл", "tem"],
    &["aug", "ago", "aoû", "sie", "авг", "ağu"],
    &["sep", "set", "wrz", "сен", "eyl"],
    &["oct", "okt", "ott", "out", "paź", "окт", "eki"],
    &["nov", "lis", "ноя", "kas"],
    &["dec", "déc", "dez", "des", "dic", "gru", "дек", "ara"],
];

/// What follows the numbers of year, month and day: in Japanese and Chinese, and in Korean.
const COUNTERS: [[char; 2]; 3] = [['年', '년'], ['月', '월'], ['日', '일']];

impl Period {
    /// Reads "Sat Nov 21 2026 03:12:55 - 03:14:35", "Mon, June 25, 2018 20:25:47 - 20:54:19",
    /// "Fri Jul 8 09:37:08 EDT 1994" or "木  1月 01 2026 12:00:00"; `None` where year, month, day or
    /// time is missing.
    pub fn read(text: &str) -> Option<Period> {
        let (counted, text) = take_counted_numbers(text);
        let words: Vec<&str> =
            text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();

        let mut short_numbers = numbers_with_digits(&words, 1..=2);
        let month = match counted.month.and_then(|month| i8::try_from(month).ok()) {
            Some(month) => month,
            // From the end: a weekday may look like a month, as "mar." is Tuesday in French.
            None => match words.iter().rev().find_map(|word| month_by_name(word)) {
                Some(month) => month,
                // macOS has no counter after months: "日 4 27 2025".
                None => i8::try_from(short_numbers.next()?).ok()?,
            },
        };
        let day = counted.day.or_else(|| short_numbers.next())?;
        let year = counted.year.or_else(|| numbers_with_digits(&words, 4..=4).next())?;
        let date = Date::new(year, month, i8::try_from(day).ok()?).ok()?;

        let mut times = words.iter().filter_map(|word| parse_time(word));
        let start = date.to_datetime(times.next()?);
        let is_afternoon = words.iter().any(|word| word.eq_ignore_ascii_case("PM"));
        let hours = if is_afternoon && start.hour() < 12 { 12.hours() } else { 0.hours() };
        let start = start.checked_add(hours).ok()?;

        let seconds = times.next().map_or(0.0, |end| seconds_between(start.time(), end));
        let zone = words.iter().find_map(|word| zone_hours(word));
        Some(Period { start, zone, seconds })
    }

    /// The start; without a zone it is taken as UTC.
    pub fn to_rfc3339(&self) -> Option<String> {
        let offset = Offset::from_hours(self.zone.unwrap_or(0)).ok()?;
        let start = offset.to_timestamp(self.start).ok()?;
        Some(match self.zone {
            Some(_) => start.display_with_offset(offset).to_string(),
            None => start.to_string(),
        })
    }

    /// The seconds from this start to the end of `last`; 0 where that is earlier.
    pub fn seconds_until_end_of(&self, last: &Period) -> f64 {
        let between = last.start.duration_since(self.start).as_secs_f64();
        (between + last.seconds).max(0.0)
    }
}

/// Reads a Unix time in seconds; `None` if it is out of range.
pub(super) fn from_unix_seconds(seconds: f64) -> Option<String> {
    if !seconds.is_finite() {
        return None;
    }
    jiff::Timestamp::from_second(seconds as i64).ok().map(|moment| moment.to_string())
}

/// Reads `2026-11-22 19:20:42`, whose zone is unknown.
pub(super) fn from_civil(text: &str) -> Option<String> {
    to_utc(text.trim().parse().ok()?)
}

/// Reads `20261122-192042`, whose zone is unknown.
pub(super) fn from_packed(text: &str) -> Option<String> {
    to_utc(DateTime::strptime("%Y%m%d-%H%M%S", text.trim()).ok()?)
}

/// Reads `200508181941`, whose zone is unknown.
pub(super) fn from_packed_minutes(text: &str) -> Option<String> {
    to_utc(DateTime::strptime("%Y%m%d%H%M", text.trim()).ok()?)
}

/// Reads `Sun, 22 Nov 2026 19:20:42 +0000`, as mails have it.
fn from_mail(text: &str) -> Option<String> {
    jiff::fmt::rfc2822::parse(text.trim()).ok().map(|moment| moment.timestamp().to_string())
}

/// Reads RFC 3339, and `2026-11-22 19:20:42` without a zone.
pub(super) fn from_rfc3339_or_civil(text: &str) -> Option<String> {
    let moment = text.parse::<jiff::Timestamp>().map(|moment| moment.to_string());
    moment.ok().or_else(|| from_civil(text))
}

/// Reads `2019/05/01-10:00:00` and `2019/05/01 10:00:00`, whose zone is unknown.
fn from_slashed(text: &str) -> Option<String> {
    let forms = ["%Y/%m/%d-%H:%M:%S", "%Y/%m/%d %H:%M:%S"];
    to_utc(forms.iter().find_map(|form| DateTime::strptime(form, text).ok())?)
}

/// Reads a time in any of these forms but the packed ones.
pub(super) fn from_any_form(text: &str) -> Option<String> {
    let text = text.trim();
    from_rfc3339_or_civil(text)
        .or_else(|| from_mail(text))
        .or_else(|| from_slashed(text))
        .or_else(|| from_unix_seconds(lines::measured_number(text)?))
        .or_else(|| Period::read(text)?.to_rfc3339())
}

fn to_utc(moment: DateTime) -> Option<String> {
    Offset::UTC.to_timestamp(moment).ok().map(|moment| moment.to_string())
}

/// Host and start, at midnight, of a file's name `HOST-YYYY-MM-DD-NN`, as UnixBench gives its
/// files.
pub(super) fn from_file_name(name: &str) -> Option<(String, String)> {
    let name = ["log", "txt", "html", "csv", "json", "xml"]
        .iter()
        .find_map(|end| name.strip_suffix(&format!(".{end}")))
        .unwrap_or(name);

    let mut parts = name.rsplitn(5, '-');
    let number: u32 = parse_digits(parts.next()?)?;
    let [day, month] = [parse_digits::<i8>(parts.next()?)?, parse_digits(parts.next()?)?];
    let date = Date::new(parse_digits(parts.next()?)?, month, day).ok()?;
    let host = parts.next().filter(|host| !host.is_empty() && number > 0)?;
    Some((host.to_owned(), format!("{date}T00:00:00Z")))
}

/// The number that a text of digits is: no sign is among them.
fn parse_digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The words that are numbers of so many digits, also with a point after them.
fn numbers_with_digits<'w>(
    words: &'w [&str],
    digits: RangeInclusive<usize>,
) -> impl Iterator<Item = i16> + 'w {
    words
        .iter()
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(move |word| digits.contains(&word.len()))
        .filter_map(|word| word.parse().ok())
}

/// The hours of a zone east of Greenwich.
fn zone_hours(word: &str) -> Option<i8> {
    let mut words = ZONES.split(' ').skip_while(|name| *name != word);
    words.nth(1)?.parse().ok()
}

/// The numbers of a date that have counters.
struct CountedNumbers {
    year: Option<i16>,
    month: Option<i16>,
    day: Option<i16>,
}

/// The numbers of a text that have counters, and the text without them.
fn take_counted_numbers(text: &str) -> (CountedNumbers, String) {
    let mut remaining = text.to_owned();
    let [year, month, day] = COUNTERS.map(|counter| take_counted_number(&mut remaining, counter));
    (CountedNumbers { year, month, day }, remaining)
}

/// Takes the number before a counter out of a text, with the counter; `None`, and the text as it
/// is, if there is none.
fn take_counted_number(text: &mut String, counter: [char; 2]) -> Option<i16> {
    // The names of weekdays have counters, too: Monday is 月 in Japanese, and Sunday 日.
    let (at, start, number) = text.match_indices(counter).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let start = before.len() - digits;
        Some((at, start, before[start..].parse().ok()?))
    })?;

    let after = at + text[at..].chars().next().map_or(0, char::len_utf8);
    *text = format!("{} {}", &text[..start], &text[after..]);
    Some(number)
}

/// The month, from 1, whose name has the longest beginning in common with a word.
fn month_by_name(word: &str) -> Option<i8> {
    let word = word.to_lowercase();
    let mut best: Option<(usize, i8)> = None;
    for (number, starts) in (1..).zip(MONTHS) {
        for start in starts.iter().filter(|start| word.starts_with(**start)) {
            // Of equal lengths the last counts.
            if best.is_none_or(|(length, _)| start.len() >= length) {
                best = Some((start.len(), number));
            }
        }
    }
    best.map(|(_, number)| number)
}

/// Reads `03:12:55`.
fn parse_time(word: &str) -> Option<Time> {
    let mut parts = word.split(':').map(parse_digits::<i8>);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    Time::new(hour, minute, second, 0).ok()
}

/// Seconds from `start` to `end`, which may be on the next day.
fn seconds_between(start: Time, end: Time) -> f64 {
    let seconds = end.duration_since(start).as_secs_f64();
    if seconds < 0.0 { seconds + 86_400.0 } else { seconds }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, f64)> {
        let period = Period::read(text)?;
        Some((period.to_rfc3339()?, period.seconds))
    }

    #[test]
    fn dates_of_three_suites_and_many_languages_are_read() {
        let cases = [
            ("Sat Nov 21 2026 03:12:55 - 03:14:35", "2026-11-21T03:12:55Z", 100.0),
            ("Mon, June 25, 2018 20:25:47 - 20:54:19", "2018-06-25T20:25:47Z", 1712.0),
            ("Fri Jul 8 09:37:08 EDT 1994", "1994-07-08T09:37:08-04:00", 0.0),
            ("Thu Dec 31 2026 23:59:00 - 00:01:00", "2026-12-31T23:59:00Z", 120.0),
            ("木  1月 01 2026 12:00:00 - 12:10:00", "2026-01-01T12:00:00Z", 600.0),
            ("2026年 01月 02日 星期五 12:00:00 CST", "2026-01-02T12:00:00Z", 0.0),
            // mojyack/unixbench-results
            ("月 5月 26 2025 14:14:03 - 14:42:07", "2025-05-26T14:14:03Z", 1684.0),
            ("日  5月 25 2025 14:14:03 - 14:42:07", "2025-05-25T14:14:03Z", 1684.0),
            ("日  4 27 2025 17:12:03 - 17:40:05", "2025-04-27T17:12:03Z", 1682.0),
            ("금 12월 01 2026 12:00:00 - 12:10:00", "2026-12-01T12:00:00Z", 600.0),
            ("Do 1. Mär 12:00:00 CET 2026", "2026-03-01T12:00:00+01:00", 0.0),
            ("mar. juil. 07 2026 12:00:00 - 12:10:00", "2026-07-07T12:00:00Z", 600.0),
            ("Чт янв 1 12:00:00 MSK 2026", "2026-01-01T12:00:00+03:00", 0.0),
            ("Thu 01 Jan 2026 01:00:00 PM UTC", "2026-01-01T13:00:00+00:00", 0.0),
        ];
        for (text, started, seconds) in cases {
            assert_eq!(read(text), Some((started.to_owned(), seconds)), "{text}");
        }
    }

    #[test]
    fn half_a_date_is_no_date() {
        for text in [
            "",
            "Sat Nov 21 2026",
            "Sat Nov 2026 03:12:55",
            "Feb 30 2026 03:12:55",
            "Nov 21 2026 03:12:65",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_run_lasts_from_its_first_start_to_its_last_end() {
        let first = Period::read("Sat Nov 21 2026 03:18:59 - 03:19:32").unwrap();
        let last = Period::read("Sat Nov 21 2026 03:19:32 - 03:19:58").unwrap();
        assert_eq!(first.seconds_until_end_of(&last), 59.0);
        assert_eq!(last.seconds_until_end_of(&first), 0.0);
    }

    #[test]
    fn names_of_files_have_host_and_day() {
        let expected =
            |host: &str, date: &str| Some((host.to_owned(), format!("{date}T00:00:00Z")));
        assert_eq!(from_file_name("vm-2026-11-21-01.log"), expected("vm", "2026-11-21"));
        assert_eq!(
            from_file_name("db-3.example.org-2011-01-05-12"),
            expected("db-3.example.org", "2011-01-05")
        );
        for name in [
            "",
            "log",
            "vm-2026-13-21-01.log",
            "-2026-11-21-01",
            "vm-2026-11-21",
            "vm-+2026-11-21-01",
        ] {
            assert_eq!(from_file_name(name), None, "{name}");
        }
    }
}
