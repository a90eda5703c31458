//! What root writes: paths that it names stay what they are, and nothing it makes can be written by
//! others, whatever umask and limits a container's job has.

use std::path::PathBuf;
use std::process::Output;

use testing::{stderr, stdout};

use crate::room::Room;

/// Six flags in one trial: as many entries in the ledger as a limit on its size can meet.
fn flags() -> String {
    let flag = |number| {
        format!(
            r#"
[[condition]]
id = "flag{number}"
label = "a flag"
means = "command"
enter = "touch ROOT/flag{number}"
verify = "test -e ROOT/flag{number}"
leave = "rm -f ROOT/flag{number}"
doc = "x"
"#
        )
    };
    (1..=6).map(flag).collect()
}

/// An agent, which writes in /run.
const AGENT: &str = r#"
[[condition]]
id = "awake"
label = "an agent"
means = "command"
enter = "start_agent awake sleep 1000; await_agent awake test -e pid"
verify = "verify_agent awake; test -z \"$(find /run/unixmark-awake -perm /o=w)\""
leave = "stop_agent awake"
agent = "sleep"
doc = "x"
"#;

/// A /dev of the test's own: where the tool is wrong, it replaces what is there.
const OWN_DEV: &str = "mount -t tmpfs -o mode=755 none /dev && mknod -m 666 /dev/null c 1 3 && \
    mknod -m 666 /dev/full c 1 7 && mknod -m 666 /dev/urandom c 1 9 && mkdir /dev/shm && \
    ln -s /proc/self/fd /dev/fd && ln -s fd/1 /dev/stdout && ln -s fd/2 /dev/stderr && ";

const AB: &str = "\"$0\" ab -q -N -r 2 true echo";

/// N2 of the second look, hyperfine #640.
#[test]
fn n2_what_is_no_file_is_written_and_never_replaced() {
    let Some(room) = Room::new("") else { return };
    // The path, the status, and where the export is then.
    let table = [
        ("--export-json /dev/null", 0, ""),
        ("--export-json /dev/full", 1, ""),
        ("--export-json -", 0, "stdout"),
        ("--export-json /dev/stdout", 0, "stdout"),
        ("--export-json /dev/fd/1", 0, "stdout"),
        ("--export-json /proc/self/fd/1", 0, "stdout"),
        ("--export-json /dev/stderr", 0, "stderr"),
        ("--export-json /dev/fd/3 3>&1", 0, "stdout"),
        ("--export-json pipe | cat pipe", 0, "stdout"),
        ("--export-json link && cat target", 0, "stdout"),
    ];
    for (words, status, place) in table {
        let script = format!(
            "{OWN_DEV} cd {} && rm -f pipe link target && mkfifo pipe && ln -s target link && \
             {{ {AB} {words}; }}; status=$?; test -c /dev/null && test -c /dev/full && \
             test -L /dev/stdout && test -p pipe && test -L link && exit $status",
            room.file("").display()
        );
        let output = room.shell(&script).output().unwrap();

        let context = format!("{words}: {}{}", stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(status), "{context}");
        assert_eq!(stdout(&output).contains("\"results\""), place == "stdout", "{context}");
        assert_eq!(stderr(&output).contains("\"results\""), place == "stderr", "{context}");
    }
}

/// N1 of the second look: with a umask of 0 others could write what root was about to execute.
#[test]
fn n1_nothing_that_root_makes_can_be_written_by_others_under_any_umask() {
    let Some(room) = Room::new(AGENT) else { return };
    let root = room.file("made");
    let find = format!("find {} -perm /o=w ! -type l", root.display());
    let script = |words: &str| {
        format!(
            "umask 0; mkdir -p -m 755 {root} {root}/home; cd {root}; export HOME={root}/home \
             XDG_CACHE_HOME= XDG_DATA_HOME= UNIXMARK_RESULTS={root}/results UNIXMARK_CATALOGUE=; {words}",
            root = root.display()
        )
    };
    // The command looks itself, while there is scratch.
    let during = format!("test -z \"$({find} -prune)\"");
    let table = [
        format!(
            "\"$0\" ab -q --dir . -r 2 '{during}' true --export-json e.json --export-csv e.csv"
        ),
        format!("\"$0\" ab -q --dir . -r 2 --same-output '{during}; echo 1' 'echo 1'"),
        "\"$0\" cost --quick --dir . -i 1 fs=tmpfs syscall".to_owned(),
        "\"$0\" ab -q --dir . -r 2 true echo --output ./printed".to_owned(),
        format!(
            "UNIXMARK_CATALOGUE={} \"$0\" cost --quick --dir . -i 1 awake syscall",
            room.file("catalogue.toml").display()
        ),
        "\"$0\" import e.json".to_owned(),
        "\"$0\" site --into site".to_owned(),
        "\"$0\" man --into man".to_owned(),
        "\"$0\" new test mine".to_owned(),
        "\"$0\" build home/.config/unixmark/mine.c --out mine".to_owned(),
        "\"$0\" unixbench --install ub".to_owned(),
    ];
    for words in table {
        let output = room.shell(&script(&words)).output().unwrap();

        assert!(output.status.success(), "{words}: {}", stderr(&output));
        let found = room.shell(&find).output().unwrap();
        assert_eq!(stdout(&found), "", "{words}");
    }
}

/// N5 of the second look: a limit on the size of files killed the tool, its guardian and `restore`.
#[test]
fn n5_what_was_switched_is_undone_under_a_limit_on_the_size_of_files() {
    let Some(room) = Room::new(&flags()) else { return };
    let cost = room.cost("flag1+flag2+flag3+flag4+flag5+flag6 syscall -i 2");
    // Its programs are compiled before, by compilers that no limit stops.
    let without: Output = room.shell(&format!("\"$0\" {cost}")).output().unwrap();
    assert!(without.status.success(), "{}", stderr(&without));

    for limit in [1, 2, 8, 16] {
        let script = format!("ulimit -f {limit}; \"$0\" {cost}; echo status $?; \"$0\" restore");
        let output = room.shell(&script).output().unwrap();

        let said = stdout(&output);
        let status = said.lines().find_map(|line| line.strip_prefix("status ")).unwrap();
        assert!(["1", "3"].contains(&status), "{limit}: {said}{}", stderr(&output));
        assert!(output.status.success(), "{limit}: {}", stderr(&output));
        let left: Vec<PathBuf> = (1..=6)
            .map(|number| room.file(&format!("flag{number}")))
            .filter(|flag| flag.exists())
            .collect();
        assert!(left.is_empty(), "{limit}: {left:?}");
        room.wait_until_clean();
    }
}
