//! Splits a text into sentences of words.

use super::stop_words::is_stop_word;
use super::{MAX_BYTES, MAX_SENTENCES};
use crate::failure::Failure;
use crate::pace::Pace;
use std::collections::HashMap;
use unicode_segmentation::UnicodeSegmentation;

/// Pieces read between two checkpoints.
const STEP: usize = 32;

/// The most bytes of a sentence. A longer sentence is cut, so that text without full stops is also
/// read in steps.
const LONGEST: usize = 2000;

const ABBREVIATIONS: [&str; 20] = [
    "mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "vs.", "etc.", "e.g.", "i.e.", "cf.", "fig.",
    "no.", "inc.", "ltd.", "co.", "jr.", "sr.", "approx.", "al.",
];

/// One sentence.
pub struct Sentence<'a> {
    pub text: &'a str,
    /// The words that count, by number and in order, and how often each occurs.
    pub words: Vec<(u32, u32)>,
}

/// A text split into sentences.
pub struct Document<'a> {
    pub sentences: Vec<Sentence<'a>>,
    pub word_count: usize,
    /// How many different words count.
    pub vocabulary: usize,
}

pub async fn read<'a, P: Pace>(text: &'a str, pace: &P) -> Result<Document<'a>, Failure> {
    debug_assert!(text.len() <= MAX_BYTES);
    let mut reader = Reader::default();
    let mut start = 0;
    let mut steps = 0;
    for line in pieces(text) {
        let line_start = line.as_ptr() as usize - text.as_ptr() as usize;
        start = start.max(line_start);
        for (offset, piece) in line.split_sentence_bound_indices() {
            let end = line_start + offset + piece.len();
            if goes_on(&text[start..end], &text[end..]) && end < line_start + line.len() {
                continue;
            }
            reader.add(&text[start..end]);
            start = end;
            if reader.sentences.len() > MAX_SENTENCES {
                return Err(Failure::invalid(format!(
                    "text: more than {MAX_SENTENCES} sentences"
                )));
            }
            steps += 1;
            if steps % STEP == 0 {
                pace.progress(end, text.len(), "reading");
                pace.checkpoint().await;
            }
        }
    }
    pace.progress(text.len(), text.len(), "reading");
    pace.checkpoint().await;
    Ok(Document {
        sentences: reader.sentences,
        word_count: reader.word_count,
        vocabulary: reader.numbers.len(),
    })
}

/// Splits a text into paragraphs of at most [`LONGEST`] bytes, because finding sentences looks
/// ahead without limit.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive("\n\n").flat_map(|paragraph| {
        let mut rest = paragraph;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (piece, after) = rest.split_at(cut(rest));
            rest = after;
            Some(piece)
        })
    })
}

/// Returns where to cut a paragraph: after its last full stop or blank within [`LONGEST`] bytes.
fn cut(text: &str) -> usize {
    if text.len() <= LONGEST {
        return text.len();
    }
    let end = text.floor_char_boundary(LONGEST);
    let window = &text[..end];
    let stop = [". ", "? ", "! ", "。"]
        .iter()
        .filter_map(|mark| window.rfind(mark).map(|at| at + mark.len()))
        .max();
    stop.or_else(|| window.rfind(' ').map(|at| at + 1))
        .unwrap_or(end)
}

/// Whether an apparent end of a sentence is only the end of a line, of an abbreviation or of an
/// initial.
fn goes_on(sentence: &str, rest: &str) -> bool {
    let Some(last) = sentence.split_whitespace().next_back() else {
        return true;
    };
    let wrapped =
        sentence.ends_with('\n') && !rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    if wrapped && last.ends_with(|c: char| c.is_alphanumeric() || ",;-–".contains(c)) {
        return true;
    }
    let last = last.trim_start_matches(|c: char| !c.is_alphanumeric());
    let initial = last.ends_with('.')
        && last.chars().count() == 2
        && last.chars().all(|c| c == '.' || c.is_uppercase());
    let abbreviation = last.len() <= 8 && ABBREVIATIONS.contains(&last.to_lowercase().as_str());
    (initial || abbreviation) && !rest.is_empty()
}

#[derive(Default)]
struct Reader<'a> {
    sentences: Vec<Sentence<'a>>,
    numbers: HashMap<String, u32>,
    word_count: usize,
}

impl<'a> Reader<'a> {
    fn add(&mut self, text: &'a str) {
        let text = text.trim();
        let mut words: Vec<u32> = Vec::new();
        let mut any = false;
        for word in text.unicode_words() {
            self.word_count += 1;
            any = true;
            let word = word.to_lowercase();
            if !is_stop_word(&word) {
                words.push(self.number(stem(&word)));
            }
        }
        if !any {
            return;
        }
        words.sort_unstable();
        let mut counted: Vec<(u32, u32)> = Vec::with_capacity(words.len());
        for word in words {
            match counted.last_mut() {
                Some((last, count)) if *last == word => *count += 1,
                _ => counted.push((word, 1)),
            }
        }
        self.sentences.push(Sentence {
            text,
            words: counted,
        });
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(word.to_owned(), number);
        number
    }
}

/// Reduces singular and plural to one word.
fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 3 && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}
