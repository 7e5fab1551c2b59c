//! Writes headings as bookmarks.

use pdf_writer::{Finish, Pdf, Ref, TextStr};

/// The most bookmarks in one document. Nobody would read more.
const MOST: usize = 5000;

/// A heading and its position.
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    pub text: String,
    /// The page, from 0.
    pub page: usize,
    /// Points from the page's lower edge.
    pub y: f32,
}

/// A bookmark's place among the others. Bookmarks refer to each other by number.
#[derive(Default)]
struct Item {
    parent: Option<usize>,
    previous: Option<usize>,
    next: Option<usize>,
    first: Option<usize>,
    last: Option<usize>,
    below: i32,
}

/// Writes the bookmarks, if there are any, as objects with ids from `root` on. Returns the next
/// free id.
pub fn write(pdf: &mut Pdf, root: Ref, headings: &[Heading], pages: &[Ref]) -> Option<Ref> {
    let headings = &headings[..headings.len().min(MOST)];
    let items = arrange(headings);
    let id = |item: usize| Ref::new(root.get() + 1 + item as i32);
    let top: Vec<usize> = (0..items.len())
        .filter(|&item| items[item].parent.is_none())
        .collect();
    let (&first, &last) = (top.first()?, top.last()?);
    pdf.outline(root)
        .first(id(first))
        .last(id(last))
        .count(top.len() as i32);
    for (number, (item, heading)) in items.iter().zip(headings).enumerate() {
        let mut object = pdf.outline_item(id(number));
        object
            .title(TextStr(&heading.text))
            .parent(item.parent.map_or(root, id));
        if let Some(previous) = item.previous {
            object.prev(id(previous));
        }
        if let Some(next) = item.next {
            object.next(id(next));
        }
        if let (Some(first), Some(last)) = (item.first, item.last) {
            // A negative count means that the bookmark is closed.
            object.first(id(first)).last(id(last)).count(-item.below);
        }
        object
            .dest()
            .page(pages[heading.page])
            .xyz(0.0, heading.y + 10.0, None);
        object.finish();
    }
    Some(id(items.len()))
}

/// Puts each heading below the last heading of a higher level.
fn arrange(headings: &[Heading]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::with_capacity(headings.len());
    let mut above: Vec<usize> = Vec::new();
    let mut last_at_top = None;
    for (number, heading) in headings.iter().enumerate() {
        while above
            .last()
            .is_some_and(|&other| headings[other].level >= heading.level)
        {
            above.pop();
        }
        let parent = above.last().copied();
        let previous = match parent {
            Some(parent) => items[parent].last,
            None => last_at_top,
        };
        if let Some(previous) = previous {
            items[previous].next = Some(number);
        }
        match parent {
            Some(parent) => {
                let parent = &mut items[parent];
                parent.first.get_or_insert(number);
                parent.last = Some(number);
                parent.below += 1;
            }
            None => last_at_top = Some(number),
        }
        items.push(Item {
            parent,
            previous,
            ..Item::default()
        });
        above.push(number);
    }
    items
}
