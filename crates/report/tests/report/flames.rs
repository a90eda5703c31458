//! The flame graphs of two commands that were sampled: on pages alone, and small whatever they show.

use analysis::Results;
use catalogue::Catalogue;
use journal::{Profile, Sampled, SampledFunction, Stack};
use report::{Format, Subject};

const ROUNDS: u64 = 20;

/// The page of two commands, of which a function takes so many ms in an execution of the first and
/// in one of the second; all others take as long in both.
fn page(functions: &[(&str, [u64; 2])], stacks: &[(u64, &[u32])]) -> String {
    let mut journal = journal::read(&testing::recorded("ab")).unwrap();
    for side in 0..2 {
        // Executions differ a little, in turn.
        let ns = |round: u64, ms: u64| ms * 1_000_000 + (round * (7 + side as u64) % 5) * 1000;
        let execution = |round| Sampled {
            round,
            samples: 100,
            ns: functions.iter().map(|(_, ms)| ns(round, ms[side])).sum(),
            ..Sampled::default()
        };
        journal.profiles.push(Profile {
            cell: side,
            executions: (0..ROUNDS).map(execution).collect(),
            functions: functions
                .iter()
                .map(|(name, ms)| SampledFunction {
                    name: (*name).to_owned(),
                    file: "tool".to_owned(),
                    ns: (0..ROUNDS).map(|round| ns(round, ms[side])).collect(),
                    instructions: Vec::new(),
                })
                .collect(),
            frames: functions.iter().map(|(name, _)| (*name).to_owned()).collect(),
            stacks: stacks
                .iter()
                .map(|(ms, frames)| Stack { ns: ms * 1_000_000 * ROUNDS, frames: frames.to_vec() })
                .collect(),
            kernel: true,
            ..Profile::default()
        });
    }
    let results = Results::new(&journal, &Catalogue::load().unwrap(), None);
    report::render(Subject::Run(&results), Format::Html).unwrap()
}

#[test]
fn a_function_has_a_hue_where_it_differs_and_nowhere_else() {
    let functions = [("main", [10, 10]), ("parse", [40, 60]), ("<print>", [40, 40])];

    let page = page(&functions, &[(10, &[0]), (40, &[0, 1]), (40, &[0, 2]), (10, &[0, 1, 2])]);

    // Two commands, each drawn twice.
    assert_eq!(page.matches("<rect class=\"h1\"").count(), 4);
    assert_eq!(page.matches("<rect class=\"h0\"").count(), 0);
    assert_eq!(page.matches("<title>&lt;print&gt;: 40.0 ms, ").count(), 4);
    assert_eq!(page.matches("<title>parse: 50.0 ms, ").count(), 4);
    assert_eq!(page.matches("wherever it is called from, the difference is +").count(), 4);
}

#[test]
fn recursion_is_one_frame_and_deep_calls_end() {
    let functions = [("main", [10, 10]), ("a", [40, 40]), ("b", [40, 40])];
    let deep: Vec<u32> = (0..120).map(|depth| 1 + depth % 2).collect();
    let own = [[0].as_slice(), &[1; 100]].concat();

    let page = page(&functions, &[(10, &own), (40, &deep)]);

    assert!(page.contains("Calls more than 40 deep are left out."));
    // main's own chain, and 20 of each in the deep one; four drawings.
    assert_eq!(page.matches("<title>a: ").count(), 4 * 21);
}

#[test]
fn a_page_is_small_whatever_it_shows() {
    let names: Vec<String> = (0..300).map(|number| format!("{number}").repeat(60)).collect();
    let functions: Vec<(&str, [u64; 2])> =
        names.iter().map(|name| (name.as_str(), [10, 10])).collect();
    let chains: Vec<Vec<u32>> = (0..2000)
        .map(|seed| (0..127).map(|depth| (seed * depth * 31 + seed) % 300).collect())
        .collect();
    let stacks: Vec<(u64, &[u32])> = chains.iter().map(|chain| (1, &chain[..])).collect();

    let with = page(&functions, &stacks).len();
    let without = page(&functions, &[]).len();

    assert!(with - without < 1_000_000, "{with} {without}");
}

#[test]
fn a_run_that_was_not_sampled_has_no_flame_graphs() {
    let journal = journal::read(&testing::recorded("ab")).unwrap();
    let results = Results::new(&journal, &Catalogue::load().unwrap(), None);

    let page = report::render(Subject::Run(&results), Format::Html).unwrap();

    assert!(!page.contains("Flame graphs"));
    assert!(!page.contains("flame wide"));
}
