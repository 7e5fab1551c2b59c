//! Columns.

use console::{Term, measure_text_width};

/// Below that, wrapping helps nobody.
const NARROWEST: usize = 20;

/// Rows as lines, their columns aligned. On a terminal the last column is wrapped below itself.
pub(in super::super) fn table(rows: &[Vec<String>]) -> String {
    let terminal = Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    lay_out(rows, width)
}

fn lay_out(rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|it| measure_text_width(it)).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns.saturating_sub(1)).map(widest).collect();
    let indent = widths.iter().map(|it| it + 2).sum::<usize>();
    let room = width
        .map(|width| width.saturating_sub(indent))
        .filter(|room| *room >= NARROWEST);
    let mut lines = Vec::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width + 2 - measure_text_width(cell)));
        }
        let last = row.get(widths.len()).map_or("", |cell| cell);
        let mut pieces = wrap(last, room).into_iter();
        line.push_str(&pieces.next().unwrap_or_default());
        lines.push(line.trim_end().to_string());
        lines.extend(pieces.map(|piece| format!("{}{piece}", " ".repeat(indent))));
    }
    lines.join("\n")
}

/// Breaks between words; a word that is wider than the room keeps a line to itself.
fn wrap(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else {
        return vec![text.to_string()];
    };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else {
            continue;
        };
        if line.is_empty() {
            line.push_str(word);
        } else if measure_text_width(line) + 1 + measure_text_width(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
        vec![
            row(["a.b", "One two three four five six"]),
            row(["long.name", ""]),
            row(["漢字", "wide"]),
        ]
    }

    #[test]
    fn columns_are_aligned() {
        let expected = "a.b        One two three four five six\nlong.name\n漢字       wide";
        assert_eq!(lay_out(&rows(), None), expected);
    }

    #[test]
    fn the_last_column_is_wrapped_where_there_is_room() {
        let wrapped = lay_out(&rows(), Some(32));
        let indent = " ".repeat(11);
        assert!(
            wrapped.starts_with(&format!(
                "a.b        One two three four\n{indent}five six\n"
            )),
            "{wrapped}"
        );
        assert_eq!(lay_out(&rows(), Some(20)), lay_out(&rows(), None));
    }
}
