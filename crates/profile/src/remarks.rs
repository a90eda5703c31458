//! What hides functions, in a sentence each, and what is not known of all commands alike.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::arms::Arm;
use crate::inlined::Inlined;
use crate::naming::{Named, PYTHON};
use crate::places::{Place, Places};

/// A file without names is worth a note from this share of the time on.
const MIN_NOTED_SHARE: f64 = 0.01;

/// From this share of a command's time in files on, a file that other commands do not execute can
/// hide the inlined functions of all. The shell that starts a command takes less of all but the
/// shortest, and may by chance have samples of one command alone.
const MIN_HIDING_SHARE: f64 = 0.05;

/// What all commands have executed, and the notes on it.
pub struct Remarks<'c> {
    pub places: &'c Places,
    pub chains: &'c [Rc<[usize]>],
    pub arms: &'c [Arm],
    pub notes: BTreeSet<String>,
}

impl Remarks<'_> {
    /// Treats builds alike: if a file that not all commands execute has no debug information, what
    /// was inlined in all such files is forgotten. Else a function would be a row of one build, and
    /// a part of its caller in the other.
    pub fn agree_on_inlined(&mut self, inlined: &mut Inlined) {
        let ns_by_file: Vec<BTreeMap<usize, u64>> =
            self.arms.iter().map(|arm| self.ns_by_file(arm)).collect();
        let is_shared = |file: &usize| ns_by_file.iter().all(|ns| ns.contains_key(file));

        let may_hide = files_with_share(&ns_by_file, MIN_HIDING_SHARE);
        let hiding = may_hide.iter().filter(|file| !is_shared(file)).find_map(|file| {
            let file = &self.places.files[*file];
            Some((file.path.display(), file.why_not_inlined.as_ref()?))
        });
        if let Some((path, why)) = hiding {
            let is_not_shared = |place: usize| self.places.is_in(place, |file| !is_shared(file));
            if inlined.forget(is_not_shared) {
                self.notes.insert(format!(
                    "inlined functions count for the functions around them, since they are not \
                     known for {path}: {why}"
                ));
            }
        }
        for file in files_with_share(&ns_by_file, MIN_NOTED_SHARE) {
            let file = &self.places.files[file];
            if let Some(why) = file.why_not_inlined.as_ref().filter(|_| file.has_debug_information)
            {
                self.notes.insert(format!(
                    "{}: inlined functions count for the functions around them: {why}",
                    file.path.display()
                ));
            }
        }
    }

    /// The time of a command's executions in each file.
    fn ns_by_file(&self, arm: &Arm) -> BTreeMap<usize, u64> {
        let mut ns_by_file = BTreeMap::new();
        for (chain, ns) in arm.sampled.iter().flat_map(|added| &added.ns_by_chain) {
            let Some(place) = self.chains[*chain].first() else { continue };
            if let Place::File(file, _) = self.places.all[*place] {
                *ns_by_file.entry(file).or_default() += ns;
            }
        }
        ns_by_file
    }

    /// Notes the files in which much time was spent and whose functions have no names.
    pub fn note_nameless(&mut self, functions: &[Named]) {
        let mut ns_by_file = vec![0; self.places.files.len()];
        let (mut all, mut made_ns, mut interpreter_ns) = (0, 0, 0);
        let executions = self.arms.iter().flat_map(|arm| &arm.sampled);
        for (chain, ns) in executions.flat_map(|added| &added.ns_by_chain) {
            all += ns;
            let Some(place) = self.chains[*chain].first() else { continue };
            let is_nameless = functions[*place].name.starts_with('[');
            match self.places.all[*place] {
                Place::File(number, _) if is_nameless => ns_by_file[number] += ns,
                Place::Made { .. } if is_nameless => made_ns += ns,
                _ => {}
            }
            if functions[*place].is_python_interpreter() {
                interpreter_ns += ns;
            }
        }

        for (file, ns) in self.places.files.iter().zip(ns_by_file) {
            let name = file.path.display();
            if !has_share(ns, all, MIN_NOTED_SHARE) {
                continue;
            }
            if let Some(why) = &file.refusal {
                self.notes.insert(format!("{name}: its functions have no names, as {why}"));
            } else if file.is_stripped {
                self.notes.insert(format!(
                    "{name} is stripped, so what it has no name for is one row, [its name]: \
                     install its debug symbols (-dbgsym, -dbg or -debuginfo), or build it with -g \
                     and without strip"
                ));
            }
        }
        let has_script = functions.iter().any(|function| function.name.starts_with(PYTHON));
        if has_share(interpreter_ns, all, MIN_NOTED_SHARE) && !has_script {
            self.notes.insert(
                "functions of the python interpreter are named, not the script's: for those, try \
                 -X perf with python 3.12 or newer, built with frame pointers \
                 (-fno-omit-frame-pointer)"
                    .to_owned(),
            );
        }
        if has_share(made_ns, all, MIN_NOTED_SHARE) {
            self.notes.insert(
                "code that was made while a program ran has no names: try node \
                 --perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, or \
                 python3 -X perf"
                    .to_owned(),
            );
        }
    }
}

/// The files that take more than a share of the time of any of several commands.
fn files_with_share(ns_by_file: &[BTreeMap<usize, u64>], share: f64) -> BTreeSet<usize> {
    let mut files = BTreeSet::new();
    for ns_by_file in ns_by_file {
        let all: u64 = ns_by_file.values().sum();
        let with_share = ns_by_file.iter().filter(|(_, ns)| has_share(**ns, all, share));
        files.extend(with_share.map(|(file, _)| *file));
    }
    files
}

/// True if a time is more than a share of all.
fn has_share(ns: u64, all: u64, share: f64) -> bool {
    ns as f64 > share * all as f64
}
