//! What a person sees: text fit for a terminal, tables, and standard output that may fail.

mod out;
mod table;
mod text;

pub(super) use out::{print, print_json, say};
pub(super) use table::table;
pub(super) use text::{json, one_line, printable};
