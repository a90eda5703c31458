//! Settings that are files: written, proved and set back.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ::conditions::{Ledger, Refusal, available, enter};
use ::machine::Machine;
use catalogue::Condition;
use journal::Trial;

use crate::conditions::{Alone, condition, prove};

/// The condition that writes a text to a file of any kind, as a row of a user's own does.
fn writes(file: &Path, text: &str) -> Arc<Condition> {
    let mut condition = Condition::clone(&condition("file:/proc/x=1"));
    let switch = Arc::make_mut(&mut condition.parts[0].0);
    (switch.files, condition.parts[0].1) = (vec![file.display().to_string()], text.to_owned());
    Arc::new(condition)
}

#[test]
#[ignore = "changes the system"]
fn a_file_is_written_proved_and_restored_to_the_byte() {
    let mut alone = Alone::begin();
    let file = alone.folder.path().join("setting");
    for text in ["old\n", "a [b] c\nd [e]\n", " spaced  \n\n"] {
        fs::write(&file, text).unwrap();
        let mut entered = alone.begin_with(&writes(&file, "new")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let evidence = prove(&mut entered, &Trial::default(), None).unwrap();
        assert!(evidence.notes[0].contains("setting = new"), "{evidence:?}");
        fs::write(&file, "somebody's").unwrap();
        assert!(
            prove(&mut entered, &Trial::default(), None).is_err(),
            "somebody else has changed it"
        );
        alone.leave();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    // A choice as the kernel shows it, in either way.
    for (choice, other, chosen) in [
        ("always [madvise] never\n", "never", "madvise"),
        ("none voluntary (full) lazy\n", "lazy", "full"),
    ] {
        fs::write(&file, choice).unwrap();
        drop(alone.begin_with(&writes(&file, other)).unwrap());
        alone.leave();
        assert_eq!(fs::read_to_string(&file).unwrap(), chosen);
    }
}

/// Through a link of /proc any file could be written.
#[test]
#[ignore = "changes the system"]
fn a_link_out_of_proc_is_refused() {
    let link = condition("file:/proc/self/root/etc/hostname=x");
    let (switch, level) = &link.parts[0];
    let why = available(switch, level, &Machine::here()).unwrap_err();
    assert!(why.contains("is not a setting of the kernel"), "{why}");
}

#[test]
#[ignore = "changes the system"]
fn a_sysctl_is_as_it_was() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    let file = "/proc/sys/kernel/printk_ratelimit_burst";
    let before = fs::read_to_string(file).unwrap();
    let other = before.trim().parse::<u32>().unwrap() + 1;
    if let Some(mut entered) = alone.enter(&format!("sysctl:kernel.printk_ratelimit_burst={other}"))
    {
        assert_eq!(fs::read_to_string(file).unwrap().trim(), other.to_string());
        prove(&mut entered, &Trial::default(), None).unwrap();
        alone.leave();
    }
    assert_eq!(fs::read_to_string(file).unwrap(), before);
}

/// Whichever of the two files holds it: each sets the other to 0, and takes no 0.
#[test]
#[ignore = "changes the system"]
fn a_setting_of_two_files_is_as_it_was() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    let files = || {
        ["ratio", "bytes"]
            .map(|name| fs::read_to_string(format!("/proc/sys/vm/dirty_{name}")).unwrap())
    };
    let found = files();
    for outer in ["bytes=20000000", "ratio=11"] {
        let Some(_outer) = alone.enter(&format!("sysctl:vm.dirty_{outer}")) else {
            continue;
        };
        let before = files();
        for inner in ["sysctl:vm.dirty_bytes=30000000", "sysctl:vm.dirty_ratio=12"] {
            let mut ledger = Ledger::open().unwrap();
            let folder = alone.folder.path();
            enter(&condition(inner), &Machine::here(), &alone.settings, &mut ledger, folder, None)
                .unwrap();
            assert_ne!(files(), before);
            ledger.close().unwrap();
            assert_eq!(files(), before, "{inner} while {outer}");
        }
        alone.leave();
        assert_eq!(files(), found, "{outer}");
    }
}

/// A process gets the users of its namespace once.
#[test]
#[ignore = "changes the system"]
fn what_could_not_be_set_back_is_not_set() {
    let mut alone = Alone::begin();
    let setting = writes(Path::new("/proc/self/uid_map"), "0 0 1");
    let refusal = enter(
        &setting,
        &Machine::here(),
        &alone.settings,
        &mut alone.ledger,
        alone.folder.path(),
        None,
    )
    .err();
    let Some(Refusal::Unavailable(why)) = refusal else { panic!("{refusal:?}") };
    assert!(why.ends_with("nothing could set it back"), "{why}");
}
