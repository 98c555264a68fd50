//! From stored result rows to what people read: figures, tables, a page.
//!
//! Nothing here runs an experiment: a figure can be redrawn years later from its result folder.
//!
//! - [`figure::draw`] turns rows into a line figure (SVG);
//! - [`page()`] says everything about an experiment in one HTML file;
//! - [`Terminal`] shows a table and small curves in a terminal;
//! - [`write()`] puts figures and page into a folder.
//!
//! The feature `png` adds figures as pixels.

mod caption;
mod escape;
pub mod figure;
mod folder;
pub mod number;
mod page;
#[cfg(feature = "png")]
pub mod png;
mod tabular;
mod terminal;

pub use folder::{WriteError, write};
pub use page::page;
pub use terminal::Terminal;
