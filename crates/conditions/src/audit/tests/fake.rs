//! A kernel in memory, with the habits of the real one that matter here, and a machine of files:
//! what tests switch.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use machine::Machine;
use rustix::io::Errno;
use tempfile::TempDir;

use crate::audit::clock::wall_ms;
use crate::audit::kernel::{Kernel, LOCKED, MESSAGE, Records, Setting, Status};
use crate::audit::levels::Level;
use crate::audit::rule::{Field, Rule, Value, field, list, op};
use crate::audit::scope::SENTINEL;
use crate::audit::system::System;

/// A thread of the kernel's that sends records.
pub(crate) const KAUDITD: u32 = 27;

/// How long a receiver is stopped.
const STOPPED: Duration = Duration::from_millis(700);

/// A kernel in memory.
#[derive(Default)]
pub(crate) struct Fake(Mutex<Inner>);

/// Everything that can be looked at and changed.
pub(crate) struct Inner {
    pub status: Status,
    pub rules: Vec<Rule>,
    pub features: u32,
    /// Changes that were asked for, in order.
    pub changes: Vec<String>,
    /// How many further changes succeed; `None` for all.
    pub budget: Option<usize>,
    /// A path that rules may not contain: it does not exist.
    pub absent: String,
    /// What the next receiver is refused with.
    pub refuse_receiver: Option<Errno>,
    serial: u64,
    receiver: Weak<Queue>,
    listeners: Vec<Weak<Queue>>,
}

impl Default for Inner {
    /// As a machine starts, but with settings that nobody has by default.
    fn default() -> Inner {
        let status = Status {
            failure: 1,
            backlog_limit: 77,
            backlog_wait_time: 14_000,
            lost: 5,
            waited: Some(3),
            ..Status::default()
        };
        Inner {
            status,
            rules: Vec::new(),
            features: 0,
            changes: Vec::new(),
            budget: None,
            absent: "/absent".to_owned(),
            refuse_receiver: None,
            serial: 1000,
            receiver: Weak::new(),
            listeners: Vec::new(),
        }
    }
}

impl Inner {
    fn change(&mut self, what: String) -> Result<(), Errno> {
        match &mut self.budget {
            Some(0) => return Err(Errno::NOMEM),
            Some(left) => *left -= 1,
            None => {}
        }
        self.changes.push(what);
        Ok(())
    }

    /// Sends the records of one event to whoever wants them.
    fn send(&mut self, records: &[(u16, String)]) {
        let now = wall_ms();
        let stamp = format!("audit({}.{:03}:{}): ", now / 1000, now % 1000, self.serial);
        self.serial += 1;
        for queue in self.listeners.iter().chain([&self.receiver]).filter_map(Weak::upgrade) {
            let mut waiting = queue.records.lock().unwrap();
            waiting.extend(
                records
                    .iter()
                    .map(|(kind, text)| Ok((*kind, format!("{stamp}{text}").into_bytes()))),
            );
            queue.come.notify_all();
        }
    }

    /// Has a program with the login uid `uid` make a system call.
    pub(crate) fn call(&mut self, number: u32, uid: u32) {
        if self.status.enabled == 1 && self.is_audited(number, uid) {
            let syscall =
                format!("arch=c000003e syscall={number} success=yes pid=9 auid={uid} uid=0");
            let records =
                [(1300, syscall), (1327, "proctitle=\"x\"".to_owned()), (1320, String::new())];
            self.send(&records);
        }
    }

    /// Decides as the kernel does: no context after a `task,never` rule that matches, else the
    /// first rule that does.
    fn is_audited(&self, number: u32, uid: u32) -> bool {
        let matches = |rule: &&Rule| {
            rule.fields.iter().all(|rule_field| match (rule_field.id, &rule_field.value) {
                (field::LOGIN_UID, Value::Number(wanted)) => {
                    (uid == *wanted) == (rule_field.op == op::EQUAL)
                }
                (field::PID, _) | (field::KEY, _) | (field::ARCH, _) => true,
                _ => false,
            })
        };
        let calls = |rule: &&Rule| rule.mask[number as usize / 32] & (1 << (number % 32)) != 0;
        let listed =
            |list: u32| self.rules.iter().filter(move |rule| rule.list == list).filter(matches);
        listed(list::TASK).next().is_none()
            && listed(list::EXIT)
                .find(calls)
                .is_some_and(|rule| rule.action == crate::audit::rule::ALWAYS)
    }

    /// Loses events without counting them, as the kernel does when a socket stays full.
    pub(crate) fn drop_events(&mut self, count: u64) {
        self.serial += count;
    }

    /// Has the receiver sleep before it takes its next record, as a stopped process does.
    pub(crate) fn stop_receiver(&self) {
        if let Some(queue) = self.receiver.upgrade() {
            queue.records.lock().unwrap().push_back(Err(Errno::INTR));
        }
    }

    /// Has the receiver find that its socket was full.
    pub(crate) fn overrun(&self) {
        if let Some(queue) = self.receiver.upgrade() {
            queue.records.lock().unwrap().push_back(Err(Errno::NOBUFS));
        }
    }
}

