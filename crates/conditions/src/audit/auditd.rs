//! The auditd that is installed, as a process of the trial's own with a configuration of its own.
//! It ends with the trial; how to end it is in the ledger.
//!
//! Its log is in the run's scratch directory, and is counted once it has ended. Records of other
//! programs are in there too, since it receives all: they are passed on to the kernel's log, where
//! they would be without it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::audit::kernel_log::KernelLog;
use crate::audit::record;
use crate::audit::recorder::is_end;
use crate::audit::scope::SENTINEL;
use crate::audit::system::System;
use crate::audit::tally::Tally;
use crate::audit::{Flush, Sink, Surroundings, TrailSettings};
use crate::ledger::Undo;
use machine::find_command;
use processes::end_child;

/// The longest time that it may take to start, and to end.
const STEP_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest time that it may take to write what it has.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The configuration that is installed.
const INSTALLED_CONFIG: &str = "/etc/audit/auditd.conf";

/// The directory of plugins' configurations, unless that names another.
const PLUGIN_FOLDER: &str = "/etc/audit/plugins.d";

/// The settings that are taken from the installed configuration.
const KEPT_SETTINGS: [&str; 8] = [
    "log_format",
    "freq",
    "priority_boost",
    "name_format",
    "name",
    "q_depth",
    "overflow_action",
    "end_of_event_timeout",
];

/// A disk with less is full.
const MIN_FREE_BYTES: u64 = 1 << 20;

/// auditd, running.
pub(crate) struct Auditd {
    child: Child,
    folder: PathBuf,
    kernel_log: KernelLog,
    /// True once its log was counted.
    is_counted: bool,
}

/// The file with its messages.
const MESSAGES: &str = "messages";

/// Its logs, the newest first.
const LOGS: [&str; 2] = ["audit.log", "audit.log.1"];

impl Auditd {
    /// Starts auditd and waits until it receives the records.
    pub(crate) fn start(context: &mut Surroundings<'_>, system: &System) -> Result<Auditd, String> {
        let program = find_command("auditd")
            .ok_or("auditd is not installed here; keep the trail in a file instead")?;
        let kernel_log = KernelLog::open(&system.machine)?;
        let folder = context.scratch.join(format!("auditd-{}", std::process::id()));
        configure(&folder, context)?;

        (context.record)(Undo::End { program: program.clone(), argument: folder.clone() })?;
        let failed =
            |error: std::io::Error| format!("{} cannot be started: {error}", program.display());
        let mut options = files::options();
        options.write(true).create(true).truncate(true);
        let messages = options.open(folder.join(MESSAGES)).map_err(failed)?;
        let child = Command::new(&program)
            .args(["-n", "-s", "nochange", "-c"])
            .arg(&folder)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(messages)
            .spawn()
            .map_err(failed)?;

        let mut auditd = Auditd { child, folder, kernel_log, is_counted: false };
        auditd.wait_until_it_receives(system)?;
        Ok(auditd)
    }

