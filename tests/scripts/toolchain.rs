//! `tests/toolchain.sh` on machines without Rust, with an old one, without a network, without root.

use super::{Sandbox, executable};
use testing::stderr;

const COMMANDS: &str =
    "sh sed sort head cut cat mktemp rm mkdir cp chmod sha256sum uname dirname id";

/// What rustup-init does: cargo and rustc appear in the user's home.
const INIT: &str = r#"echo "$*" >>"$HOME/init"
mkdir -p "$HOME/.cargo/bin"
printf '#!/bin/sh\necho "rustc 1.99.0 (x 2026-01-01)"\n' >"$HOME/.cargo/bin/rustc"
printf '#!/bin/sh\n[ "$1" = fmt ] || exit 101\n' >"$HOME/.cargo/bin/cargo"
chmod +x "$HOME/.cargo/bin/rustc" "$HOME/.cargo/bin/cargo""#;

/// Serves rustup-init and its checksum, which is right where `sum` says so.
const CURL: &str = r#"for word; do [ "$last" = -o ] && into=$word; last=$word; done
echo "$last" >>"$ROOT/fetched"
case $last in
*.sha256) if [ "$(cat "$ROOT/sum")" = good ]; then sha256sum "$ROOT/rustup-init"; else cat "$ROOT/sum"; fi >"$into" ;;
*/rustup-init) cp "$ROOT/rustup-init" "$into" ;;
*) exit 22 ;;
esac"#;

fn machine() -> Sandbox {
    let made = Sandbox::new("unixmark-toolchain-", COMMANDS);
    std::fs::create_dir(made.path("home")).unwrap();
    std::fs::write(made.path("sum"), "good").unwrap();
    executable(&made.path("rustup-init"), INIT);
    made
}

/// The exit code of the script and what it said; `words` are components.
fn see_to(machine: &Sandbox, words: &[&str]) -> (Option<i32>, String) {
    let output = machine.run(&testing::file("tests/toolchain.sh"), words, &[]);
    (output.status.code(), stderr(&output))
}

fn install_old(machine: &Sandbox) {
    machine.fake("cargo", "exit 101");
    machine.fake("rustc", "echo 'rustc 1.63.0'");
}

#[test]
fn what_is_new_enough_is_left_alone() {
    let machine = machine();
    machine.fake("cargo", "exit 0");
    for version in ["1.89.0", "1.90.0-nightly (abc 2025-07-01)", "1.100.0", "2.0.0"] {
        machine.fake("rustc", &format!("echo 'rustc {version}'"));
        assert_eq!(see_to(&machine, &["fmt:rustfmt"]), (Some(0), String::new()), "{version}");
    }
}

