//! What to run and what came out: experiment files, and the rows they produce.

mod column;
mod row;

pub use column::{COLUMNS, Column, column};
pub use row::{Row, Setting, Status};
