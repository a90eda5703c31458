//! Runs, guardians and `restore` on a machine of the tests', interleaved at random, with kills,
//! power cuts and full disks between any two steps: no setting is ever changed without a ledger
//! that names it, and nobody removes a ledger that is another's.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::host::{Holding, Host, Register};
use super::log::Log;
use super::{Ledger, Undo, restore_at, survey_at};

/// What a setting is unless a run has changed it.
const ORIGINAL: &str = "original";

/// Settings: the first is the kernel's and goes with a reboot, the second is a file.
const SETTINGS: [&str; 2] = ["/proc/setting", "/etc/setting"];

/// The payload of an actor that was killed.
struct Killed;

/// What an actor is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It is about to take a step.
    Waiting,
    /// It takes one.
    Running,
    /// It waits for the end of the actor that it guards.
    Guarding(usize),
    Ended,
}

struct Actor {
    state: State,
    /// Turns that it lets pass before it begins.
    delay: u32,
    is_killed: bool,
    /// Its turn.
    turn: Arc<Condvar>,
}

/// A command: what it does to a setting, and after how many steps.
struct Command {
    setting: &'static str,
    text: &'static str,
    steps: u32,
}

#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    /// Bytes that a power cut leaves alone.
    synced: Vec<u8>,
    /// Handles that hold it.
    holders: usize,
}

struct World {
    random: Pcg64Mcg,
    actors: Vec<Actor>,
    files: Vec<File>,
    folder: BTreeMap<String, usize>,
    settings: BTreeMap<&'static str, &'static str>,
    commands: BTreeMap<i32, Command>,
    /// Handles that hold the lock of those that switch something.
    lock: usize,
    boot: u32,
    made: u32,
    /// Whether appends and steps may fail.
    is_nasty: bool,
    /// True if an append has failed. A command that leaves may then be in no ledger, since undoing
    /// matters more; if its starter is killed as well, nothing ends it.
    was_full: bool,
}

/// The machine as one actor sees it, and what wakes the player when an actor waits for its turn.
#[derive(Clone)]
struct Model {
    world: Arc<(Mutex<World>, Condvar)>,
    actor: usize,
}

/// A handle that holds a ledger, as an open file does.
struct Held {
    model: Model,
    file: usize,
}

impl Clone for Held {
    fn clone(&self) -> Held {
        self.model.world().files[self.file].holders += 1;
        Held { model: self.model.clone(), file: self.file }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.model.world().files[self.file].holders -= 1;
    }
}

/// A handle that holds the lock.
struct Lock(Model);

impl Lock {
    fn take(model: &Model) -> Option<Lock> {
        let mut world = model.step();
        let is_free = world.lock == 0;
        world.lock += usize::from(is_free);
        is_free.then(|| Lock(model.clone()))
    }
}

impl Clone for Lock {
    fn clone(&self) -> Lock {
        self.0.world().lock += 1;
        Lock(self.0.clone())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.world().lock -= 1;
    }
}

impl Model {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the actor's turn.
    fn step(&self) -> MutexGuard<'_, World> {
        self.wait(State::Waiting)
    }

    fn wait(&self, state: State) -> MutexGuard<'_, World> {
        let mut world = self.world();
        world.actors[self.actor].state = state;
        self.world.1.notify_all();
        let turn = Arc::clone(&world.actors[self.actor].turn);
        while world.actors[self.actor].state != State::Running {
            world = turn.wait(world).unwrap_or_else(PoisonError::into_inner);
        }

        if world.actors[self.actor].is_killed {
            drop(world);
            panic_any(Killed);
        }
        world
    }

    /// Starts an actor; it takes its first step when it is its turn.
    fn start(&self, act: impl FnOnce(Model) + Send + 'static) -> JoinHandle<()> {
        let actor = {
            let mut world = self.world();
            world.actors.push(Actor {
                state: State::Running,
                delay: 0,
                is_killed: false,
                turn: Arc::default(),
            });
            world.actors.len() - 1
        };
        let model = Model { world: Arc::clone(&self.world), actor };
        std::thread::spawn(move || {
            let own = model.clone();
            let ended = catch_unwind(AssertUnwindSafe(|| {
                drop(model.step());
                act(model.clone());
            }));
            own.world().actors[own.actor].state = State::Ended;
            own.world.1.notify_all();
            if let Err(payload) = ended {
                assert!(payload.is::<Killed>(), "an actor panicked");
            }
        })
    }

    fn change(&self, setting: &'static str, text: &'static str) {
        self.step().settings.insert(setting, text);
    }

    /// Runs a command, which goes on if the actor is killed meanwhile: many are slower than whoever
    /// undoes them.
    fn command(
        &self,
        setting: &'static str,
        text: &'static str,
        register: Register<'_>,
    ) -> Result<(), String> {
        let group = {
            let mut world = self.step();
            world.made += 1;
            world.made.cast_signed()
        };
        let json = serde_json::json!({ "leader": group, "started": 0, "session": 0 });
        register(serde_json::from_value(json).unwrap())?;
        let steps = self.world().random.random_range(0..60);
        self.step().commands.insert(group, Command { setting, text, steps });
        while self.step().commands.contains_key(&group) {}
        Ok(())
    }
}

