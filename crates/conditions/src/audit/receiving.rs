//! The first stage of switching auditing on: the records are received, so nothing is lost that
//! comes later. The receiver is the daemon that is there; without one it is the tool, or an auditd
//! of its own.

use std::sync::Arc;

use machine::auditing::sign_it_was_on;
use rustix::io::Errno;

use crate::audit::auditd::Auditd;
use crate::audit::clock;
use crate::audit::file::TrailFile;
use crate::audit::found::Found;
use crate::audit::kernel::{Records, Setting};
use crate::audit::kernel_log::KernelLog;
use crate::audit::recorder::{Recorder, Source};
use crate::audit::samples::find_kauditd;
use crate::audit::scope::{self, SENTINEL};
use crate::audit::state::{State, describe_process, put_back};
use crate::audit::system::System;
use crate::audit::tally::Tally;
use crate::audit::{Sink, Surroundings};
use crate::ledger::Undo;

/// The stage in which records are received; dropping this puts auditing back.
pub(crate) struct Receiving {
    pub system: System,
    /// The state before.
    pub state: State,
    /// The way back to it.
    found: Found,
    /// True if the machine audits for others too.
    pub is_in_use: bool,
    pub recorder: Recorder,
    pub receiver: Receiver,
    /// Open until auditing is put back: the kernel would print what it has nobody to send to.
    _records: Option<Arc<dyn Records>>,
    /// The wall clock less CLOCK_MONOTONIC when it began.
    pub offset_ns: i128,
    pub notes: Vec<String>,
}

/// The receiver of the records.
pub(crate) enum Receiver {
    Tool,
    /// A daemon that was there before; the tool listens too.
    Daemon(u32),
    /// auditd, started for the trial.
    Auditd(Auditd),
}

impl Receiver {
    /// The process that receives the records, if that is not the tool.
    pub(crate) fn daemon(&self) -> Option<u32> {
        match self {
            Receiver::Tool => None,
            Receiver::Daemon(pid) => Some(*pid),
            Receiver::Auditd(auditd) => Some(auditd.pid()),
        }
    }
}

impl Receiving {
    /// Starts to receive the records, and to count them.
    pub(crate) fn start(
        system: System,
        state: State,
        context: &mut Surroundings<'_>,
    ) -> Result<Receiving, String> {
        scope::check_login_uid_is_free(&system.machine)?;

        // The settings of auditing that is in use are left alone.
        let is_in_use = state.is_in_use(&system.machine);
        let wanted_backlog = context.settings.backlog;
        let backlog = if is_in_use { state.status.backlog_limit } else { wanted_backlog };
        let found = Found::on(state.status, backlog);
        (context.record)(Undo::Audit { found })?;

        let offset_ns = clock::wall_offset_ns();
        let (receiver, records) = open_receiver(&system, &state, context)?;
        if !is_in_use {
            let failed = |error: Errno| format!("the length of the queue cannot be set: {error}");
            system.kernel.set(Setting::BacklogLimit, backlog).map_err(failed)?;
        }

        // Events of programs that were started earlier count as of now.
        let origin_ms =
            u64::try_from((i128::from(clock::monotonic_ns()) + offset_ns) / 1_000_000).unwrap_or(0);
        let recorder = Recorder::start(Source {
            system: system.clone(),
            records: records.clone(),
            file: create_file(&receiver, context)?,
            kernel_log: open_kernel_log(&system, &receiver)?,
            daemon: receiver.daemon(),
            kauditd: find_kauditd(&system.machine),
            backlog,
            tally: Tally::new(SENTINEL, origin_ms),
        })?;

        let mut notes = describe_other_auditing(&system, &state, &receiver);
        if backlog != wanted_backlog {
            notes.push(format!(
                "auditing is in use here, so its settings are left alone: {backlog} records are \
                 queued, not {wanted_backlog}"
            ));
        }

        Ok(Receiving {
            system,
            state,
            found,
            is_in_use,
            recorder,
            receiver,
            _records: records,
            offset_ns,
            notes,
        })
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        // While records can still be received; the ledger does it once more, and reports what
        // fails.
        let _ = put_back(&self.system, &self.found);
    }
}

/// Opens the receiver of the records, and the socket on which they arrive, unless that is auditd's:
/// the process that receives them already, else the one that the run wants.
fn open_receiver(
    system: &System,
    state: &State,
    context: &mut Surroundings<'_>,
) -> Result<(Receiver, Option<Arc<dyn Records>>), String> {
    if let Some(pid) = state.daemon(&system.machine) {
        return Ok((Receiver::Daemon(pid), Some(listen(system)?)));
    }
    if matches!(context.settings.sink, Sink::Auditd | Sink::AuditdPlugins) {
        return Ok((Receiver::Auditd(Auditd::start(context, system)?), None));
    }

    match system.kernel.receive() {
        Ok(records) => Ok((Receiver::Tool, Some(records))),
        Err(Errno::EXIST) => {
            Err("another process receives the audit records by now; try again".to_owned())
        }
        Err(error) => Err(format!("the audit records cannot be received: {error}")),
    }
}

fn listen(system: &System) -> Result<Arc<dyn Records>, String> {
    let failed = |error: Errno| {
        format!("the audit records cannot be read: {error}; it needs CAP_AUDIT_READ")
    };
    system.kernel.listen().map_err(failed)
}

/// Opens the kernel's log, if the tool is who receives others' records in its place.
fn open_kernel_log(system: &System, receiver: &Receiver) -> Result<Option<KernelLog>, String> {
    matches!(receiver, Receiver::Tool).then(|| KernelLog::open(&system.machine)).transpose()
}

/// Creates the file that records are written to, if the tool does that.
fn create_file(
    receiver: &Receiver,
    context: &mut Surroundings<'_>,
) -> Result<Option<TrailFile>, String> {
    let settings = context.settings;
    if !matches!(receiver, Receiver::Tool) || settings.sink != Sink::File {
        return Ok(None);
    }

    let path = context.scratch.join("trail.log");
    (context.record)(Undo::RemoveFile { path: path.clone() })?;
    TrailFile::create(&path, settings.flush, settings.limit).map(Some)
}

/// Notes about everything else that the machine audits.
fn describe_other_auditing(system: &System, state: &State, receiver: &Receiver) -> Vec<String> {
    let mut notes = Vec::new();
    if state.status.enabled == 0 && sign_it_was_on(&system.machine).is_none() {
        notes.push(
            "auditing was switched on for the first time since the machine started: until it restarts, new processes pay \
             for that at each system call"
                .to_owned(),
        );
    }
    if state.status.enabled != 0 {
        notes.push("auditing was on before: other processes are still audited".to_owned());
    }
    if !state.rules.is_empty() {
        notes.push(format!(
            "{} rules of the machine's own are tried after these",
            state.rules.len()
        ));
    }
    if let Receiver::Daemon(pid) = receiver {
        let daemon = describe_process(&system.machine, *pid);
        notes.push(format!(
            "{daemon} receives the records and keeps them as it always does; unixmark counts them as well"
        ));
    }
    notes
}
