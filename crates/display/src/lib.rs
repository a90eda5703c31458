//! The display of graphics tests: the user's display, or a private X server that ends with the
//! tool.
//!
//! The private server is started by way of this same executable ([`xvfb`]), which asks the kernel
//! for SIGTERM at the death of its parent and then becomes Xvfb. Xvfb chooses a free number, writes
//! it to a pipe when it listens, and lets in only clients with the cookie in the authority file,
//! which is in memory and found by its path below /proc.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use build::graphics;
use journal::Fact;
use processes::end_child;

/// The name under which this executable becomes the private X server.
pub const XVFB: &str = "unixmark-xvfb";

/// Size and depth of the private server's screen.
const SCREEN: &str = "1280x1024x24";

/// The longest time that a server or a GL driver may take to answer, in seconds.
const ANSWER_TIMEOUT_S: i64 = 20;

/// The longest time that the private server may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// The group of facts in reports to which those of the display belong.
const GROUP: &str = "Graphics";

/// An environment variable and its value; `None` removes it.
pub type Variable = (&'static str, Option<String>);

/// The display of graphics tests.
#[derive(Debug, Default)]
pub struct Display {
    server: Option<Server>,
    /// The environment of programs that draw on it.
    pub environment: Vec<Variable>,
}

impl Display {
    /// Starts a private X server with a number and an authority of its own. It ends when the
    /// returned display is dropped, and when this process ends for any other reason.
    ///
    /// # Errors
    /// Xvfb is not installed or does not start.
    pub fn private() -> Result<Display> {
        let server = Server::start()?;
        let environment = vec![
            ("DISPLAY", Some(format!(":{}", server.number))),
            ("XAUTHORITY", Some(path_in_proc(&server.authority))),
            ("WAYLAND_DISPLAY", None),
        ];
        Ok(Display { server: Some(server), environment })
    }

    /// The reason why the private X server has ended by itself, if it has.
    pub fn end_reason(&mut self) -> Option<String> {
        let server = self.server.as_mut()?;
        let status = server.child.try_wait().ok()??;
        let last_words = last_words(&mut server.stderr);
        Some(format!("the private X server ended during the run ({status}): {last_words}"))
    }

    /// Facts about the display and the GL driver; none if the driver does not answer.
    pub fn facts(&self) -> Vec<Fact> {
        let Some(program) = graphics() else {
            return Vec::new();
        };

        let mut command = Command::new(program);
        command.arg("facts").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        set_variables(&mut command, &self.environment);
        let Ok(mut child) = command.spawn() else {
            return Vec::new();
        };

        let mut output = String::new();
        if let Some(mut pipe) = child.stdout.take() {
            // A driver that hangs is killed.
            let (sender, receiver) = channel();
            std::thread::spawn(move || {
                let mut text = String::new();
                let _ = pipe.read_to_string(&mut text);
                let _ = sender.send(text);
            });
            output = receiver
                .recv_timeout(Duration::from_secs(ANSWER_TIMEOUT_S.unsigned_abs()))
                .unwrap_or_default();
        }
        let _ = child.kill();
        let _ = child.wait();
        output.lines().filter_map(parse_fact).collect()
    }
}

/// Sets or removes variables of a command's environment.
pub fn set_variables(command: &mut Command, environment: &[Variable]) {
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Reads `NAME\tLABEL\tVALUE`.
fn parse_fact(line: &str) -> Option<Fact> {
    let mut fields = line.splitn(3, '\t').map(str::to_owned);
    let (name, label, value) = (fields.next()?, fields.next()?, fields.next()?);
    Some(Fact::from_text(name, label, GROUP.to_owned(), value))
}

/// A private Xvfb.
#[derive(Debug)]
struct Server {
    child: Child,
    number: u32,
    /// Held open: clients find it below /proc, and it is gone with this process.
    authority: File,
    /// Its stderr.
    stderr: File,
}

impl Server {
    /// Starts Xvfb and waits until it listens.
    fn start() -> Result<Server> {
        let authority =
            make_authority().context("the authority of a private X server cannot be made")?;
        let mut stderr = make_memory_file("xvfb")?;
        let mut child = Command::new("/proc/self/exe")
            .arg0(XVFB)
            .arg(std::process::id().to_string())
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                SCREEN,
                "-nolisten",
                "tcp",
                "-noreset",
                "-auth",
            ])
            .arg(path_in_proc(&authority))
            // The terminal's Ctrl-C is the tool's to handle.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr.try_clone()?)
            .spawn()
            .context("a private X server cannot be started")?;
        let Some(number) = child.stdout.take().and_then(read_number) else {
            end_child(&mut child, END_TIMEOUT);
            bail!("the private X server did not start: {}", last_words(&mut stderr));
        };

        Ok(Server { child, number, authority, stderr })
    }

    /// Removes the socket of a server that was killed, unless another server uses the number by
    /// now. With -displayfd there is no lock file.
    fn remove_socket(&self) {
        let socket = format!("/tmp/.X11-unix/X{}", self.number);
        if UnixStream::connect(&socket)
            .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
        {
            let _ = std::fs::remove_file(socket);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // On SIGTERM it removes its socket by itself.
        end_child(&mut self.child, END_TIMEOUT);
        self.remove_socket();
    }
}

/// Becomes the private X server, which ends when the tool does, for whatever reason. Runs in a
/// process of its own.
pub fn xvfb(words: &[OsString]) {
    let Some((parent, words)) = words.split_first() else {
        return;
    };
    // On SIGTERM an X server removes its files.
    let death_signal = set_parent_process_death_signal(Some(Signal::TERM));
    // The parent may have ended before the signal was set.
    let is_orphan =
        getppid().map(|pid| pid.as_raw_nonzero().to_string().into()) != Some(parent.clone());
    if death_signal.is_err() || is_orphan {
        return;
    }

    let error = Command::new("Xvfb").args(words).exec();
    // The tool reads this as the server's last words.
    let _ = writeln!(std::io::stderr(), "Xvfb cannot be run ({error}); install the package xvfb");
}

/// The last line that a server has printed.
fn last_words(stderr: &mut File) -> String {
    let mut text = String::new();
    let _ = stderr.rewind().and_then(|()| stderr.read_to_string(&mut text));
    let lines = text.lines().map(|line| line.trim_start_matches("(EE)").trim());
    lines.rev().find(|line| !line.is_empty()).unwrap_or("it printed nothing").to_owned()
}

/// The number of the display, once the server listens. The server writes the digits first and the
/// line end later, and gives up if nobody reads that.
fn read_number(mut pipe: ChildStdout) -> Option<u32> {
    let mut text = String::new();
    while !text.ends_with('\n') {
        let mut ready = [PollFd::new(&pipe, PollFlags::IN)];
        poll(&mut ready, Some(&Timespec { tv_sec: ANSWER_TIMEOUT_S, tv_nsec: 0 }))
            .ok()
            .filter(|ready| *ready > 0)?;
        let mut bytes = [0; 16];
        let length = pipe.read(&mut bytes).ok().filter(|length| *length > 0)?;
        text += std::str::from_utf8(&bytes[..length]).ok()?;
    }

    text.trim().parse().ok()
}

/// A file in memory that others of the same user can open.
fn make_memory_file(name: &str) -> Result<File> {
    Ok(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?))
}

/// The name that other processes have for a file of this one.
fn path_in_proc(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_fd().as_raw_fd())
}

/// An Xauthority file: one random cookie, for every address and every display.
fn make_authority() -> Result<File> {
    const WILD: [u8; 2] = [0xff, 0xff];
    const EMPTY: [u8; 2] = [0, 0];
    let mut cookie = [0; 16];
    File::open(Path::new("/dev/urandom"))?.read_exact(&mut cookie)?;
    let mut file = make_memory_file("xauthority")?;
    file.write_all(&[WILD, EMPTY, EMPTY].concat())?;
    for field in [&b"MIT-MAGIC-COOKIE-1"[..], &cookie] {
        file.write_all(&u16::try_from(field.len())?.to_be_bytes())?;
        file.write_all(field)?;
    }

    file.rewind()?;
    Ok(file)
}
