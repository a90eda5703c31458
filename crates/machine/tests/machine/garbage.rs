//! Whatever the files hold, the module answers, and with plain lines.

use crate::fixture::{DIR, Fixture, MACHINES, Outcome};
use ::machine::{copies_limit, cpus_online, cpus_usable, examine, facts, sample};
use std::fs;
use std::path::Path;

/// Asks for everything. It must answer, with plain lines, whatever the files hold.
fn ask_everything(fixture: &Fixture, dir: &str) {
    let (machine, dir) = (fixture.machine(), Path::new(dir));
    for fact in facts(&machine, dir) {
        assert!(!fact.value.is_empty(), "{} is empty", fact.name);
        assert!(!fact.value.contains(char::is_control), "{}: {:?}", fact.name, fact.value);
    }
    let now = sample(&machine);
    examine(&machine, dir, &now, &sample(&machine));
    copies_limit(&machine);
    let (usable, online) = (cpus_usable(&machine), cpus_online(&machine));
    assert!((1..=online).contains(&usable), "{usable} of {online}");
}

#[test]
fn each_file_garbled_or_gone_in_turn() -> Outcome {
    const GARBAGE: &[&[u8]] = &[
        b"",
        b"\n\n\n",
        b"\xff\xfe\0\x01\x1b[31m",
        b"-1",
        b"0",
        b"99999999999999999999999999999999",
        b"18446744073709551615 18446744073709551615",
        b"NaN inf -inf 1e999",
        b"0-18446744073709551615,\xe2\x82\xac-3",
        b"cpu  -1 NaN inf 1e999 99999999999999999999 x\ncpu\ncpux 1\n",
        b"[] [ ] )(",
        "µ: µ\n: :\n= =\n - - \n::\n0::\n:cpu:../../..\n".as_bytes(),
        br"1 2 3 / / rw - cgroup2 x\04 cpu,pids,memory",
    ];
    for name in MACHINES {
        let fixture = Fixture::unpack(name)?;
        for (number, file) in fixture.files()?.into_iter().enumerate() {
            let original = fs::read(fixture.path(&file))?;
            // All pieces for all files would take a minute: each file gets two, and its
            // neighbours the others.
            for garbage in GARBAGE.iter().cycle().skip(number * 2 % GARBAGE.len()).take(2) {
                fixture.write(&file, garbage)?;
                ask_everything(&fixture, DIR);
            }
            fs::remove_file(fixture.path(&file))?;
            ask_everything(&fixture, DIR);
            fixture.write(&file, original)?;
        }
    }
    Ok(())
}

#[test]
fn all_files_garbled_at_once() -> Outcome {
    for name in MACHINES {
        for garbage in [&b"\xff\xff 99999999999999999999-3 : = [ \0"[..], b"1", b"-1", b"1e308"] {
            let fixture = Fixture::unpack(name)?;
            for file in fixture.files()? {
                fixture.write(&file, garbage)?;
            }
            for dir in [DIR, "/", "", "relative", "/srv/../.."] {
                ask_everything(&fixture, dir);
            }
        }
    }
    Ok(())
}

#[test]
fn a_machine_of_nothing() -> Outcome {
    let fixture = Fixture { root: tempfile::tempdir()? };
    ask_everything(&fixture, DIR);
    let names: Vec<String> = fixture.facts().into_keys().collect();
    let of_process =
        ["storage.dir", "storage.free", "system.time", "software.lang", "software.lc_all"];
    let unexpected: Vec<&String> =
        names.iter().filter(|name| !of_process.contains(&name.as_str())).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert_eq!(fixture.machine().read("/proc/stat"), None);
    Ok(())
}