impl Host for Model {
    type Held = Held;

    fn path(&self, name: &str) -> PathBuf {
        name.into()
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.step().folder.keys().cloned().collect())
    }

    fn create(&self, name: &str, text: &[u8]) -> io::Result<Held> {
        let mut world = self.step();
        if world.fails() {
            return Err(io::ErrorKind::StorageFull.into());
        }

        world.files.push(File { bytes: text.to_vec(), synced: text.to_vec(), holders: 1 });
        let file = world.files.len() - 1;
        world.folder.insert(name.to_owned(), file);
        Ok(Held { model: self.clone(), file })
    }

    fn hold(&self, name: &str) -> io::Result<Holding<Held>> {
        let mut world = self.step();
        let Some(file) = world.folder.get(name).copied() else {
            return Ok(Holding::Gone);
        };

        if world.files[file].holders > 0 {
            return Ok(Holding::Busy);
        }

        world.files[file].holders = 1;
        Ok(Holding::Held(Held { model: self.clone(), file }))
    }

    fn read(&self, held: &Held) -> io::Result<Vec<u8>> {
        Ok(self.step().files[held.file].bytes.clone())
    }

    fn append(&self, held: &Held, length: usize, text: &[u8]) -> io::Result<()> {
        {
            let mut world = self.step();
            let fails = world.fails();
            let written = if fails { world.random.random_range(0..text.len()) } else { text.len() };
            let bytes = &mut world.files[held.file].bytes;
            bytes.truncate(length);
            bytes.extend(&text[..written]);
            if fails {
                world.was_full = true;
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        let mut world = self.step();
        let file = &mut world.files[held.file];
        file.synced.clone_from(&file.bytes);
        Ok(())
    }

    fn remove(&self, name: &str, held: &Held) -> io::Result<()> {
        let mut world = self.step();
        if let Some(file) = world.folder.remove(name) {
            assert_eq!(file, held.file, "a ledger of another run was removed");
        }
        Ok(())
    }

    fn take(&self, step: &Undo, register: Register<'_>) -> Result<(), String> {
        if self.step().fails() {
            return Err("it does not work just now".to_owned());
        }

        match step {
            Undo::Write { path, .. } => self.change(setting(&path.display().to_string()), ORIGINAL),
            Undo::Shell { name, .. } => self.command(setting(name), ORIGINAL, register)?,
            Undo::EndGroup { group, .. } => drop(self.step().commands.remove(&group.leader())),
            _ => {}
        }
        Ok(())
    }

    fn boot(&self) -> String {
        self.world().boot.to_string()
    }

    fn machine(&self) -> String {
        String::new()
    }
}

fn setting(name: &str) -> &'static str {
    SETTINGS.into_iter().find(|setting| *setting == name).unwrap()
}

impl World {
    fn fails(&mut self) -> bool {
        self.is_nasty && self.random.random_ratio(1, 12)
    }

    /// Checks that each setting which is not as it was is named by a ledger.
    fn check(&self) {
        let pending: Vec<String> = self
            .folder
            .values()
            .flat_map(|file| {
                let log = Log::parse(&self.files[*file].bytes).expect("a ledger cannot be read");
                log.pending().map(|(_, step)| step.name()).collect::<Vec<String>>()
            })
            .collect();
        for (setting, text) in &self.settings {
            assert!(
                *text == ORIGINAL || pending.iter().any(|name| name == setting),
                "{setting} is {text}: {pending:?}"
            );
        }
    }

    /// A power cut: of what was not synced any first part is there.
    fn cut_power(&mut self) {
        self.actors.iter_mut().for_each(|actor| actor.is_killed = true);
        self.commands.clear();
        self.boot += 1;
        self.settings.insert(SETTINGS[0], ORIGINAL);
        for file in &mut self.files {
            let same = file.synced.iter().zip(&file.bytes).take_while(|(a, b)| a == b).count();
            let kept = self.random.random_range(same..=file.bytes.len().max(same));
            file.bytes.truncate(kept);
            if kept < file.synced.len() {
                file.bytes.clone_from(&file.synced);
            }
        }
    }
}

/// A run: it switches settings twice, by itself and by commands, and puts them back.
fn run(model: Model) {
    let Some(lock) = Lock::take(&model) else {
        return;
    };
    let Ok(survey) = survey_at(&model) else {
        return;
    };

    if survey.left.iter().any(|left| left.steps.iter().any(Undo::is_change)) {
        return;
    }

    let name = format!("undo-{}.jsonl", model.actor);
    let Ok(mut ledger) = Ledger::create(model.clone(), name.clone()) else {
        return;
    };

    let (held, lock_of_guardian, tool) = (ledger.held.clone(), lock.clone(), model.actor);
    drop(model.start(move |guardian| {
        // Held from the start, used when the tool has ended.
        let _lock = lock_of_guardian;
        drop(guardian.wait(State::Guarding(tool)));
        let ledger = Ledger::read(guardian.clone(), name, held);
        // What fails stays in the ledger.
        let _ = ledger.and_then(|mut ledger| ledger.close());
    }));
    for _ in 0..2 {
        if switch(&model, &mut ledger)
            .and_then(|()| ledger.put_back().map_err(|why| why.to_string()))
            .is_err()
        {
            break;
        }
    }

    let _ = ledger.close();
}

