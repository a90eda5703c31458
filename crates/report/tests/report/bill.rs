//! The bill of a command under two conditions, made up.

use analysis::{Item, Prediction, Range};
use report::{Format, Subject};
use stats::Estimate;

fn plus(value: f64, half: f64) -> Estimate {
    Estimate { value, low: value - half, high: value + half }
}

fn item(name: &str, count: [u64; 2], price: Option<f64>) -> Item {
    let added = price.map(|price| plus(price * (count[0] + count[1]) as f64 / 2.0, 2000.0));
    Item {
        name: name.to_owned(),
        count: Range { low: count[0], high: count[1] },
        price: price.map(|price| plus(price, 1.5)),
        added,
    }
}

fn predictions() -> Vec<Prediction> {
    let measured = Prediction {
        condition: "audit=all".to_owned(),
        against: "audit=off".to_owned(),
        items: vec![
            item("openat", [180, 190], Some(2400.0)),
            item("read", [1000, 1000], Some(300.0)),
            item("faults", [400, 420], Some(-1.0)),
            item("io_uring_enter", [12, 12], None),
        ],
        total: Some(plus(743_600.0, 14_000.0)),
        time: Some(9_000_000.0),
        measured: Some(plus(900_000.0, 40_000.0)),
    };
    let alone = Prediction {
        condition: "seccomp=allow".to_owned(),
        time: None,
        measured: None,
        ..measured.clone()
    };
    vec![measured, alone]
}

fn bill(format: Format) -> String {
    report::render(Subject::Bill("git status", &predictions()), format).unwrap()
}

#[test]
fn a_bill_says_what_is_paid_for_what_and_what_is_not_explained() {
    let text = bill(Format::Text);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("bill_text", text);
    insta::assert_snapshot!("bill_markdown", bill(Format::Markdown));
    insta::assert_snapshot!("bill_csv", bill(Format::Csv));
    insta::assert_snapshot!("bill_json", bill(Format::Json));
    let page = bill(Format::Html);
    testing::page::check(&page);
    assert!(page.contains("io_uring_enter"));
}
