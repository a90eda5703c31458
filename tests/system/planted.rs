//! A local user with everything planted where a user can write, and root beside: nothing of the
//! user's is run, and nothing of root's is written.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testing::{Place, flat, stderr, stdout};

const NOBODY: u32 = 65534;

/// Files that root alone may write.
const VICTIMS: [&str; 2] = ["root/one", "root/other"];

/// Two users' directories: root's own, the user's home, and those that both may write.
struct Host {
    place: Place,
}

impl Host {
    /// Nothing where there are no two users, or root has no mounts of its own.
    fn new() -> Option<Host> {
        if !testing::is_root() || !testing::has("setpriv") {
            return None;
        }
        if !Command::new("unshare")
            .args(["-m", "true"])
            .status()
            .is_ok_and(|status| status.success())
        {
            testing::skip("root may make no mount namespace");
            return None;
        }
        let host = Host { place: Place::new() };
        set_mode(host.place.root.path(), 0o755);
        set_mode(&host.place.scratch(), 0o1777);
        for (name, mode) in [
            ("root", 0o700),
            ("var-cache", 0o755),
            ("var-lib", 0o700),
            ("shared", 0o1777),
            ("home", 0o755),
            ("home/tmp", 0o755),
        ] {
            fs::create_dir(host.path(name)).unwrap();
            set_mode(&host.path(name), mode);
        }
        VICTIMS.iter().for_each(|name| fs::write(host.path(name), "root's").unwrap());
        ["home", "home/tmp"]
            .iter()
            .for_each(|name| chown(host.path(name), Some(NOBODY), Some(NOBODY)).unwrap());
        // The binary may lie where nobody else can go.
        fs::copy(env!("CARGO_BIN_EXE_unixmark"), host.path("unixmark")).unwrap();
        Some(host)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.root.path().join(name)
    }

    fn cache(&self) -> PathBuf {
        self.path("home/.cache/unixmark")
    }

    /// The tool with the user's variables, as `sudo -E` keeps them.
    fn with_variables(&self, mut command: Command, words: &str) -> Output {
        let results = self.path("shared");
        command
            .arg(self.path("unixmark"))
            .args(words.split_whitespace())
            .current_dir(self.path("home"));
        for name in [
            "XDG_CACHE_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_CONFIG_HOME",
            "UNIXMARK_CATALOGUE",
        ] {
            command.env_remove(name);
        }
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("home/tmp"));
        command.env("UNIXMARK_RESULTS", &results).env("UB_RESULTDIR", &results).output().unwrap()
    }

    fn as_nobody(&self, words: &str) -> Output {
        self.with_variables(nobody("env"), words)
    }

    /// As root with a /var/cache and a directory of ledgers of the test's.
    fn as_root(&self, words: &str) -> Output {
        let mut command = Command::new("unshare");
        fs::create_dir_all("/var/lib/unixmark").unwrap();
        let mounts = "mount --bind \"$0\" /var/cache && mount --bind \"$1\" /var/lib/unixmark && shift && exec \"$@\"";
        command
            .args(["-m", "sh", "-c", mounts])
            .args([self.path("var-cache"), self.path("var-lib")]);
        self.with_variables(command, words)
    }

    fn measure(&self) -> String {
        format!(
            "run syscall -q -c 2 -i 1 --procedure quick --dir {}",
            self.place.scratch().display()
        )
    }

    /// Puts a program that leaves a trace in the place of every program in the user's cache, with
    /// sums that fit.
    fn plant_programs(&self) {
        let script = format!("#!/bin/sh\nid > '{}'\nexit 1\n", self.path("home/ran").display());
        let file = self.path("home/planted");
        fs::write(&file, script).unwrap();
        chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
        let plant = "for bin in \"$1\"/*/bin \"$1\"/*/copy-1; do for program in \"$bin\"/*; do
            [ -f \"$program\" ] && cp \"$0\" \"$program\"; done; done
            for build in \"$1\"/*/; do cd \"$build\" && mkdir -p sums && sha256sum bin/syscall > sums/syscall.sha256; done; true";
        let mut command = nobody("sh");
        assert!(
            command.args(["-c", plant]).arg(&file).arg(self.cache()).status().unwrap().success()
        );
        assert!(contents(&self.cache(), "bin/syscall").iter().all(|text| text.starts_with("#!")));
    }

    /// Plants a ledger where the user's own would be, and takes the names by which runs once saw
    /// each other.
    fn plant_ledger(&self) -> Vec<std::io::Result<UnixListener>> {
        let folder = self.path("home/.local/state/unixmark");
        let script = format!(
            "echo '{{\"shell\":{{\"command\":\"id > {}\"}}}}'",
            self.path("home/ran").display()
        );
        let plant = format!("mkdir -p \"$1\" && {script} > \"$1/undo-1-1.jsonl\"");
        assert!(nobody("sh").args(["-c", &plant, "sh"]).arg(&folder).status().unwrap().success());
        let name = |name: &str| UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?);
        ["unixmark-conditions", "unixmark-alone", "unixmark-run-0"].map(name).into()
    }

    fn plant_link(&self, target: &Path, name: &Path) {
        let _ = fs::remove_file(name);
        symlink(target, name).unwrap();
        std::os::unix::fs::lchown(name, Some(NOBODY), Some(NOBODY)).unwrap();
    }

    /// Nothing that was planted has done anything.
    fn check(&self, words: &str) {
        assert!(
            !self.path("home/ran").exists(),
            "{words}: it ran as {:?}",
            fs::read_to_string(self.path("home/ran"))
        );
        for name in VICTIMS {
            assert_eq!(fs::read_to_string(self.path(name)).unwrap(), "root's", "{words}: {name}");
        }
        assert_eq!(fs::read_dir(self.path("root")).unwrap().count(), VICTIMS.len(), "{words}");
        let mut roots = Vec::new();
        of_root(&self.path("home"), &mut roots);
        assert!(roots.is_empty(), "{words}: {roots:?}");
    }
}

