//! The index of a machine among those of the reference collection: a scale.

use analysis::{Reference, Results, UNIXBENCH_INDEX};
use stats::Estimate;

use crate::charts::index::{lane_heights, series_of_level};
use crate::charts::rows::{Mark, Row, Rows, Tick};
use crate::charts::scale::Scale;
use crate::charts::svg::key;
use crate::document::{Block, Chart, Readers, score as format_score};

/// A machine on the scale.
struct Place<'a> {
    name: &'a str,
    /// The number of copies.
    copies: u32,
    index: Estimate,
    /// True if it was measured as the run was.
    is_alike: bool,
    is_own: bool,
}

/// The places on the scale of a number of copies, the slowest first.
fn places(results: &Results, copies: u32) -> Vec<Place<'_>> {
    let own = results.unixbench_index(copies).map(|index| Place {
        name: &results.run.host,
        copies,
        index: index.score,
        is_alike: true,
        is_own: true,
    });
    let test = format!("index.{UNIXBENCH_INDEX}");
    let is_own_level = |one: &&Reference| one.key.test == test && one.key.copies == copies;
    let others = results.references.iter().filter(is_own_level).flat_map(|one| {
        one.entries.iter().map(|(name, value)| Place {
            name,
            copies,
            index: Estimate::alone(*value),
            is_alike: one.alike,
            is_own: false,
        })
    });
    let mut places: Vec<Place<'_>> = own.into_iter().chain(others).collect();
    places.sort_by(|a, b| a.index.value.total_cmp(&b.index.value));
    places
}

/// The numbers of copies of which there is an index and a machine to hold it against.
fn levels(results: &Results) -> Vec<u32> {
    let mut levels = results.levels();
    levels.retain(|copies| places(results, *copies).len() > 1);
    levels
}

/// The scales in words, for terminals: `george 10 · this machine 1302 · zen-4* 1900`.
pub(super) fn lines(results: &Results) -> Vec<Block> {
    let line = |copies: u32| {
        let places = places(results, copies);
        let words: Vec<String> = places.iter().map(in_words).collect();
        let lead = format!("Scale, {}: ", words::copies(copies));
        Block::Text(Readers { page: false, ..Readers::PEOPLE }, lead, words.join(" · "))
    };
    let levels = levels(results);
    let has_others =
        levels.iter().any(|copies| places(results, *copies).iter().any(|place| !place.is_alike));
    let mut blocks: Vec<Block> = levels.into_iter().map(line).collect();
    if has_others {
        let text = "measured by another procedure or build: part of the difference may be that";
        blocks.push(Block::Text(Readers::TERMINAL, "* ".to_owned(), text.to_owned()));
    }
    blocks
}

fn in_words(place: &Place<'_>) -> String {
    let score = format_score(&place.index);
    match (place.is_own, place.is_alike) {
        (true, _) => format!("THIS MACHINE {score}"),
        (false, true) => format!("{} {score}", place.name),
        (false, false) => format!("{}* {score}", place.name),
    }
}

/// The scales as one chart: a row per machine, a lane per number of copies.
pub(super) fn chart(results: &Results) -> Option<Block> {
    let levels = levels(results);
    let all: Vec<Place<'_>> = levels.iter().flat_map(|copies| places(results, *copies)).collect();
    let values: Vec<f64> = all.iter().map(|place| place.index.value).collect();
    let scale = Scale::log(&values, &[])?;

    let mut rows: Vec<Row> = Vec::new();
    for place in &all {
        let label = if place.is_alike { place.name.to_owned() } else { format!("{}*", place.name) };
        let lane = series_of_level(&levels, place.copies);
        let score = format_score(&place.index);
        let title = format!("{label}, {}: {score}", words::copies(place.copies));
        let mark = Mark::new(lane, lane, place.index, score, title);
        match rows.iter_mut().find(|row| row.label == label) {
            Some(row) => row.marks.push(mark),
            None => rows.push(Row { label, is_strong: place.is_own, marks: vec![mark] }),
        }
    }

    let drawing = Rows {
        label: "The index of this machine among the reference systems, on a logarithmic scale"
            .to_owned(),
        ticks: Tick::round_values(&scale, ""),
        scale,
        lanes: lane_heights(levels.len()),
        rows,
        ..Rows::default()
    };
    let legend = levels
        .iter()
        .map(|copies| (key(series_of_level(&levels, *copies)), words::copies(*copies)));
    let caption = "The index beside those of the reference systems. Those with * were measured by another \
                   procedure or build: part of their difference may be that.";
    Some(Block::Chart(Chart::new(Some(drawing.draw()), caption, legend.collect())))
}
