//! The tables, and what a faithful implementation must show.

mod faithful;
mod table;
