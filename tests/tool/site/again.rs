//! What a site remembers of the last time changes what is read, and no byte of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{files, site, six, systems};
use testing::Place;

/// Builds a site and returns what it says; as if it had been built into an empty directory.
fn built(place: &Place, folder: &Path, options: &str) -> String {
    let (www, _, said) = site(place, folder, "www", options);
    let fresh = place.root.path().join("fresh");
    let _ = std::fs::remove_dir_all(&fresh);
    let _ = std::fs::remove_file(state(place, &fresh));
    let (fresh, ..) = site(place, folder, "fresh", options);
    assert!(files(&www) == files(&fresh), "{said}");
    said
}

/// The file in which is remembered what the site at `www` is made of.
fn state(place: &Place, www: &Path) -> PathBuf {
    let folder = place.root.path().join("cache/unixmark/sites");
    let is_of = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().next().unwrap().contains(&format!("\"{}\"", www.display()))
    };
    let mut all =
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    all.find(is_of).unwrap_or_else(|| place.root.path().join("none"))
}

#[test]
fn journals_as_they_were_are_not_read_and_others_are() {
    let place = Place::new();
    let folder = six(&place);
    // Nothing shows that a file as young as that was not changed meanwhile.
    std::thread::sleep(Duration::from_millis(2100));
    assert!(built(&place, &folder, "").contains("7 runs, 7 of them new; 7 journals read"));
    assert!(built(&place, &folder, "").contains("7 runs, 0 of them new; 0 journals read"));
    // Of the same length, and with its old time.
    let edited = folder.join("cc0.jsonl");
    let (text, time) =
        (std::fs::read_to_string(&edited).unwrap(), edited.metadata().unwrap().modified().unwrap());
    std::fs::write(&edited, text.replace("Alpha", "Aleph")).unwrap();
    std::fs::File::options().append(true).open(&edited).unwrap().set_modified(time).unwrap();
    assert!(built(&place, &folder, "").contains("7 runs, 1 of them new; 1 journal read"));
    // A second run of a system, and one taken away.
    systems(&folder.join("more"), &[("a", 2.0, &[("cpu.model", "Gamma")])], crate::corpus::GCC);
    std::fs::rename(folder.join("more/cc0.jsonl"), folder.join("later.jsonl")).unwrap();
    std::fs::remove_file(folder.join("cc4.jsonl")).unwrap();
    assert!(built(&place, &folder, "").contains("7 runs, 1 of them new; 2 journals read"));
    // A file of the site that is gone is made again.
    let www = place.root.path().join("www");
    let record = files(&www)
        .into_keys()
        .find(|name| name.starts_with("r") && name.extension().is_some_and(|end| end == "js"))
        .unwrap();
    let page = files(&www).into_keys().find(|name| name.starts_with("h")).unwrap();
    std::fs::remove_file(www.join(record)).unwrap();
    std::fs::remove_file(www.join(page)).unwrap();
    built(&place, &folder, "");
}

#[test]
fn what_is_remembered_is_of_one_tool_and_its_options_and_whole() {
    let place = Place::new();
    let folder = six(&place);
    std::thread::sleep(Duration::from_millis(2100));
    let www = place.root.path().join("www");
    let all = "7 journals read";
    assert!(built(&place, &folder, "").contains(all));
    let own = state(&place, &www);
    let whole = std::fs::read_to_string(&own).unwrap();
    let (head, body) = whole.split_once('\n').unwrap();
    let other_tool = whole.replacen("unixmark 0", "unixmark 9", 1);
    assert_ne!(other_tool, whole);
    for damaged in [
        String::new(),
        whole[..whole.len() / 2].to_owned(),
        format!("{head}\n{}", body.replacen("Alpha", "Omega", 1)),
        other_tool,
        "{}\n[]".to_owned(),
    ] {
        std::fs::write(&own, damaged).unwrap();
        assert!(built(&place, &folder, "").contains(all));
        assert!(std::fs::read_to_string(&own).unwrap() == whole, "it is whole again");
    }
    assert!(built(&place, &folder, "").contains("0 journals read"));
    assert!(built(&place, &folder, "--anonymous").contains(all));
    let replaced = built(&place, &folder, "--anonymous");
    assert!(replaced.contains("0 journals read") && replaced.contains("hosts"), "{replaced}");
    assert!(built(&place, &folder, "--title Others").contains(all), "no longer anonymous");
    assert!(built(&place, &folder, "--title More").contains("0 journals read"));
    // A site that is gone is forgotten at the next.
    std::fs::remove_dir_all(&www).unwrap();
    site(&place, &folder, "other", "");
    assert!(!own.exists());
}
