//! Debian's Chromium without a display and without a network, driven through its DevTools protocol
//! over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::has;

/// The longest time that a page may take to do what is waited for; the machine may be busy.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// A browser with one tab.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The protocol's session of the tab; empty before there is one.
    session: String,
    /// The number of the last call.
    last_call: u64,
    /// The complaints of the page.
    pub errors: Vec<String>,
    /// The addresses that the page asked for.
    pub requests: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser in a network namespace without interfaces; a skip where that cannot be.
    #[track_caller]
    pub fn start() -> Option<Browser> {
        if !has("chromium") || !has("unshare") {
            return None;
        }

        // The browser reads the protocol from descriptor 3 and writes it to 4.
        let profile = tempfile::tempdir_in("/var/tmp").unwrap();
        let script = "exec chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --disable-background-networking --remote-debugging-pipe --user-data-dir=\"$0\" about:blank \
                      3<&0 4>&1 >/dev/null 2>&1";
        let mut child = Command::new("unshare")
            .args(["--user", "--map-root-user", "--net", "sh", "-c", script])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();

        let mut browser = Browser {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            session: String::new(),
            last_call: 0,
            errors: Vec::new(),
            requests: Vec::new(),
            _profile: profile,
        };
        let target =
            browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached =
            browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }

        Some(browser)
    }

    /// Calls a method of the protocol and returns its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_call += 1;
        let mut message = json!({"id": self.last_call, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        write!(self.input, "{message}\0").unwrap();
        self.input.flush().unwrap();

        loop {
            let mut bytes = Vec::new();
            assert!(
                self.output.read_until(0, &mut bytes).unwrap() > 0,
                "the browser ended during {method}"
            );
            // The zero that ends the message.
            bytes.pop();

            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.last_call {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note_event(&answer);
        }
    }

    /// Keeps what an event of the page says, if it is a complaint or a request.
    fn note_event(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => {
                self.errors.push(parameters["exceptionDetails"].to_string())
            }
            "Log.entryAdded" if parameters["entry"]["level"] != "info" => {
                self.errors.push(parameters["entry"].to_string());
            }
            "Runtime.consoleAPICalled" => self.errors.push(parameters["args"].to_string()),
            "Network.requestWillBeSent" => {
                self.requests
                    .push(parameters["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            _ => {}
        }
    }

    /// Sets the window's size in CSS pixels.
    pub fn size(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Opens a file, with what follows its name in the address, and waits until `ready` is true of
    /// the page.
    pub fn open(&mut self, file: &Path, rest: &str, ready: &str) {
        // Another fragment of the same page would not load it again.
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call("Page.navigate", json!({"url": format!("file://{}{rest}", file.display())}));
        self.wait(ready);
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let begin = Instant::now();
        while self.value(expression) != true {
            assert!(
                begin.elapsed() < WAIT_TIMEOUT,
                "never true: {expression}; errors: {:?}",
                self.errors
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The value of an expression of JavaScript.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        self.call("Runtime.evaluate", parameters)["result"]["value"].clone()
    }

    /// Presses a key: `Tab`, `Enter`, or a blank.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            _ => (32, " "),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event = json!({"type": kind, "key": key, "code": key.replace(' ', "Space"),
                "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", event);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
