//! From stored result rows to what people read: figures, tables, a page.
//!
//! Nothing here runs an experiment: a figure can be redrawn years later from its result folder.
//!
//! - [`figure::draw`] turns rows into a line figure (SVG);
//! - [`figure::timelines`] draws who sent what when, rank by rank;
//! - [`page()`] says everything about an experiment in one HTML file;
//! - [`figure::rails`] draws what the rails of a box carried, and [`trace_page`] says all about it;
//! - [`paper_page`] puts what a paper publishes beside what was measured, with all its figures;
//! - [`Terminal`] shows tables and small curves in a terminal, the claims of a paper, and what
//!   rails carried;
//! - [`write()`], [`write_trace`] and [`write_paper`] put figures and pages into a folder.
//!
//! The feature `png` adds figures as pixels.

mod caption;
mod carried;
mod comparison;
mod escape;
pub mod figure;
mod folder;
pub mod number;
mod page;
#[cfg(feature = "png")]
pub mod png;
mod sheet;
mod tabular;
mod terminal;

pub use folder::{WriteError, write, write_paper, write_trace};
pub use page::{PaperPart, PaperReport, page, paper_page, trace_page};
pub use terminal::Terminal;
