//! Selects the most important sentences that do not repeat each other.

use super::sentences::{Document, Sentence};
use crate::pace::Pace;

/// Sentences that share this part of their words are considered the same.
const SAME: f32 = 0.6;

/// The least words of a sentence in the summary, if there are enough such sentences.
const LEAST_WORDS: usize = 3;

/// Selects the sentences of the summary, in the order of the text.
pub async fn select<P: Pace>(
    document: &Document<'_>,
    scores: &[f32],
    wanted: usize,
    pace: &P,
) -> Vec<usize> {
    let mut ranking: Vec<usize> = (0..scores.len()).collect();
    let short = |index: usize| document.sentences[index].words.len() < LEAST_WORDS;
    ranking.sort_unstable_by(|&a, &b| {
        short(a)
            .cmp(&short(b))
            .then(scores[b].total_cmp(&scores[a]))
            .then(a.cmp(&b))
    });
    pace.checkpoint().await;
    let mut chosen: Vec<usize> = Vec::new();
    for (looked_at, candidate) in ranking.into_iter().enumerate() {
        if chosen.len() == wanted {
            break;
        }
        let repeats = |&other: &usize| {
            overlap(&document.sentences[candidate], &document.sentences[other]) >= SAME
        };
        if !chosen.iter().any(repeats) {
            chosen.push(candidate);
        }
        if looked_at % 64 == 0 {
            pace.checkpoint().await;
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The part of their words that two sentences share, 0 to 1.
fn overlap(a: &Sentence, b: &Sentence) -> f32 {
    let shared = a.words.iter().filter(|(word, _)| {
        b.words
            .binary_search_by_key(word, |&(word, _)| word)
            .is_ok()
    });
    let either = a.words.len() + b.words.len();
    let shared = shared.count();
    shared as f32 / (either - shared).max(1) as f32
}