fn restore(model: Model) {
    // What fails stays in the ledger.
    let _ = restore_at(&model);
}

fn switch(model: &Model, ledger: &mut Ledger<Model>) -> Result<(), String> {
    ledger.record(&Undo::Write { path: SETTINGS[0].into(), text: ORIGINAL.to_owned() })?;
    model.change(SETTINGS[0], "changed");
    let name = SETTINGS[1].to_owned();
    ledger.record(&Undo::Shell {
        name: name.clone(),
        command: String::new(),
        limit: 1,
        absent: String::new(),
        own: crate::own::Own::default(),
    })?;
    let mut number = None;
    model.command(SETTINGS[1], "changed", &mut |group| {
        number = Some(ledger.record_command(&name, group)?);
        Ok(())
    })?;
    number.into_iter().for_each(|number| ledger.settle(number));
    // Nobody undoes it while it is measured.
    for _ in 0..10 {
        let world = model.step();
        let is_on = world.settings.values().all(|text| *text == "changed");
        assert!(is_on || world.was_full, "what is measured was undone");
    }

    Ok(())
}

/// Lets actors and commands take steps in an order of chance until nothing is left to do.
fn play(model: &Model, accidents: u32) {
    let mut accidents_left = accidents;
    loop {
        let mut world = model.world();
        while world.actors.iter().any(|actor| actor.state == State::Running) {
            world = model.world.1.wait(world).unwrap_or_else(PoisonError::into_inner);
        }

        world.check();
        let can_go = |actor: &Actor| match actor.state {
            State::Waiting => true,
            State::Guarding(tool) => actor.is_killed || world.actors[tool].state == State::Ended,
            State::Running | State::Ended => false,
        };
        let ready: Vec<usize> =
            (0..world.actors.len()).filter(|actor| can_go(&world.actors[*actor])).collect();
        let groups: Vec<i32> = world.commands.keys().copied().collect();
        if ready.is_empty() && groups.is_empty() {
            return;
        }
        if accidents_left > 0 && world.random.random_ratio(1, 25) {
            accidents_left -= 1;
            if world.random.random_ratio(1, 4) {
                world.cut_power();
            } else if !ready.is_empty() {
                let victim = ready[world.random.random_range(0..ready.len())];
                world.actors[victim].is_killed = true;
            }
            continue;
        }

        let chosen = world.random.random_range(0..ready.len() + groups.len());
        if let Some(actor) = ready.get(chosen) {
            let actor = &mut world.actors[*actor];
            if actor.delay > 0 && !actor.is_killed {
                actor.delay -= 1;
                continue;
            }

            actor.state = State::Running;
            actor.turn.notify_all();
        } else if let Some(command) = world.commands.get_mut(&groups[chosen - ready.len()])
            && command.steps > 0
        {
            command.steps -= 1;
        } else if let Some(command) = world.commands.remove(&groups[chosen - ready.len()]) {
            world.settings.insert(command.setting, command.text);
        }
    }
}

fn world(random: Pcg64Mcg) -> World {
    World {
        random,
        actors: Vec::new(),
        files: Vec::new(),
        folder: BTreeMap::new(),
        settings: SETTINGS.into_iter().map(|setting| (setting, ORIGINAL)).collect(),
        commands: BTreeMap::new(),
        lock: 0,
        boot: 0,
        made: 0,
        is_nasty: true,
        was_full: false,
    }
}

/// Two runs and two `restore`s, each from a moment of chance on, then `restore` on a machine where
/// all goes well.
fn interleave(seed: u64) {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let accidents = random.next_u32() % 5;
    let model = Model { world: Arc::new((Mutex::new(world(random)), Condvar::new())), actor: 0 };
    let mut threads = vec![model.start(run)];
    for act in [restore, restore, run] {
        threads.push(model.start(act));
        let mut world = model.world();
        let delay = world.random.random_range(0..200);
        world.actors.iter_mut().last().unwrap().delay = delay;
    }

    play(&model, accidents);
    model.world().is_nasty = false;
    for _ in 0..2 {
        threads.push(model.start(|model| drop(restore_at(&model).unwrap())));
        play(&model, 0);
    }

    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let world = model.world();
    assert_eq!(world.folder.keys().collect::<Vec<_>>(), Vec::<&String>::new(), "a ledger is left");
    assert!(world.settings.values().all(|text| *text == ORIGINAL), "{:?}", world.settings);
}

#[test]
fn no_order_of_steps_and_accidents_loses_a_change() {
    // Actors that are killed say nothing.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<Killed>() {
            usual(info);
        }
    }));
    let count = std::env::var("UNIXMARK_TEST_ALL").map_or(400, |_| 2_000);
    for seed in 0..count {
        let played = catch_unwind(|| interleave(seed));
        assert!(played.is_ok(), "seed {seed}");
    }
}