    fn wait_until_it_receives(&mut self, system: &System) -> Result<(), String> {
        let deadline = Instant::now() + STEP_TIMEOUT;
        while system.status()?.pid != self.pid() {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || Instant::now() > deadline {
                let messages = fs::read_to_string(self.folder.join(MESSAGES)).unwrap_or_default();
                let last_message = messages.lines().rev().find(|line| !line.trim().is_empty());
                return Err(format!(
                    "auditd does not receive records: {}",
                    last_message.unwrap_or("it printed nothing")
                ));
            }

            std::thread::sleep(Duration::from_millis(5));
        }

        Ok(())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends auditd, so that it writes what it has, and counts its log.
    ///
    /// # Errors
    /// Its log cannot be read, or its disk is full.
    pub(crate) fn finish(&mut self, tally: &mut Tally) -> Result<(), String> {
        self.wait_for_last_record();
        end_child(&mut self.child, STEP_TIMEOUT);

        let folder = self.folder.display().to_string();
        let failed = |error: &dyn std::fmt::Display| {
            format!("the trail of {folder} cannot be read: {error}")
        };
        let disk = rustix::fs::statvfs(&self.folder).map_err(|error| failed(&error))?;
        if disk.f_bavail * disk.f_frsize < MIN_FREE_BYTES {
            return Err(format!(
                "the trail could not be written: {} is full",
                self.folder.display()
            ));
        }

        self.count_logs(tally).map_err(|error| failed(&error))
    }

    /// Counts auditd's logs, the oldest first, and passes on the records of others.
    fn count_logs(&mut self, tally: &mut Tally) -> std::io::Result<()> {
        self.is_counted = true;
        for name in LOGS.iter().rev() {
            match File::open(self.folder.join(name)) {
                Ok(file) => count_log(file, tally, &mut self.kernel_log)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }

        Ok(())
    }

    /// Waits until auditd has written the last record, which it loses if it is ended earlier.
    fn wait_for_last_record(&self) {
        let log = self.folder.join(LOGS[0]);
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        while !has_last_record(&log).unwrap_or(false) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Auditd {
    fn drop(&mut self) {
        end_child(&mut self.child, STEP_TIMEOUT);
        if !self.is_counted {
            // For the records of others, which it passes on.
            let _ = self.count_logs(&mut Tally::new(SENTINEL, 0));
        }
    }
}

/// Makes auditd's directory; how to remove everything in it is in the ledger.
fn configure(folder: &Path, context: &mut Surroundings<'_>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{} cannot be made: {error}", folder.display());
    let plugins = folder.join("plugins.d");
    let config = folder.join("auditd.conf");
    for directory in [folder, &plugins] {
        (context.record)(Undo::RemoveDirectory { path: directory.to_path_buf() })?;
        files::make_private_directories(directory).map_err(failed)?;
    }

    for name in ["auditd.conf", MESSAGES, LOGS[0], LOGS[1]] {
        (context.record)(Undo::RemoveFile { path: folder.join(name) })?;
        // Usually there is none; auditd would append to a log that is there.
        let _ = fs::remove_file(folder.join(name));
    }

    let installed = fs::read_to_string(INSTALLED_CONFIG).unwrap_or_default();
    let mut file = files::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o640)
        .open(&config)
        .map_err(failed)?;
    file.write_all(configuration(&installed, folder, context.settings).as_bytes()).map_err(failed)
}

/// auditd's configuration for a trial: a log of its own; the format of records, and the plugins
/// that are wanted, from the installed one.
fn configuration(installed: &str, folder: &Path, settings: &TrailSettings) -> String {
    let mut text = String::new();
    for line in installed.lines() {
        if line.split_once('=').is_some_and(|(name, _)| KEPT_SETTINGS.contains(&name.trim())) {
            text += &format!("{line}\n");
        }
    }

    let flush = match settings.flush {
        Flush::None => "NONE",
        Flush::Incremental => "INCREMENTAL",
        Flush::IncrementalAsync => "INCREMENTAL_ASYNC",
        Flush::Data => "DATA",
        Flush::Sync => "SYNC",
    };
    // Each of two logs has half of the limit.
    let half_in_mib = (settings.limit >> 21).max(1);
    let plugins = match settings.sink {
        Sink::AuditdPlugins => {
            let mut settings = installed.lines().filter_map(|line| line.split_once('='));
            let named = settings.find(|(name, _)| name.trim() == "plugin_dir");
            named.map_or(PLUGIN_FOLDER, |(_, folder)| folder.trim()).to_owned()
        }
        _ => format!("{}/plugins.d", folder.display()),
    };
    text += &format!(
        "local_events = yes\nwrite_logs = yes\nlog_file = {0}/audit.log\nlog_group = root\nplugin_dir = {plugins}\n\
         flush = {flush}\nmax_log_file = {half_in_mib}\nnum_logs = 2\nmax_log_file_action = ROTATE\n\
         space_left = 2\nspace_left_action = IGNORE\nadmin_space_left = 1\nadmin_space_left_action = IGNORE\n\
         disk_full_action = SUSPEND\ndisk_error_action = SUSPEND\nverify_email = no\n",
        folder.display(),
    );
    text
}

/// The end of a log in which the last record is looked for: others' records may follow it.
const TAIL_BYTES: u64 = 4096;

/// True if the last record of a trail is near the end of a log.
fn has_last_record(log: &Path) -> std::io::Result<bool> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;

    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let mut lines = tail.split(|byte| *byte == b'\n').filter_map(record::parse_line);
    Ok(lines.any(|(kind, record)| is_end(kind, record)))
}

/// Counts a log, and passes on the records of others.
fn count_log(file: File, tally: &mut Tally, kernel_log: &mut KernelLog) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Some((kind, record)) = record::parse_line(text) {
            // Its time of arrival is not in the log.
            let now_ms = record::stamp(record).map_or(0, |stamp| stamp.ms);
            if !tally.count(kind, record, text.len() + 1, now_ms) {
                kernel_log.pass_on(kind, record);
            }
        }
        line.clear();
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_of_its_own() {
        let installed = "# x\nlog_file = /var/log/audit/audit.log\nlog_format = ENRICHED\n##name = mydomain\nfreq = 20\n";
        let settings =
            TrailSettings { flush: Flush::Sync, limit: 64 << 20, ..TrailSettings::default() };
        let text = configuration(installed, Path::new("/s"), &settings);
        for line in [
            "log_format = ENRICHED",
            "freq = 20",
            "log_file = /s/audit.log",
            "flush = SYNC",
            "max_log_file = 32",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}: {text}");
        }
        assert!(
            !text.contains("/var/log")
                && !text.contains("mydomain")
                && text.contains("plugin_dir = /s/plugins.d\n")
        );
        let settings = TrailSettings { sink: Sink::AuditdPlugins, ..settings };
        assert!(
            configuration(installed, Path::new("/s"), &settings)
                .contains("plugin_dir = /etc/audit/plugins.d\n")
        );
        let installed = format!("{installed}plugin_dir = /opt/plugins\n");
        assert!(
            configuration(&installed, Path::new("/s"), &settings)
                .contains("plugin_dir = /opt/plugins\n")
        );
    }

