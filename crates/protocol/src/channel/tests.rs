//! The tables, and what a faithful implementation must show.
