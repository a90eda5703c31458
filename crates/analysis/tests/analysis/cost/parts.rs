//! A whole condition beside the sum of its parts.

use catalogue::Catalogue;
use journal::Cell;

use super::made::{Machine, Made, Order};

/// A container beside its parts, each of which is in a container's root.
#[test]
fn a_whole_stands_beside_the_sum_of_its_parts() {
    let slowdowns = [
        ("podman=whole", 1.5),
        ("podman=root", 1.1),
        ("podman=namespaces", 1.32),
        ("podman=seccomp", 1.43),
    ];
    let sentence = |conditions: &[(&str, f64)]| {
        let names: Vec<&str> =
            ["none"].into_iter().chain(conditions.iter().map(|condition| condition.0)).collect();
        let mut made = Made::new(1, &names);
        let mut machine = Machine { drift: 0.0, ..Machine::new(7, 0.002) };
        let slowdown = |cell: &Cell| {
            conditions.iter().find(|condition| condition.0 == cell.key.condition).unwrap().1
        };
        made.measure(&mut machine, 0..12, Order::Whole, |cell| -slowdown(cell).ln());
        made.cost(&Catalogue::load().unwrap()).conditions[0].sentence.clone()
    };
    let whole = sentence(&slowdowns);
    assert!(
        whole.contains("Test of t0 takes 1.50x (1.50x to 1.50x) the time under the whole, and 1.7"),
        "{whole}"
    );
    assert!(whole.ends_with(" under the sum of its parts."), "{whole}");
    assert!(!sentence(&slowdowns[..3]).contains("parts"), "one part was not measured");
}
