//! The pages in Debian's Chromium, from `file://` and without a network.

use super::{HOSTILE, site, six, systems};
use crate::corpus::GCC;
use testing::Place;
use testing::browser::Browser;

/// The page has been drawn by its script.
const DRAWN: &str = "document.body.dataset.drawn === '1'";

/// The hosts of the ranking, top to bottom.
const HOSTS: &str =
    "[...document.querySelectorAll('#board tbody th a')].map((a) => a.textContent).join(' ')";

/// The numbers beside a facet's values.
const COUNTS: &str = "[...document.querySelectorAll('details[data-facet=\"kernel.release\"] li')].map((li) => li.textContent.trim()).join(', ')";

fn tick(browser: &mut Browser, facet: &str, value: &str) {
    let script = format!(
        "(() => {{ const all = [...document.querySelectorAll('details[data-facet=\"{facet}\"] li')]; \
         all.find((li) => li.querySelector('bdi').textContent === '{value}').querySelector('input').click(); }})()"
    );
    browser.value(&script);
}

/// Nothing was asked of a network, and nothing went wrong.
fn assert_quiet(browser: &Browser) {
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
    let foreign = |url: &&String| !url.starts_with("file:///") && !url.starts_with("about:");
    assert_eq!(browser.requests.iter().find(foreign), None);
    assert!(!browser.requests.is_empty());
}

#[test]
#[ignore = "needs Chromium"]
fn the_ranking_filters_sorts_and_keeps_its_state_in_the_address() {
    let place = Place::new();
    let (www, ..) = site(&place, &six(&place), "www", "");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let front = www.join("index.html");
    browser.open(&front, "", DRAWN);
    assert_eq!(browser.value(HOSTS), "f e d a b c", "another build is not among them");
    assert_eq!(browser.value("location.hash"), "", "the default leaves nothing in the address");
    let guard = browser.value("document.querySelector('.guard').textContent");
    assert!(guard.as_str().unwrap().contains("1 run hidden: different builds."), "{guard}");
    assert_eq!(browser.value(COUNTS), "6.1 4, 6.12 2");
    tick(&mut browser, "cpu.model", "Beta");
    browser.wait(&format!("{HOSTS} === 'e d'"));
    assert_eq!(browser.value(COUNTS), "6.12 2", "the counts are of what the other facets leave");
    tick(&mut browser, "cpu.model", "Alpha");
    browser.wait(&format!("{HOSTS} === 'f e d a b c'"));
    tick(&mut browser, "kernel.release", "6.12");
    browser.wait(&format!("{HOSTS} === 'e d'"));
    // Sorted by the system's name, the other way round by a second press.
    let head = "[...document.querySelectorAll('#board thead button')].find((b) => b.textContent === 'System').click()";
    browser.value(head);
    browser.wait(&format!("{HOSTS} === 'd e'"));
    let address = browser.value("location.hash");
    let address = address.as_str().unwrap().to_owned();
    assert!(address.len() < 80, "{address}");
    browser.open(&front, &address, DRAWN);
    assert_eq!(browser.value(HOSTS), "d e", "{address} restores the state");
    assert_eq!(browser.value("document.querySelectorAll('.facets input:checked').length"), 3);
    // Mixed only if asked, and then it is said.
    browser.open(&front, "#c=*", DRAWN);
    assert_eq!(browser.value(HOSTS), "f e g d a b c");
    let guard = browser.value("document.querySelector('.guard').textContent");
    assert!(guard.as_str().unwrap().contains("differ in their builds"), "{guard}");
    assert_quiet(&browser);
}

/// The address has the chosen values themselves, whatever is in them.
#[test]
#[ignore = "needs Chromium"]
fn any_value_of_a_fact_can_be_chosen() {
    let place = Place::new();
    let folder = place.root.path().join("runs");
    let odd = "A,B 100%2C + <i>&#;";
    systems(&folder, &[("a", 1.0, &[("cpu.model", odd)]), ("b", 2.0, &[("cpu.model", "A")])], GCC);
    let (www, ..) = site(&place, &folder, "www", "");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let front = www.join("index.html");
    browser.open(&front, "", DRAWN);
    tick(&mut browser, "cpu.model", odd);
    browser.wait(&format!("{HOSTS} === 'a'"));
    let address = browser.value("location.hash").as_str().unwrap().to_owned();
    browser.open(&front, &address, DRAWN);
    assert_eq!(browser.value(HOSTS), "a", "{address}");
    tick(&mut browser, "cpu.model", "A");
    browser.wait(&format!("{HOSTS} === 'b a'"));
    // What is no address chooses nothing, and breaks nothing.
    browser.open(&front, "#f.cpu.model=%E0%A4%A", DRAWN);
    assert_quiet(&browser);
}

#[test]
#[ignore = "needs Chromium"]
fn keys_are_enough_and_a_phone_is_wide_enough() {
    let place = Place::new();
    let (www, ..) = site(&place, &six(&place), "www", "");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.size(360, 740);
    browser.open(&www.join("index.html"), "", DRAWN);
    // Tab to a facet, open it, tab to a value, choose it.
    let until = |browser: &mut Browser, test: &str| {
        let is_there = (0..80).any(|_| {
            browser.press("Tab");
            browser.value(&format!(
                "(() => {{ const at = document.activeElement; return {test}; }})()"
            )) == true
        });
        assert!(is_there, "no key leads to where {test}");
    };
    until(&mut browser, "at.tagName === 'SUMMARY' && at.textContent === 'Processor'");
    browser.press("Enter");
    until(&mut browser, "at.name === 'cpu.model' && at.closest('li').textContent.includes('Beta')");
    browser.press(" ");
    browser.wait(&format!("{HOSTS} === 'e d'"));
    assert_eq!(
        browser.value("document.activeElement.name"),
        "cpu.model",
        "the focus stays where it was"
    );
    for page in ["index.html", "models.html", "compare.html", "runs.html"] {
        browser.open(&www.join(page), "", "document.readyState === 'complete'");
        let width = browser.value("document.documentElement.scrollWidth");
        assert!(width.as_u64().unwrap() <= 360, "{page} is {width} wide");
    }
    assert_quiet(&browser);
}