    #[test]
    fn a_log_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let text = "type=DAEMON_START msg=audit(1.000:9999): op=start\ntype=SYSCALL msg=audit(1.004:5): a auid=7 b\n\
                    type=PROCTITLE msg=audit(1.004:5): proctitle=\"x\"\ntype=SYSCALL msg=audit(1.004:6): a auid=8 b\n";
        fs::write(&path, text).unwrap();
        let mut tally = Tally::new(7, 1000);
        crate::audit::tests::fake::write(folder.path(), "/dev/kmsg", "");
        let mut log = KernelLog::open(&machine::Machine::at(folder.path())).unwrap();
        count_log(File::open(&path).unwrap(), &mut tally, &mut log).unwrap();
        let passed_on = fs::read_to_string(folder.path().join("dev/kmsg")).unwrap();
        assert_eq!(passed_on, "<5>audit: type=1300 audit(1.004:6): a auid=8 b\n");
        let lengths: usize = text.lines().skip(1).take(2).map(|line| line.len() + 1).sum();
        let totals = crate::audit::tally::Totals { events: 1, bytes: lengths as u64 };
        assert_eq!((tally.totals(), tally.missing_events()), (totals, 0));
        assert!(!has_last_record(&path).unwrap());
        fs::write(
            &path,
            text.to_owned() + "type=TEST msg=audit(1.005:9): pid=1 msg='op=unixmark-end'\n",
        )
        .unwrap();
        assert!(has_last_record(&path).unwrap());
    }
}
