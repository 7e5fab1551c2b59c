//! Finds which sentences resemble each other.

use super::sentences::Document;
use crate::pace::Pace;

/// How many neighbours are kept per sentence, so that memory grows linearly with the text.
const NEIGHBOURS: usize = 48;

/// The least similarity of neighbours.
const ALIKE: f32 = 0.08;

/// Additions between two checkpoints.
const STEP: usize = 100_000;

/// For each sentence, the most similar sentences and their similarity, 0 to 1.
pub struct Graph {
    pub neighbours: Vec<Vec<(u32, f32)>>,
}

pub async fn compare<P: Pace>(document: &Document<'_>, pace: &P) -> Graph {
    let count = document.sentences.len();
    let vectors = weigh(document, pace).await;
    let mut postings: Vec<Vec<(u32, f32)>> = vec![Vec::new(); document.vocabulary];
    for (sentence, vector) in vectors.iter().enumerate() {
        for &(word, weight) in vector {
            postings[word as usize].push((sentence as u32, weight));
        }
        if sentence % 4096 == 0 {
            pace.checkpoint().await;
        }
    }

    let mut neighbours = Vec::with_capacity(count);
    let mut alike = vec![0f32; count];
    let mut touched: Vec<u32> = Vec::new();
    let mut work = 0;
    for (sentence, vector) in vectors.iter().enumerate() {
        for &(word, weight) in vector {
            for block in postings[word as usize].chunks(STEP) {
                for &(other, its_weight) in block {
                    let sum = &mut alike[other as usize];
                    if *sum == 0.0 {
                        touched.push(other);
                    }
                    *sum += weight * its_weight;
                }
                work += block.len();
                if work >= STEP {
                    work = 0;
                    pace.checkpoint().await;
                }
            }
        }
        work += 2 * touched.len();
        neighbours.push(closest(sentence, &touched, &alike));
        for other in touched.drain(..) {
            alike[other as usize] = 0.0;
        }
        if sentence % 256 == 0 {
            pace.progress(sentence, count, "comparing sentences");
        }
    }
    pace.progress(count, count, "comparing sentences");
    pace.checkpoint().await;
    Graph { neighbours }
}

/// The words of each sentence as a tf-idf vector of length 1.
async fn weigh<P: Pace>(document: &Document<'_>, pace: &P) -> Vec<Vec<(u32, f32)>> {
    let mut frequency = vec![0u32; document.vocabulary];
    for sentence in &document.sentences {
        for &(word, _) in &sentence.words {
            frequency[word as usize] += 1;
        }
    }
    pace.checkpoint().await;
    let count = document.sentences.len() as f32;
    let mut vectors = Vec::with_capacity(document.sentences.len());
    for (index, sentence) in document.sentences.iter().enumerate() {
        let weight = |&(word, times): &(u32, u32)| {
            let rarity = (1.0 + count / frequency[word as usize] as f32).ln();
            (word, times as f32 * rarity)
        };
        let mut vector: Vec<(u32, f32)> = sentence.words.iter().map(weight).collect();
        let length = vector
            .iter()
            .map(|(_, weight)| weight * weight)
            .sum::<f32>()
            .sqrt();
        for (_, weight) in &mut vector {
            *weight /= length;
        }
        vectors.push(vector);
        if index % 1024 == 0 {
            pace.checkpoint().await;
        }
    }
    vectors
}

fn closest(sentence: usize, touched: &[u32], alike: &[f32]) -> Vec<(u32, f32)> {
    let mut found: Vec<(u32, f32)> = touched
        .iter()
        .filter(|&&other| other as usize != sentence && alike[other as usize] >= ALIKE)
        .map(|&other| (other, alike[other as usize]))
        .collect();
    if found.len() > NEIGHBOURS {
        found.select_nth_unstable_by(NEIGHBOURS - 1, |a, b| {
            b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
        });
        found.truncate(NEIGHBOURS);
    }
    // The sum of floats depends on their order, so the order is fixed.
    found.sort_unstable_by_key(|&(other, _)| other);
    found.shrink_to_fit();
    found
}
