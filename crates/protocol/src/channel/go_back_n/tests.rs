//! The tables, and what a faithful implementation must show.

mod exploration;
mod faithful;
mod table;
