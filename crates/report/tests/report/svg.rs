//! The image of a report: one file to paste, with the answer and its chart.

use analysis::{Asked, Comparisons, Design, Results};
use catalogue::Catalogue;
use report::{Format, Subject};

fn results(run: &str) -> Results {
    Results::new(
        &journal::read(&testing::recorded(run)).unwrap(),
        &Catalogue::load().unwrap(),
        None,
    )
}

fn image(run: &str) -> String {
    report::render(Subject::Run(&results(run)), Format::Svg).unwrap()
}

/// The texts of an image, in their order.
fn texts(image: &str) -> String {
    testing::flat(&testing::page::text(image))
}

#[test]
fn user_2_a_comparison_is_one_image_to_paste() {
    let image = image("ab");

    testing::page::check_image(&image);
    assert!(image.contains(r#"width="800""#), "{image:.300}");
    let texts = texts(&image);
    for words in ["is slower than", "slower or worse", "A/A control", "as a factor"] {
        assert!(texts.contains(words), "no {words}: {texts}");
    }
    // The page also has the distribution of the executions.
    assert!(!image.contains("class=\"curve"), "{image}");
}

#[test]
fn an_image_has_all_conditions_their_legend_and_caption_once() {
    let texts = texts(&image("cost"));

    let places: Vec<usize> =
        ["Cost of audit=on", "Rates, slower", "Times and amounts", "Cost of audit=all"]
            .iter()
            .map(|words| texts.find(words).unwrap_or_else(|| panic!("no {words}: {texts}")))
            .collect();
    assert!(places.is_sorted(), "{texts}");
    for words in ["Cost of audit=on", "faster or better", "Each change with its"] {
        assert_eq!(texts.matches(words).count(), 1, "{words}: {texts}");
    }
}

#[test]
fn each_run_with_a_chart_is_an_image() {
    for (run, words) in [
        ("index", "Pipe Throughput"),
        ("classic", "1 copy: 622.8"),
        ("latency", "Percentiles, ms"),
        ("scaling", "How it scales"),
        ("cooling", "Temperature, °C"),
        ("graphics", "3D graphics: gears"),
        ("requests", "the 99th percentile"),
    ] {
        let image = image(run);

        testing::page::check_image(&image);
        let texts = texts(&image);
        assert!(texts.contains(words), "{run}: no {words}: {texts}");
    }
}

#[test]
fn runs_compared_are_an_image() {
    let asked = Asked { design: Design::Apart, threshold: 1.0, conditions: None };
    let all = Comparisons::new(vec![results("index"), results("index")], &asked);

    let image = report::render(Subject::Comparison(&all, None), Format::Svg).unwrap();

    testing::page::check_image(&image);
    assert!(texts(&image).contains("System Call Overhead"), "{image}");
}

#[test]
fn what_has_no_chart_says_so() {
    let refused = report::render(Subject::Doctor(&[]), Format::Svg).unwrap_err().to_string();

    assert_eq!(refused, "this report has no chart; try --format html or --format markdown");
}
