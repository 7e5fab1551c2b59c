//! Computes how important each sentence is.

use super::compare::Graph;
use crate::pace::Pace;

/// The share of a sentence's importance that comes from its neighbours.
const DAMPING: f32 = 0.85;

const ROUNDS: usize = 50;

/// The scores are final when none of them changes by more than this.
const SETTLED: f32 = 1e-4;

/// Sentences scored between two checkpoints.
const STEP: usize = 2048;

/// The importance of each sentence; the average is 1.
pub async fn rank<P: Pace>(graph: &Graph, pace: &P) -> Vec<f32> {
    let count = graph.neighbours.len();
    let mut sums = Vec::with_capacity(count);
    for (index, neighbours) in graph.neighbours.iter().enumerate() {
        sums.push(neighbours.iter().map(|&(_, alike)| alike).sum::<f32>());
        if index % STEP == 0 {
            pace.checkpoint().await;
        }
    }
    let mut scores = vec![1.0f32; count];
    for round in 0..ROUNDS {
        let mut next = vec![1.0 - DAMPING; count];
        for (index, neighbours) in graph.neighbours.iter().enumerate() {
            if sums[index] > 0.0 {
                let given = DAMPING * scores[index] / sums[index];
                for &(other, alike) in neighbours {
                    next[other as usize] += given * alike;
                }
            }
            if index % STEP == 0 {
                pace.checkpoint().await;
            }
        }
        let change = scores
            .iter()
            .zip(&next)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        scores = next;
        pace.progress(round + 1, ROUNDS, "ranking");
        if change < SETTLED {
            break;
        }
    }
    pace.progress(ROUNDS, ROUNDS, "ranking");
    let total: f32 = scores.iter().sum();
    let average = total / count.max(1) as f32;
    scores.iter().map(|score| score / average).collect()
}
