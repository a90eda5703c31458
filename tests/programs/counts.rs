//! The operations of the kernel, LEBench's and lmbench's among them: the system calls that strace
//! counts are those that their names say, and as many.

use std::path::Path;
use std::sync::Arc;

use catalogue::{Catalogue, Test};

use crate::builds::measured;
use crate::hand::{Hand, verify};
use crate::rates::each;

/// What prepares a program, its first and its last round and its end take at most, beside one call
/// of each kind for each descriptor.
const AROUND: u64 = 600;

/// The calls, by any of their names, that an operation is: each is done once for each count.
fn calls(operation: &str) -> Option<&'static [&'static str]> {
    Some(match operation {
        "getppid" => &["getppid"],
        "stat" | "stat-deep" => &["stat", "newfstatat", "statx", "fstatat64"],
        "open" | "create" => &["open", "openat"],
        "read" => &["read"],
        "write" | "eventfd" => &["write"],
        "delete" => &["unlink", "unlinkat"],
        "mmap" | "map" | "map-nothing" => &["mmap", "mmap2"],
        "munmap" => &["munmap"],
        "signal-install" => &["rt_sigaction"],
        "signal-catch" => &["kill"],
        "send" => &["sendto", "send"],
        "receive" => &["recvfrom", "recv"],
        "select" | "select-file" => &["select", "_newselect", "pselect6", "pselect6_time64"],
        "poll" => &["poll", "ppoll", "ppoll_time64"],
        "epoll" | "epoll-one" => &["epoll_wait", "epoll_pwait", "epoll_pwait2"],
        "futex" => &["futex", "futex_time64"],
        "fork" | "fork-exit" | "fork-exec" | "fork-shell" | "thread" => {
            &["fork", "clone", "clone3"]
        }
        _ => return None,
    })
}

fn argument<'a>(test: &'a Test, name: &str) -> Option<&'a str> {
    test.args.iter().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='))
}

/// The tests whose operation strace can count; of the rest, faults are no calls, and reading and
/// writing take turns.
fn counted() -> impl Iterator<Item = (Arc<Test>, &'static [&'static str])> {
    let tests =
        Catalogue::load().unwrap().tests.into_iter().filter(|test| test.program == "kernel/core");
    tests.filter_map(|test| {
        let calls = calls(argument(&test, "op").unwrap())?;
        Some((test, calls))
    })
}

/// How often one of `calls` is in strace's table.
fn counts(table: &str, calls: &[&str]) -> u64 {
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    let own = lines.filter(|words| words.last().is_some_and(|name| calls.contains(name)));
    own.map(|words| words[3].parse::<u64>().unwrap()).sum()
}

#[test]
fn each_count_is_a_call() {
    if !testing::has("strace") {
        return testing::skip("strace is not installed");
    }
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let counted: Vec<_> = counted().collect();
    assert_eq!(counted.len(), 46);
    each(&counted, |(test, calls)| {
        let table = place.path().join(&test.id);
        let mut words: Vec<String> = ["-c", "-o"].map(str::to_owned).to_vec();
        words.extend([&table, &measured(test)].map(|path| path.display().to_string()));
        words.extend(test.args.iter().cloned());
        // A piece has hundreds of calls, and strace makes each slow.
        let window = if argument(test, "pieces").is_some() { 500 } else { 50 };
        let count = verify(test, &Hand::with(Path::new("strace"), &words).go(window, 1));
        let counted = counts(&std::fs::read_to_string(&table).unwrap(), calls);
        let number: u64 = argument(test, "number").map_or(0, |number| number.parse().unwrap());
        let most = count + AROUND + number;
        assert!(
            (count..=most).contains(&counted),
            "{}: {count} counts, {counted} calls of {calls:?}",
            test.id
        );
    });
}

/// More than a program makes of any call when it starts and ends.
const MIN_COUNTS: u64 = 60;

/// The counts under strace, of a window that is long enough for them: a busy disk has few in half a
/// second.
fn count_enough(test: &Test, strace_words: &[String]) -> u64 {
    for ms in [500, 2_000, 8_000, 32_000] {
        let count = verify(test, &Hand::with(Path::new("strace"), strace_words).go(ms, 1));
        if count >= MIN_COUNTS {
            return count;
        }
    }
    panic!("{}: fewer than {MIN_COUNTS} counts", test.id)
}

/// What one count of a row of system calls makes is what the row prices, and what it says is beside
/// that.
#[test]
fn a_row_prices_the_calls_that_it_makes() {
    if !testing::has("strace") {
        return testing::skip("strace is not installed");
    }
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let tests = Catalogue::load().unwrap().tests.into_iter();
    // Libraries ask for a file by its descriptor in one way or the other.
    let is_named = |test: &Arc<Test>| test.id != "call-fstat" && !test.prices.is_empty();
    let rows: Vec<_> =
        tests.filter(|test| test.program == "kernel/call" && is_named(test)).collect();
    each(&rows, |test| {
        let table = place.path().join(&test.id);
        let mut words: Vec<String> = ["-f", "-c", "-o"].map(str::to_owned).to_vec();
        words.extend([&table, &measured(test)].map(|path| path.display().to_string()));
        words.extend(test.args.iter().cloned());
        let count = count_enough(test, &words);
        let text = std::fs::read_to_string(&table).unwrap();
        let names: Vec<&str> =
            text.lines().skip(1).filter_map(|line| line.split_whitespace().last()).collect();
        let is_made = |name: &&&str| {
            *name != &"total" && !name.starts_with('-') && counts(&text, &[name]) >= count
        };
        let made: Vec<&&str> = names.iter().filter(is_made).collect();
        let is_named =
            |name: &&str| test.prices.iter().chain(&test.beside).any(|named| named == name);
        assert!(
            made.iter().all(|name| is_named(name)),
            "{}: {count} counts, {made:?}\n{text}",
            test.id
        );
        assert!(
            test.prices.iter().any(|name| made.contains(&&name.as_str())),
            "{}: {made:?}\n{text}",
            test.id
        );
    });
}
