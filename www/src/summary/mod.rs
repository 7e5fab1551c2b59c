//! `ai.summarize`: finds the sentences that say most of what a long text says.
//!
//! Uses LexRank. Sentences are compared by the words that they share (tf-idf cosine), and a
//! sentence is as important as the sentences that resemble it. The work grows faster than the text,
//! because every sentence is compared with all sentences that share a word with it. Nothing is
//! random.

mod compare;
mod rank;
mod select;
mod sentences;
mod stop_words;
#[cfg(test)]
mod tests;

use crate::failure::Failure;
use crate::pace::Pace;
use crate::stages::Weights;
use serde::{Deserialize, Serialize};

/// The most bytes of text in one call.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The most sentences that are compared in one call.
pub const MAX_SENTENCES: usize = 400_000;

const MOST_ASKED_FOR: usize = 1000;

/// The stages of the work.
pub const STAGES: Weights = &[
    ("reading", 20),
    ("comparing sentences", 70),
    ("ranking", 10),
];

/// JSON Schema of [`Params`].
pub const INPUT_SCHEMA: &str = include_str!("input.schema.json");
/// JSON Schema of [`Summary`].
pub const OUTPUT_SCHEMA: &str = include_str!("output.schema.json");

/// The parameters of a summary.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Params {
    /// The text.
    pub text: String,
    /// The most sentences in the summary; 3 by default.
    #[serde(default = "three")]
    pub sentences: usize,
}

fn three() -> usize {
    3
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The chosen sentences, in the order of the text.
    pub summary: String,
    /// The chosen sentences as a list.
    pub sentences: Vec<Chosen>,
    /// How many sentences the text has.
    pub sentence_count: usize,
    /// How many words the text has.
    pub word_count: usize,
}

/// A sentence of the summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chosen {
    /// The sentence.
    pub text: String,
    /// The index of the sentence in the text, from 0.
    pub index: usize,
    /// The importance of the sentence. An average sentence has 1.
    pub score: f32,
}

/// Summarises a text.
pub async fn run<P: Pace>(params: Params, pace: &P) -> Result<Summary, Failure> {
    let Params {
        text,
        sentences: wanted,
    } = params;
    if !(1..=MOST_ASKED_FOR).contains(&wanted) {
        return Err(Failure::invalid(format!(
            "sentences: {wanted}, must be 1 to {MOST_ASKED_FOR}"
        )));
    }
    if text.len() > MAX_BYTES {
        return Err(Failure::invalid(format!(
            "text: {} bytes, at most {MAX_BYTES}",
            text.len()
        )));
    }
    let document = sentences::read(&text, pace).await?;
    let graph = compare::compare(&document, pace).await;
    let scores = rank::rank(&graph, pace).await;
    let chosen = select::select(&document, &scores, wanted, pace).await;
    let sentences: Vec<Chosen> = chosen
        .into_iter()
        .map(|index| Chosen {
            text: document.sentences[index]
                .text
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            index,
            score: scores[index],
        })
        .collect();
    let summary = sentences
        .iter()
        .map(|chosen| chosen.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    Ok(Summary {
        summary,
        sentences,
        sentence_count: document.sentences.len(),
        word_count: document.word_count,
    })
}
