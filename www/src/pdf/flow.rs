//! Lays out blocks on pages, from top to bottom.

use super::block::{Block, Content, Emphasis, Role, Text};
use super::columns::Columns;
use super::file::File;
use super::fonts::Fonts;
use super::lines::Lines;
use super::outline::Heading;
use super::page::{MARGIN, Page, PageSize};
use super::raster::Figures;
use crate::failure::Failure;
use crate::pace::{Meter, Pace};

/// The font size of plain text, in points.
pub const SIZE: f32 = 10.0;

/// The distance between baselines, as a multiple of the font size.
pub const LEADING: f32 = 1.42;

/// The units of work for laying out a byte of text.
pub const BYTE: usize = 150;

/// A document that is being laid out.
pub struct Flow {
    pub fonts: Fonts,
    pub page: Page,
    pub meter: Meter,
    /// The lower end of the used part of the page, in points from its lower edge.
    pub y: f32,
    pub(super) figures: Figures,
    /// The columns of the table that is being laid out.
    pub(super) columns: Option<Columns>,
    file: File,
    headings: Vec<Heading>,
    size: (f32, f32),
}

impl Flow {
    pub fn new(size: PageSize) -> Result<Self, Failure> {
        let size = size.points();
        Ok(Self {
            fonts: Fonts::new()?,
            page: Page::new(),
            meter: Meter::default(),
            y: size.1 - MARGIN,
            figures: Figures::default(),
            columns: None,
            file: File::new(size),
            headings: Vec::new(),
            size,
        })
    }

    /// Points between the margins.
    pub fn width(&self) -> f32 {
        self.size.0 - 2.0 * MARGIN
    }

    /// Points between the margins.
    pub fn height(&self) -> f32 {
        self.size.1 - 2.0 * MARGIN
    }

    /// The text of the first heading.
    pub fn first_heading(&self) -> Option<String> {
        self.headings.first().map(|heading| heading.text.clone())
    }

    /// Lays out a block below the earlier blocks.
    pub async fn add<P: Pace>(&mut self, block: Block, pace: &P) -> Result<(), Failure> {
        let Block {
            content,
            indent,
            bars,
            marker,
            tight,
        } = block;
        let (above, below) = spacing(&content);
        // Leaves space between a table and the next block.
        let after_table = !matches!(content, Content::Rows { .. }) && self.columns.take().is_some();
        if !self.page.empty {
            self.y -= if tight { above.min(1.0) } else { above };
            self.y -= if after_table { 6.0 } else { 0.0 };
        }
        match content {
            Content::Text(role, text) => self.text(role, &text, indent, &bars, marker, pace).await,
            Content::Rule => {
                self.room(8.0);
                self.y -= 4.0;
                self.page
                    .fill(0.75, MARGIN + indent, self.y, self.width() - indent, 0.8);
            }
            Content::Image {
                source,
                alternative,
                width,
                height,
            } => {
                self.image(source, &alternative, (width, height), indent, pace)
                    .await?;
            }
            Content::Rows { rows, first } => self.rows(&rows, first, indent, pace).await,
        }
        self.y -= if tight { below.min(2.0) } else { below };
        Ok(())
    }

    /// Starts a new page if the current one has fewer than `points` left. Returns whether it did.
    pub fn room(&mut self, points: f32) -> bool {
        let full = self.y - points < MARGIN && !self.page.empty;
        if full {
            self.end_page();
        }
        full
    }

    pub fn end_page(&mut self) {
        let page = std::mem::replace(&mut self.page, Page::new());
        self.file.add_page(page);
        self.y = self.size.1 - MARGIN;
    }

    pub(super) async fn text<P: Pace>(
        &mut self,
        role: Role,
        text: &Text,
        indent: f32,
        bars: &[f32],
        marker: Option<String>,
        pace: &P,
    ) {
        let size = font_size(role);
        let leading = size * LEADING;
        if let Role::Heading(level) = role {
            // A heading stays on the same page as the beginning of the text below.
            self.room(leading + 3.0 * SIZE * LEADING);
            self.headings.push(Heading {
                level,
                text: text.text.split_whitespace().collect::<Vec<_>>().join(" "),
                page: self.file.pages(),
                y: self.y,
            });
        }
        let code = role == Role::Code;
        let (x, inset) = (MARGIN + indent, if code { 6.0 } else { 0.0 });
        let mut marker = marker;
        let mut lines = Lines::new(text, size, self.width() - indent - 2.0 * inset);
        let mut next = lines.next(&mut self.fonts);
        while next.is_some() || marker.is_some() {
            self.room(leading);
            self.y -= leading;
            if code {
                self.page
                    .fill(0.955, x, self.y, self.width() - indent, leading + 0.2);
            }
            for bar in bars {
                self.page
                    .fill(0.8, MARGIN + bar + 4.0, self.y, 2.0, leading + 0.2);
            }
            let baseline = self.y + leading * 0.3;
            if let Some(marker) = marker.take() {
                let width = self.fonts.width(Emphasis::default(), &marker) * size / 1000.0;
                self.page
                    .words(&mut self.fonts, &marker, size, x - width - 5.0, baseline);
            }
            if let Some(line) = next.take() {
                self.page
                    .line(&mut self.fonts, text, &line, size, x + inset, baseline);
                if self.meter.due((line.bytes + 4) * BYTE) {
                    pace.checkpoint().await;
                }
                next = lines.next(&mut self.fonts);
            }
        }
    }

    /// Writes the file. Returns the file and its number of pages.
    pub async fn finish<P: Pace>(
        mut self,
        title: Option<&str>,
        pace: &P,
    ) -> Result<(Vec<u8>, usize), Failure> {
        if !self.page.empty || self.file.pages() == 0 {
            self.end_page();
        }
        self.file
            .finish(&mut self.fonts, &self.headings, title, pace)
            .await
    }

    /// The file, for objects that are not on a page.
    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }
}

fn font_size(role: Role) -> f32 {
    match role {
        Role::Paragraph => SIZE,
        Role::Code => SIZE * 0.92,
        Role::Heading(1) => 20.0,
        Role::Heading(2) => 15.5,
        Role::Heading(3) => 13.0,
        Role::Heading(4) => 11.5,
        Role::Heading(_) => 10.5,
    }
}

/// The points of space above and below a block.
fn spacing(content: &Content) -> (f32, f32) {
    match content {
        Content::Text(Role::Heading(level), _) => (if *level < 3 { 14.0 } else { 10.0 }, 3.0),
        Content::Text(..) => (4.0, 4.0),
        Content::Rule | Content::Image { .. } => (6.0, 6.0),
        Content::Rows { first: true, .. } => (6.0, 0.0),
        Content::Rows { .. } => (0.0, 0.0),
    }
}