fn nobody(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
    command
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What each build of a cache has under a name.
fn contents(cache: &Path, name: &str) -> Vec<String> {
    let builds = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path().join(name));
    builds
        .filter_map(|path| fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

/// Everything of root's below a directory.
fn of_root(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let there = entry.metadata().unwrap();
        if there.uid() == 0 {
            found.push(entry.path());
        }
        if there.is_dir() {
            of_root(&entry.path(), found);
        }
    }
}

#[test]
#[ignore = "changes the system"]
fn a_local_user_with_everything_planted() {
    let Some(host) = Host::new() else { return };
    for build in ["native", "portable"] {
        let output = host.as_nobody(&format!("{} --build {build}", host.measure()));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    host.plant_programs();
    let cache = host.cache();
    host.plant_link(&host.path(VICTIMS[0]), &cache.join("lock"));
    for build in fs::read_dir(&cache)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        host.plant_link(&host.path(VICTIMS[1]), &build.join("used"));
    }
    for name in ["partial-1-1", "native-0123456789abcdef", "sites", "../../tmp/unixmark-0"] {
        host.plant_link(&host.path("root"), &cache.join(name));
    }
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let today = jiff::Zoned::now().strftime("%Y-%m-%d");
    for ending in ["01", "01.log", "01.html", "09", "09.log"] {
        let planted = format!("{}-{today}-{ending}", name.trim());
        let _ = fs::remove_dir_all(host.path("shared").join(&planted));
        host.plant_link(&host.path("root/new"), &host.path("shared").join(planted));
    }
    let _names = host.plant_ledger();
    let run = host.measure();
    let commands = [
        "restore".to_owned(),
        "restore --list".to_owned(),
        "cost nice=5 -q -c 1 -i 1 --quick syscall --dir /var/tmp".to_owned(),
        run.clone(),
        format!("{run} --build portable"),
        "clean".to_owned(),
        "clean --all".to_owned(),
        "doctor".to_owned(),
        "list".to_owned(),
        "list runs".to_owned(),
        "unixbench -q -c 1 -i 1 --procedure quick syscall".to_owned(),
        format!(
            "site {} --into {}",
            host.path("shared").display(),
            host.path("var-cache/site").display()
        ),
    ];
    for words in commands {
        let output = host.as_root(&words);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words}: {}", stderr(&output));
        host.check(&words);
        let is_of_the_cache = ["run", "clean", "doctor"].iter().any(|verb| words.starts_with(verb));
        let note = "belongs to nobody; builds are kept in /var/cache/unixmark";
        assert!(
            !is_of_the_cache || flat(&stderr(&output)).matches(note).count() == 1,
            "{words}: {}",
            stderr(&output)
        );
    }
}

