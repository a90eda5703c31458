//! The system in the words of UnixBench's reports, which begin with it.

use super::{Machine, counts, userland};

/// Flags of x86 processors that UnixBench shows, in the order of their names, and what it calls
/// them.
const FLAGS: [(&str, &str); 10] = [
    ("cxmmx", "Cyrix MMX"),
    ("ht", "Hyper-Threading"),
    ("lm", "x86-64"),
    ("mmx", "MMX"),
    ("mmxext", "AMD MMX"),
    ("pae", "Physical Address Ext"),
    ("sep", "SYSENTER/SYSEXIT"),
    ("svm", "AMD virtualization"),
    ("syscall", "SYSCALL/SYSRET"),
    ("vmx", "Intel virtualization"),
];

/// The folder of systemd's sessions, one file each.
const SESSIONS: &str = "run/systemd/sessions";

/// The length of a record of utmp(5), and the type, in its first bytes, of one for a login.
const UTMP_RECORD_BYTES: usize = 384;
const UTMP_LOGIN: [u8; 2] = [7, 0];

/// The system in UnixBench's words: `System`, `OS`, `Machine` and `Language`, each
/// processor unless it is to be `brief`, and the uptime, which has no name. What cannot be read is
/// "unknown"; who is logged in is left out.
pub fn greeting(machine: &Machine, brief: bool) -> Vec<(String, String)> {
    let kernel = |name: &str| {
        machine.read(&format!("/proc/sys/kernel/{name}")).unwrap_or_else(|| "unknown".to_owned())
    };
    let system = format!("GNU/{}", kernel("ostype"));
    let architecture = machine.is_live().then(rustix::system::uname);
    let architecture = architecture
        .map_or_else(|| kernel("arch"), |name| name.machine().to_string_lossy().into_owned());
    let charmap = if userland::locale_installed(machine) { "UTF-8" } else { "ANSI_X3.4-1968" };
    let row = |name: &str, text: String| (name.to_owned(), text);
    let mut rows = vec![
        row("System", format!("{}: {system}", kernel("hostname"))),
        row("OS", format!("{system} -- {} -- {}", kernel("osrelease"), kernel("version"))),
        row("Machine", format!("{architecture} (unknown)")),
        row(
            "Language",
            format!("{} (charmap=\"{charmap}\", collate=\"{charmap}\")", userland::LOCALE),
        ),
    ];
    if !brief {
        rows.extend(processor_rows(machine));
    }
    rows.extend(uptime_line(machine).map(|text| row("", text)));
    rows
}

/// `CPU N`, with the model, the bogomips and the features of each processor.
fn processor_rows(machine: &Machine) -> Vec<(String, String)> {
    let text = machine.read("/proc/cpuinfo").unwrap_or_default();
    let blocks = text.split("\n\n").filter(|block| field(block, "processor").is_some());
    let online = counts::online(machine).len().max(1);

    let mut rows = Vec::new();
    for (number, block) in blocks.take(online).enumerate() {
        let model = field(block, "model name").unwrap_or_default();
        let bogomips: f64 =
            field(block, "bogomips").and_then(|number| number.parse().ok()).unwrap_or(0.0);
        let flags: Vec<&str> = field(block, "flags").unwrap_or_default().split(' ').collect();
        let features: Vec<&str> = FLAGS
            .iter()
            .filter(|(flag, _)| flags.contains(flag))
            .map(|(_, feature)| *feature)
            .collect();
        rows.push((
            format!("CPU {number}"),
            format!("{model} ({bogomips:.1} bogomips)\n{}", features.join(", ")),
        ));
    }
    rows
}

/// The value of `KEY : VALUE`; capitals do not matter, since they differ between architectures.
fn field<'a>(block: &'a str, key: &str) -> Option<&'a str> {
    let pairs = block.lines().filter_map(|line| line.split_once(':'));
    pairs
        .map(|(name, value)| (name.trim(), value.trim()))
        .find(|(name, _)| name.eq_ignore_ascii_case(key))
        .map(|(_, value)| value)
}

/// The line of uptime(1), which however prints minutes alone in the first hour; and UnixBench's
/// `; runlevel`, which stays empty.
fn uptime_line(machine: &Machine) -> Option<String> {
    let uptime = machine.read("/proc/uptime")?;
    let minutes_up = uptime.split('.').next()?.parse::<u64>().ok()? / 60;
    let (days, hours, minutes) = (minutes_up / 1440, minutes_up / 60 % 24, minutes_up % 60);
    let days = match days {
        0 => String::new(),
        1 => "1 day, ".to_owned(),
        days => format!("{days} days, "),
    };
    let loads = machine.read("/proc/loadavg")?;
    let loads: Vec<&str> = loads.split_whitespace().take(3).collect();
    let user_count = count_users(machine);
    let users = format!("{user_count:>2} user{}", if user_count > 1 { "s" } else { "" });

    let now = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    Some(format!(
        "{now} up {days}{hours:>2}:{minutes:02}, {users},  load average: {}; runlevel ",
        loads.join(", ")
    ))
}

/// The number of users who are logged in, by systemd or by the file that login(1) keeps.
fn count_users(machine: &Machine) -> usize {
    if machine.exists(SESSIONS) {
        let mut sessions = machine.list(SESSIONS);
        sessions.retain(|session| {
            let text = machine.read(&format!("{SESSIONS}/{session}")).unwrap_or_default();
            text.contains("CLASS=user")
        });
        return sessions.len();
    }

    let records = std::fs::read(machine.path("run/utmp")).unwrap_or_default();
    records.chunks_exact(UTMP_RECORD_BYTES).filter(|record| record[..2] == UTMP_LOGIN).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_words_of_unixbench() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let cpu = |n: u32| {
            format!(
                "processor\t: {n}\nmodel name\t: Old One\nflags\t\t: sep lm ht sse\nbogomips\t: 99.96\n"
            )
        };
        write("proc/sys/kernel/hostname", "box\n");
        write("proc/sys/kernel/ostype", "Linux\n");
        write("proc/cpuinfo", &format!("{}\n{}\n", cpu(0), cpu(1)));
        write("sys/devices/system/cpu/online", "0-1\n");
        write("proc/uptime", "180061.55 1.0\n");
        write("proc/loadavg", "0.10 0.20 0.30 1/99 4711\n");
        let sessions = ["1", "2", "c1"].map(|name| format!("run/systemd/sessions/{name}"));
        sessions.iter().zip(["user", "user-early", "background"]).for_each(|(name, class)| {
            write(name, &format!("UID=1000\nCLASS={class}\n"));
        });
        let machine = Machine::at(root.path());
        let rows = greeting(&machine, false);
        let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["System", "OS", "Machine", "Language", "CPU 0", "CPU 1", ""]);
        assert_eq!(rows[0].1, "box: GNU/Linux");
        assert_eq!(rows[1].1, "GNU/Linux -- unknown -- unknown");
        assert_eq!(
            rows[5].1,
            "Old One (100.0 bogomips)\nHyper-Threading, x86-64, SYSENTER/SYSEXIT"
        );
        assert!(
            rows[6].1.ends_with(
                " up 2 days,  2:01,  2 users,  load average: 0.10, 0.20, 0.30; runlevel "
            ),
            "{}",
            rows[6].1
        );
        assert!(!greeting(&machine, true).iter().any(|(name, _)| name.starts_with("CPU")));
    }
}