#[test]
fn a_missing_toolchain_is_installed_and_announced_in_a_line() {
    let machine = machine();
    machine.fake("curl", CURL);
    let (code, said) = see_to(&machine, &["fmt:rustfmt"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("Rust is missing: installing it with rustup") && said.lines().count() == 1,
        "{said}"
    );
    assert!(said.contains("/home/.cargo and "), "{said}");
    let words = std::fs::read_to_string(machine.path("home/init")).unwrap();
    assert!(
        words.contains("-y ")
            && words.contains("--no-modify-path")
            && words.contains("--profile minimal"),
        "{words}"
    );
    let fetched = std::fs::read_to_string(machine.path("fetched")).unwrap();
    assert!(
        fetched.lines().all(|url| url.starts_with("https://static.rust-lang.org/rustup/dist/")),
        "{fetched}"
    );
    // It is there now, though no PATH of the caller's has it.
    assert_eq!(see_to(&machine, &[]), (Some(0), String::new()));
}

#[test]
fn the_rust_of_debian_12_is_too_old_and_says_so() {
    let machine = machine();
    install_old(&machine);
    machine.fake("curl", CURL);
    let (code, said) = see_to(&machine, &[]);
    assert!(
        code == Some(0) && said.starts_with("rustc 1.63.0 is too old: installing it with rustup"),
        "{said}"
    );
}

#[test]
fn without_a_network_it_says_what_is_missing() {
    let machine = machine();
    machine.fake("curl", "exit 6");
    let (code, said) = see_to(&machine, &[]);
    assert_eq!(code, Some(1), "{said}");
    let last = said.lines().last().unwrap();
    assert!(
        last.starts_with("Rust is missing, and static.rust-lang.org cannot be reached"),
        "{said}"
    );
    assert!(last.contains("1.89 or later (https://rustup.rs)"), "{said}");
    install_old(&machine);
    let (code, said) = see_to(&machine, &[]);
    assert!(
        code == Some(1)
            && said.contains("rustc 1.63.0 is too old, and static.rust-lang.org cannot"),
        "{said}"
    );
    assert!(!machine.path("home/.cargo").exists());
}

#[test]
fn a_wrong_checksum_is_never_run() {
    let machine = machine();
    machine.fake("curl", CURL);
    std::fs::write(machine.path("sum"), "0".repeat(64)).unwrap();
    let (code, said) = see_to(&machine, &[]);
    assert!(
        code == Some(1) && said.contains("does not have the checksum that is published"),
        "{said}"
    );
    assert!(!machine.path("home/init").exists());
}

/// Debian's package comes first, where there is one and it may be installed; root is played by
/// `id`.
#[test]
fn debian_s_rustup_is_preferred() {
    const RUSTUP: &str = r#"echo "$*" >>"$ROOT/rustup"
case $1 in default) [ -n "$2" ] ;; toolchain) "$ROOT/rustup-init" ;; esac"#;
    for (id, from_debian) in [("0", true), ("1000", false)] {
        let machine = machine();
        machine.fake("curl", CURL);
        machine.fake("id", &format!("if [ \"$1\" = -n ]; then echo somebody; else echo {id}; fi"));
        machine.fake("apt-cache", "echo 'rustup - Rust toolchains'");
        executable(&machine.path("package"), RUSTUP);
        machine.fake(
            "apt-get",
            "echo \"$*\" >>\"$ROOT/apt\"; cp \"$ROOT/package\" \"$ROOT/bin/rustup\"",
        );
        let (code, said) = see_to(&machine, &[]);
        assert_eq!(code, Some(0), "{id}: {said}");
        assert_eq!(machine.path("fetched").exists(), !from_debian, "{id}: {said}");
        if from_debian {
            let asked = std::fs::read_to_string(machine.path("rustup")).unwrap();
            assert_eq!(
                asked,
                "toolchain install stable --profile minimal\ndefault\ndefault stable\n"
            );
            assert!(
                std::fs::read_to_string(machine.path("apt"))
                    .unwrap()
                    .contains("--no-remove rustup")
            );
        }
    }
}

#[test]
fn missing_components_are_added_or_named() {
    let machine = machine();
    machine.fake("rustc", "echo 'rustc 1.95.0'");
    machine.fake("cargo", "[ \"$1\" = fmt ]");
    let words = ["fmt:rustfmt", "clippy:clippy"];
    let (code, said) = see_to(&machine, &words);
    assert!(
        code == Some(1) && said.starts_with("this toolchain lacks clippy; install Rust"),
        "{said}"
    );
    machine.fake("rustup", "echo \"$*\" >\"$ROOT/rustup\"");
    assert_eq!(see_to(&machine, &words).0, Some(0));
    assert_eq!(std::fs::read_to_string(machine.path("rustup")).unwrap(), "component add clippy\n");
}

/// What cannot be installed is named with the packages that have it.
#[test]
fn missing_tools_are_named_without_root() {
    let machine = machine();
    let tools = testing::file("tests/tools.sh");
    let ask = || {
        let output = machine.run(&tools, &["sh:dash", "weston:weston", "Xvfb:xvfb"], &[]);
        (output.status.code(), stderr(&output))
    };
    let (code, said) = ask();
    assert!(code == Some(1) && said.starts_with("missing: weston Xvfb; install them"), "{said}");
    machine.fake("apt-get", "exit 100");
    machine.fake("id", "echo 1000");
    let (code, said) = ask();
    assert!(
        code == Some(1) && said == "missing: weston Xvfb; as root: apt-get install weston xvfb\n",
        "{said}"
    );
    machine.fake("id", "echo 0");
    let (code, said) = ask();
    assert!(code == Some(1) && said.contains("apt-get could not install weston xvfb"), "{said}");
}