#[test]
#[ignore = "changes the system"]
fn root_works_in_no_directory_that_another_can_replace() {
    let Some(host) = Host::new() else { return };
    let open = host.path("open");
    fs::create_dir_all(open.join("below")).unwrap();
    set_mode(&open, 0o777);
    let of_users = host.path("home/tmp").display().to_string();
    let below = open.join("below").display().to_string();
    for (dir, why) in
        [(&of_users, "/home belongs to nobody"), (&below, "may be written by every user")]
    {
        let output =
            host.as_root(&format!("run syscall -q -c 1 -i 1 --procedure quick --dir {dir}"));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            flat(&stderr(&output)).contains(why) && stderr(&output).contains("--dir DIR"),
            "{}",
            stderr(&output)
        );
        let doctor = host.as_root(&format!("doctor --format json --dir {dir}"));
        assert!(
            stdout(&doctor).contains("places.scratch") && stdout(&doctor).contains(why),
            "{}",
            stdout(&doctor)
        );
    }
    // A sticky one keeps others from what is not theirs, and a user's own is that user's concern.
    set_mode(&open, 0o1777);
    let output = host.as_root(&format!("run syscall -q -c 1 -i 1 --procedure quick --dir {below}"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output =
        host.as_nobody(&format!("run syscall -q -c 1 -i 1 --procedure quick --dir {of_users}"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // UnixBench's ./tmp in a directory of a user's.
    let output = host.as_root("unixbench -q -c 1 -i 1 --procedure quick syscall");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        flat(&stderr(&output)).contains("the programs work in /var/tmp: "),
        "{}",
        stderr(&output)
    );
}

/// With a HOME that sudo kept, and no directory named.
#[test]
#[ignore = "changes the system"]
fn root_keeps_its_runs_where_no_user_leads_it() {
    let Some(host) = Host::new() else { return };
    host.plant_link(&host.path("root"), &host.path("home/.local"));
    let words = format!(
        "HOME={} {} {}",
        host.path("home").display(),
        host.path("unixmark").display(),
        host.measure()
    );
    let mut command = Command::new("unshare");
    let script = format!(
        "mount --bind '{}' /var/lib/unixmark && env -u UNIXMARK_RESULTS {words}",
        host.path("var-lib").display()
    );
    let output = command
        .args(["-m", "sh", "-c", &script])
        .env("XDG_CACHE_HOME", host.path("root/cache"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read_dir(host.path("var-lib/results")).unwrap().count(), 1);
    let mut roots = Vec::new();
    of_root(&host.path("home"), &mut roots);
    assert!(roots.is_empty() && !host.path("root/share").exists(), "{roots:?}");
}

#[test]
#[ignore = "changes the system"]
fn a_cache_with_files_of_roots_still_serves_its_user() {
    let Some(host) = Host::new() else { return };
    let run = |words: &str| host.as_nobody(&format!("{} {words}", host.measure()));
    assert_eq!(run("").status.code(), Some(0));
    // As an earlier version left them that was once started by sudo.
    let builds =
        fs::read_dir(host.cache()).unwrap().map(|entry| entry.unwrap().path().join("used"));
    for lock in builds.filter(|path| path.exists()).chain([host.cache().join("lock")]) {
        chown(&lock, Some(0), Some(0)).unwrap();
        set_mode(&lock, 0o644);
    }
    let output = run("");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // What cannot be used says whose it is.
    chown(host.cache(), Some(0), Some(0)).unwrap();
    set_mode(&host.cache(), 0o755);
    let output = run("--build native");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        flat(&stderr(&output)).contains("/home/.cache/unixmark belongs to root; `sudo chown -R"),
        "{}",
        stderr(&output)
    );
}
