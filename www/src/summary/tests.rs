use super::*;
use crate::pace::testing::{Counting, finish, stop_after};

const ARTICLE: &str = "The harbour of Aarhus was rebuilt in 2015. The new harbour gave the city a library, and the \
library gave the harbour visitors. Dr. Holm planned the library for ten years. Somebody had eggs for breakfast.\n\n\
Visitors of the library come by tram, because the tram stops inside the harbour building. Is parking a problem? \
The car park below the library at the harbour is automatic. Rain fell.\n\nOn Sundays the library, the tram and the \
harbour are full of visitors from the city.";

fn summarize(text: &str, sentences: usize) -> Summary {
    finish(run(
        Params {
            text: text.into(),
            sentences,
        },
        &Counting::default(),
    ))
    .expect("a summary")
}

/// A text of `count` different sentences. The frequencies of words are as uneven as in prose.
fn prose(count: usize) -> String {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut text = String::new();
    for _ in 0..count {
        for word in 0..14 {
            let number = (8000f64.powf(next())) as usize;
            text.push_str(&format!(
                "{}word{number}",
                if word == 0 { "The " } else { " " }
            ));
        }
        text.push_str(". ");
    }
    text
}

#[test]
fn the_summary_is_made_of_the_texts_most_connected_sentences() {
    let summary = summarize(ARTICLE, 3);
    assert_eq!((summary.sentence_count, summary.sentences.len()), (9, 3));
    let text = ARTICLE.split_whitespace().collect::<Vec<_>>().join(" ");
    for chosen in &summary.sentences {
        assert!(text.contains(&chosen.text), "{}", chosen.text);
        assert!(chosen.score > 1.0);
        assert!(!chosen.text.contains("eggs") && !chosen.text.contains("Rain"));
    }
    assert!(summary.sentences.is_sorted_by_key(|chosen| chosen.index));
    let joined: Vec<_> = summary
        .sentences
        .iter()
        .map(|chosen| chosen.text.as_str())
        .collect();
    assert_eq!(summary.summary, joined.join(" "));
}

#[test]
fn abbreviations_and_initials_do_not_end_a_sentence() {
    let text =
        "Dr. A. Holm met Mrs. Lind, e.g. at noon. They talked about trams vs. buses. Nobody won.";
    let summary = summarize(text, 10);
    let found: Vec<_> = summary
        .sentences
        .iter()
        .map(|chosen| chosen.text.as_str())
        .collect();
    assert_eq!(
        found,
        [
            "Dr. A. Holm met Mrs. Lind, e.g. at noon.",
            "They talked about trams vs. buses.",
            "Nobody won."
        ]
    );
}

#[test]
fn a_line_that_is_wrapped_is_not_a_sentence() {
    let summary = summarize(
        "Trams run\nalong the harbour,\r\nall day.\r\n\r\nA heading\r\n\r\nBuses stop\nat night.",
        9,
    );
    let found: Vec<_> = summary
        .sentences
        .iter()
        .map(|chosen| chosen.text.as_str())
        .collect();
    assert_eq!(
        found,
        [
            "Trams run along the harbour, all day.",
            "A heading",
            "Buses stop at night."
        ]
    );
}

#[test]
fn sentences_that_repeat_each_other_are_chosen_once() {
    let text = "Cats chase grey mice at night. ".repeat(20)
        + "Dogs sleep near warm stoves. Cats and dogs chase mice.";
    let summary = summarize(&text, 3);
    let same = summary
        .sentences
        .iter()
        .filter(|chosen| chosen.text.starts_with("Cats chase grey"))
        .count();
    assert_eq!((same, summary.sentence_count), (1, 22));
}

#[test]
fn texts_without_sentences_have_an_empty_summary() {
    for text in ["", "   \n\n ", "…!?", "🙂"] {
        let summary = summarize(text, 3);
        assert_eq!(
            (summary.summary.as_str(), summary.sentence_count),
            ("", 0),
            "{text}"
        );
    }
    assert_eq!(summarize("one", 3).summary, "one");
    assert_eq!(summarize("the and of", 3).summary, "the and of");
}

#[test]
fn a_text_without_full_stops_is_read_in_steps() {
    let pace = Counting::default();
    let text = "word ".repeat(200_000);
    let summary = finish(run(Params { text, sentences: 1 }, &pace)).unwrap();
    assert_eq!(summary.word_count, 200_000);
    assert!(summary.sentence_count >= 500);
    assert!(pace.checkpoints() > 15);
}

#[test]
fn the_same_text_gives_the_same_summary() {
    let text = prose(1500);
    assert_eq!(summarize(&text, 7), summarize(&text, 7));
}

#[test]
fn a_long_text_is_left_at_the_checkpoint_where_it_is_dropped() {
    let text = prose(3000);
    let pace = Counting::default();
    finish(run(
        Params {
            text: text.clone(),
            sentences: 3,
        },
        &pace,
    ))
    .unwrap();
    let all = pace.checkpoints();
    assert!(all > 200, "{all}");
    for stage in ["reading", "comparing sentences", "ranking"] {
        let reports = pace.reports();
        let last = reports
            .iter()
            .rev()
            .find(|report| report.2 == stage)
            .expect(stage);
        assert_eq!(last.0, last.1, "{stage}");
    }

    let pace = Counting::default();
    assert!(stop_after(all / 2, run(Params { text, sentences: 3 }, &pace)).is_none());
    assert_eq!(pace.checkpoints(), all / 2);
}

#[test]
fn a_number_of_sentences_out_of_bounds_is_refused() {
    for sentences in [0, 1001] {
        let error = finish(run(
            Params {
                text: "One.".into(),
                sentences,
            },
            &Counting::default(),
        ))
        .unwrap_err();
        assert_eq!(error.code, "INVALID_PARAMS");
    }
}