impl Fake {
    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// Waits until every record was taken.
    pub(crate) fn settle(&self) {
        let receivers = || {
            let inner = self.inner();
            inner.listeners.iter().chain([&inner.receiver]).cloned().collect::<Vec<_>>()
        };
        let is_empty = |queue: Arc<Queue>| queue.records.lock().unwrap().is_empty();
        while !receivers().iter().filter_map(Weak::upgrade).all(is_empty) {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

impl Kernel for Fake {
    fn status(&self) -> Result<Status, Errno> {
        Ok(self.inner().status)
    }

    fn features(&self) -> Result<u32, Errno> {
        Ok(self.inner().features)
    }

    fn rules(&self) -> Result<Vec<Rule>, Errno> {
        Ok(self.inner().rules.clone())
    }

    fn set(&self, setting: Setting, value: u32) -> Result<(), Errno> {
        let mut inner = self.inner();
        if inner.status.enabled >= LOCKED {
            return Err(Errno::PERM);
        }

        inner.change(format!("{setting:?} {value}"))?;
        let status = &mut inner.status;
        match setting {
            Setting::Enabled => status.enabled = value,
            Setting::BacklogLimit => status.backlog_limit = value,
            Setting::Pid if status.pid != std::process::id() => return Err(Errno::ACCESS),
            Setting::Pid => status.pid = value,
        }
        Ok(())
    }

    fn prepend(&self, rule: &Rule) -> Result<(), Errno> {
        let mut inner = self.inner();
        inner.change("prepend".to_owned())?;
        let absent = Value::Text(inner.absent.clone());
        if rule.fields.iter().any(|field| field.value == absent) {
            return Err(Errno::NOENT);
        }
        if inner.rules.contains(rule) {
            return Err(Errno::EXIST);
        }

        inner.rules.insert(0, rule.clone());
        Ok(())
    }

    fn delete(&self, rule: &Rule) -> Result<(), Errno> {
        let mut inner = self.inner();
        inner.change("delete".to_owned())?;
        let place = inner.rules.iter().position(|known| known == rule).ok_or(Errno::NOENT)?;
        inner.rules.remove(place);
        Ok(())
    }

    fn write(&self, text: &str) -> Result<(), Errno> {
        let mut inner = self.inner();
        inner.change("write".to_owned())?;
        inner.send(&[(MESSAGE, format!("pid=1 auid={SENTINEL} msg='{text}'"))]);
        Ok(())
    }

    fn receive(&self) -> Result<Arc<dyn Records>, Errno> {
        let mut inner = self.inner();
        inner.change("receive".to_owned())?;
        if let Some(error) = inner.refuse_receiver {
            return Err(error);
        }

        let queue = Arc::new(Queue::default());
        inner.receiver = Arc::downgrade(&queue);
        inner.status.pid = std::process::id();
        Ok(queue)
    }

    fn listen(&self) -> Result<Arc<dyn Records>, Errno> {
        let queue = Arc::new(Queue::default());
        self.inner().listeners.push(Arc::downgrade(&queue));
        Ok(queue)
    }
}

/// A record's kind and text.
type Record = (u16, Vec<u8>);

/// Records on their way.
#[derive(Default)]
struct Queue {
    records: Mutex<VecDeque<Result<Record, Errno>>>,
    come: Condvar,
}

impl Records for Queue {
    fn next<'a>(&self, buffer: &'a mut [u8]) -> Result<(u16, &'a [u8]), Errno> {
        let waiting = self.records.lock().unwrap();
        let silence = Duration::from_millis(1);
        let (mut waiting, _) =
            self.come.wait_timeout_while(waiting, silence, |queue| queue.is_empty()).unwrap();
        let next = waiting.pop_front().ok_or(Errno::AGAIN)?;
        drop(waiting);
        if next == Err(Errno::INTR) {
            std::thread::sleep(STOPPED);
        }
        let (kind, text) = next?;
        buffer[..text.len()].copy_from_slice(&text);
        Ok((kind, &buffer[..text.len()]))
    }
}

/// A machine's files, and the fake kernel beside them.
pub(crate) fn system() -> (TempDir, Arc<Fake>, System) {
    let root = tempfile::tempdir().unwrap();
    let pid = std::process::id();
    let comm = format!("/proc/{KAUDITD}/comm");
    for (path, text) in [
        ("/proc/thread-self/loginuid", "4294967295"),
        ("/proc/sys/kernel/random/boot_id", "this-boot\n"),
        ("/proc/cmdline", "quiet\n"),
        (&format!("/proc/{pid}/loginuid"), "4294967295"),
        (&comm, "kauditd\n"),
        ("/dev/kmsg", ""),
    ] {
        write(root.path(), path, text);
    }
    // Of each thread that reads it: a test may have to wait for a processor.
    std::os::unix::fs::symlink(
        "/proc/thread-self/schedstat",
        root.path().join("proc/thread-self/schedstat"),
    )
    .unwrap();
    let fake = Arc::new(Fake::default());
    let system = System { kernel: Arc::clone(&fake) as _, machine: Machine::at(root.path()) };
    (root, fake, system)
}

/// Writes a file of the machine's.
pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path.trim_start_matches('/'));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Every level of the catalogue, with its name, but those that need a file.
pub(crate) fn catalogue_levels() -> Vec<(String, Level)> {
    let catalogue = catalogue::Catalogue::load().unwrap();
    let audit = catalogue.switches.iter().find(|switch| switch.id == "audit").unwrap();
    let levels = audit.levels.iter().filter(|level| !level.id.ends_with(':'));
    levels
        .map(|level| (level.id.clone(), Level::new(&level.id, level.rules.as_deref()).unwrap()))
        .collect()
}

/// A rule of the machine's own: `-a always,exit -S NUMBER -F auid=12345`.
pub(crate) fn foreign(number: u32) -> Rule {
    let mut rule = Rule::new(list::EXIT, crate::audit::rule::ALWAYS);
    assert!(rule.add_call(number));
    rule.fields.push(Field::number(field::LOGIN_UID, op::EQUAL, 12_345));
    rule
}
