//! The PDF file.

use super::block::Emphasis;
use super::embed;
use super::fonts::Fonts;
use super::outline::{self, Heading};
use super::packed::deflate;
use super::page::{FONT_NAMES, MARGIN, Page};
use crate::failure::Failure;
use crate::pace::Pace;
use pdf_writer::types::{ActionType, AnnotationType};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::rc::Rc;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const INFO: Ref = Ref::new(3);

const FOOTER: f32 = 8.0;

/// A finished page.
struct Written {
    content: Ref,
    links: Vec<(Rect, Rc<str>)>,
}

/// A document's objects so far. Pages are compressed as they are filled, so little work is left for
/// the end.
pub struct File {
    pdf: Pdf,
    pages: Vec<Written>,
    images: Vec<Ref>,
    next: i32,
    size: (f32, f32),
}

impl File {
    /// A document on paper of `size` points.
    pub fn new(size: (f32, f32)) -> Self {
        Self {
            pdf: Pdf::new(),
            pages: Vec::new(),
            images: Vec::new(),
            next: INFO.get() + 1,
            size,
        }
    }

    pub fn pdf(&mut self) -> &mut Pdf {
        &mut self.pdf
    }

    pub fn next_id(&mut self) -> Ref {
        self.next += 1;
        Ref::new(self.next - 1)
    }

    /// Adds an image to the resources of the pages. Its name is `I` and its id.
    pub fn add_image(&mut self, id: Ref) {
        self.images.push(id);
    }

    /// How many pages are written.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    pub fn add_page(&mut self, page: Page) {
        let content = self.next_id();
        self.content(content, &page.content.finish());
        self.pages.push(Written {
            content,
            links: page.links,
        });
    }

    /// Writes the parts that all pages share. Returns the file and its number of pages.
    pub async fn finish<P: Pace>(
        mut self,
        fonts: &mut Fonts,
        headings: &[Heading],
        title: Option<&str>,
        pace: &P,
    ) -> Result<(Vec<u8>, usize), Failure> {
        let pages = std::mem::take(&mut self.pages);
        let count = pages.len();
        let ids: Vec<Ref> = pages.iter().map(|_| self.next_id()).collect();
        for (number, page) in pages.into_iter().enumerate() {
            self.page(ids[number], page, number + 1, count, fonts);
            pace.progress(number + 1, count, "writing pages");
            if number % 8 == 0 {
                pace.checkpoint().await;
            }
        }

        let mut used = Vec::new();
        for (font, name) in fonts.all().iter().zip(FONT_NAMES) {
            if font.used.is_empty() {
                continue;
            }
            let id = Ref::new(self.next);
            self.next += embed::OBJECTS;
            embed::embed(&mut self.pdf, id, font)?;
            used.push((name, id));
            pace.progress(used.len(), FONT_NAMES.len(), "embedding fonts");
            pace.checkpoint().await;
        }

        let root = Ref::new(self.next);
        let outline = outline::write(&mut self.pdf, root, headings, &ids);
        pace.checkpoint().await;

        // Pages inherit their resources from the page tree.
        let mut tree = self.pdf.pages(PAGES);
        tree.kids(ids)
            .count(count as i32)
            .media_box(Rect::new(0.0, 0.0, self.size.0, self.size.1));
        let mut resources = tree.resources();
        resources.fonts().pairs(used);
        let mut objects = resources.x_objects();
        for image in &self.images {
            objects.pair(Name(format!("I{}", image.get()).as_bytes()), image);
        }
        objects.finish();
        resources.finish();
        tree.finish();

        let mut catalog = self.pdf.catalog(CATALOG);
        catalog.pages(PAGES);
        if outline.is_some() {
            catalog.outlines(root);
        }
        if title.is_some() {
            catalog.viewer_preferences().display_doc_title(true);
        }
        catalog.finish();
        let mut info = self.pdf.document_info(INFO);
        info.producer(TextStr("caphost demo"));
        if let Some(title) = title {
            info.title(TextStr(title));
        }
        info.finish();
        pace.checkpoint().await;
        Ok((self.pdf.finish(), count))
    }

    fn page(&mut self, id: Ref, page: Written, number: usize, count: usize, fonts: &mut Fonts) {
        let footer = self.footer(number, count, fonts);
        let links: Vec<Ref> = page
            .links
            .into_iter()
            .map(|(area, target)| self.link(area, &target))
            .collect();
        let mut object = self.pdf.page(id);
        object.parent(PAGES).contents_array([page.content, footer]);
        if !links.is_empty() {
            object.annotations(links);
        }
    }

    fn link(&mut self, area: Rect, target: &str) -> Ref {
        let id = self.next_id();
        let mut link = self.pdf.annotation(id);
        link.subtype(AnnotationType::Link)
            .rect(area)
            .border(0.0, 0.0, 0.0, None);
        link.action()
            .action_type(ActionType::Uri)
            .uri(Str(target.as_bytes()));
        id
    }

    /// Writes the number at the foot of a page.
    fn footer(&mut self, number: usize, count: usize, fonts: &mut Fonts) -> Ref {
        let text = format!("{number} / {count}");
        let width = fonts.width(Emphasis::default(), &text) * FOOTER / 1000.0;
        let mut page = Page::new();
        let x = (self.size.0 - width) / 2.0;
        page.words(fonts, &text, FOOTER, x, MARGIN * 0.55);
        let id = self.next_id();
        self.content(id, &page.content.finish());
        id
    }

    fn content(&mut self, id: Ref, marks: &[u8]) {
        match deflate(marks) {
            Ok(packed) => {
                self.pdf.stream(id, &packed).filter(Filter::FlateDecode);
            }
            // Compressing into memory does not fail. If it did, the page would be written
            // uncompressed.
            Err(_) => {
                self.pdf.stream(id, marks);
            }
        }
    }
}