#[test]
#[ignore = "needs Chromium"]
fn side_by_side_marks_only_what_is_certain() {
    let place = Place::new();
    let (www, ..) = site(&place, &six(&place), "www", "");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.open(&www.join("index.html"), "", DRAWN);
    for host in ["a", "b", "e"] {
        let script =
            format!("document.querySelector('[aria-label=\"side by side: {host}\"]').click()");
        browser.value(&script);
        browser.wait(&format!(
            "document.querySelector('[aria-label=\"side by side: {host}\"]').checked"
        ));
    }
    let target = browser.value("document.getElementById('together').getAttribute('href')");
    let target = target.as_str().unwrap().strip_prefix("compare.html").unwrap().to_owned();
    browser.open(&www.join("compare.html"), &target, DRAWN);
    let index = "[...document.querySelectorAll('.side tbody tr')].find((tr) => tr.textContent.startsWith('System Benchmarks'))";
    let marks = format!("[...{index}.querySelectorAll('td')].map((td) => td.className).join()");
    assert_eq!(browser.value(&marks), "n,n,n best", "two that are alike are neither the worst");
    // Relative to one of them, by the address alone.
    let first = target.trim_start_matches("#r=").split(',').next().unwrap().to_owned();
    browser.open(&www.join("compare.html"), &format!("{target}&b={first}"), DRAWN);
    let ratio = browser.value(&format!("{index}.querySelectorAll('td')[2].textContent"));
    let ratio: f64 = ratio.as_str().unwrap().trim_end_matches('x').parse().unwrap();
    assert!((ratio / 16.0 - 1.0).abs() < 0.02, "{ratio}");
    assert_quiet(&browser);
}

#[test]
#[ignore = "needs Chromium"]
fn hostile_names_are_text() {
    let place = Place::new();
    let folder = place.root.path().join("runs");
    systems(
        &folder,
        &[(HOSTILE, 1.0, &[("cpu.model", HOSTILE)]), ("plain", 1.0, &[("cpu.model", "Beta")])],
        GCC,
    );
    let (www, ..) = site(&place, &folder, "www", "");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.open(&www.join("index.html"), "", DRAWN);
    let hosts = browser.value(HOSTS);
    assert!(hosts.as_str().unwrap().contains("<script>alert(1)</script>\"'&</title>"), "{hosts}");
    assert_eq!(browser.value("document.querySelectorAll('body script').length"), 0);
    assert_quiet(&browser);
}

/// Of axe-core, which looks for what keeps people from using a page: what it calls moderate or
/// worse.
const FOUND: &str = "axe.run().then((found) => found.violations.filter((one) => one.impact !== 'minor')
    .map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 200)).join(' | ')).join('\\n'))";

#[test]
#[ignore = "needs Chromium"]
fn nothing_keeps_people_from_using_the_pages() {
    let place = Place::new();
    let folder = six(&place);
    systems(&folder.join("later"), &[("x", 1.0, &[]), ("a", 2.0, &[("cpu.model", "Alpha")])], GCC);
    let (www, ..) = site(&place, &folder, "www", "");
    let Some(python) = testing::python_or_skip("axe-core-python==0.1.0") else {
        return;
    };
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let library = std::fs::read_dir(python.join("lib")).unwrap().next().unwrap().unwrap().path();
    let axe =
        std::fs::read_to_string(library.join("site-packages/axe_core_python/axe.min.js")).unwrap();
    let ids: Vec<String> = std::fs::read_dir(www.join("r"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let trend = std::fs::read_dir(www.join("h")).unwrap().map(|entry| entry.unwrap().path());
    let trend = trend.max_by_key(|path| path.as_os_str().len()).unwrap();
    let aside = format!("#r={},{}", ids[0], ids[1]);
    let run = format!("r/{}.html", ids[0]);
    let report = |run: &str| {
        let output =
            place.unixmark("report --format html").arg(testing::recorded(run)).output().unwrap();
        let page = place.root.path().join(format!("{run}.html"));
        std::fs::write(&page, output.stdout).unwrap();
        page.display().to_string()
    };
    let reports = ["cooling", "cost", "latency", "scaling"].map(report);
    for (page, address) in [
        ("index.html", ""),
        ("index.html", "#c=*"),
        ("compare.html", &*aside),
        ("models.html", ""),
        ("runs.html", ""),
    ]
    .into_iter()
    .chain([(&*run, ""), (trend.to_str().unwrap(), "")])
    .chain(reports.iter().map(|page| (page.as_str(), "")))
    {
        let drawn =
            if page.starts_with("index") || page.starts_with("compare") { DRAWN } else { "true" };
        browser.open(&www.join(page), address, drawn);
        browser.wait("document.readyState === 'complete'");
        browser.value(&format!("{axe};0"));
        assert_eq!(browser.value(FOUND), "", "{page}{address}");
    }
}
