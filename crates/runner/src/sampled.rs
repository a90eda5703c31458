//! Samples of commands, and instructions that valgrind counted. The samples of each execution are
//! in a file, and the counts of each execution under valgrind in a folder; they are read and
//! removed here when all executions are over.

use std::fs::{File, read_dir, remove_dir_all, remove_file};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use journal::{Profile, Trial};
use machine::Machine;
use profile::{Collector, Execution};

use crate::supervisor::monotonic_ns;

/// The most bytes of an execution's records: programs/command/sampler.c writes no more.
const MAX_RECORDS_BYTES: u64 = (32 << 20) + 16;

/// The most bytes that valgrind may have written of all executions: a line for each address, of
/// which the largest programs execute a million.
const MAX_COUNTED_BYTES: u64 = 128 << 20;

/// Reads the samples of a trial from the files in `folder`. Returns the profile of each command;
/// their cells are the caller's to fill in.
///
/// # Errors
/// A file is missing, or longer than it can be.
pub(super) fn read(
    trial: &Trial,
    folder: &Path,
    machine: &Machine,
) -> Result<Vec<Profile>, String> {
    let first_start = read_first_start(trial, folder)
        .map_err(|why| format!("the samples of the first execution are lost: {why:#}"))?;
    let mut collector = Collector::new(trial.copies.len(), first_start);
    for (arm, copy) in trial.copies.iter().enumerate() {
        for execution in &copy.executions {
            let round = execution.round;
            let records = read_records(&kept_file(folder, round, arm))
                .map_err(|why| format!("the samples of round {round} are lost: {why:#}"))?;
            let Some((ends, records)) = records.split_first_chunk::<16>() else { continue };
            let [start, end] = ends.as_chunks::<8>().0 else { continue };
            let region = u64::from_ne_bytes(*start)..=u64::from_ne_bytes(*end);
            // The kernel's account is of the whole execution.
            let is_whole = execution.region.is_none();
            let cpu_ns = if is_whole { execution.user + execution.system } else { 0 };
            collector.add(Execution { arm, round, cpu_ns, region, records });
        }
    }

    let counted = add_instructions(&mut collector, folder, trial.copies.len());

    let mut profiles = collector.finish(|| machine::kernel_symbols(machine));
    if let (Err(why), Some(profile)) = (counted, profiles.first_mut()) {
        profile.notes.push(format!("the instructions of functions are not known: {why:#}"));
    }
    for (profile, copy) in profiles.iter_mut().zip(&trial.copies) {
        profile.kernel = copy.values.get("kernel").is_some_and(|(number, _)| *number > 0.0);
        profile.notes.extend(copy.notes.iter().cloned());
    }
    Ok(profiles)
}

/// Where command/where keeps the samples of an execution.
fn kept_file(folder: &Path, round: u64, arm: usize) -> PathBuf {
    folder.join(format!("{round}-{arm}"))
}

/// Adds the instructions of the executions that valgrind has counted; none, if none was.
///
/// # Errors
/// A file cannot be read, or all exceed [`MAX_COUNTED_BYTES`] together. Then none is added.
fn add_instructions(collector: &mut Collector, folder: &Path, arms: usize) -> Result<()> {
    let passes = (0..).take_while(|pass| counted_folder(folder, *pass, 0).is_dir());
    let folders: Vec<CountedFolder> = passes
        .flat_map(|pass| (0..arms).map(move |arm| (pass, arm)))
        .map(|(pass, arm)| CountedFolder { pass, arm, path: counted_folder(folder, pass, arm) })
        .collect();

    // All are read before the first is added, so that an error adds none.
    let mut texts: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut bytes_left = MAX_COUNTED_BYTES;
    for CountedFolder { path, .. } in &folders {
        let mut of_processes = Vec::new();
        for entry in read_dir(path).context("what valgrind has written is lost")? {
            let bytes = files::read_at_most(File::open(entry?.path())?, bytes_left)?;
            bytes_left -= bytes.len() as u64;
            of_processes.push(bytes);
        }
        texts.push(of_processes);
    }
    for (CountedFolder { pass, arm, .. }, of_processes) in folders.iter().zip(&texts) {
        for bytes in of_processes {
            collector.count(*arm, *pass, &String::from_utf8_lossy(bytes));
        }
    }

    for CountedFolder { path, .. } in &folders {
        // A folder that stays is removed with the one that it is in, at the end of the run.
        let _ = remove_dir_all(path);
    }
    Ok(())
}

/// What valgrind has written of a command's execution.
struct CountedFolder {
    pass: usize,
    arm: usize,
    path: PathBuf,
}

/// Where command/where has valgrind write.
fn counted_folder(folder: &Path, pass: usize, arm: usize) -> PathBuf {
    folder.join(format!("instructions-{pass}-{arm}"))
}

/// When the first execution began. A file that is younger cannot be what it executed; one that is
/// older may be, even if --setup, which came before, has copied or built it.
fn read_first_start(trial: &Trial, folder: &Path) -> Result<SystemTime> {
    let mut first = monotonic_ns();
    for (arm, copy) in trial.copies.iter().enumerate() {
        let Some(execution) = copy.executions.first() else { continue };
        let path = kept_file(folder, execution.round, arm);
        let mut region_start = [0; 8];
        File::open(&path)
            .and_then(|mut file| file.read_exact(&mut region_start))
            .with_context(|| format!("{} cannot be read", path.display()))?;

        // The file has the clock's time, the report the time since the common start.
        let before_region =
            execution.region.map_or(0, |region| region.start.saturating_sub(execution.start));
        first = first.min(u64::from_ne_bytes(region_start).saturating_sub(before_region));
    }
    let ago = Duration::from_nanos(monotonic_ns().saturating_sub(first));
    Ok(SystemTime::now() - ago)
}

fn read_records(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let records = files::read_at_most(file, MAX_RECORDS_BYTES)?;

    // A file that stays is removed with its directory, at the end of the run.
    let _ = remove_file(path);
    Ok(records)
}
