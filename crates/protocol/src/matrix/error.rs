//! Matrices that cannot be made, and texts that are none.

use super::{MAX_NODES, MAX_RAILS};

/// Why no matrix of this size exists or is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MatrixError {
    /// There is nobody to talk to.
    #[error("an allocation joins at least 2 nodes, not {nodes}")]
    TooFewNodes {
        /// The nodes asked for.
        nodes: u32,
    },
    /// More nodes than the rails can join [coll, proposition 1].
    #[error("{rails} rails join at most {most} nodes, not {nodes}: take at least {needed} rails")]
    TooManyNodes {
        /// The nodes asked for.
        nodes: u32,
        /// The rails there are.
        rails: u32,
        /// The most nodes that these rails join.
        most: u128,
        /// The least number of rails that join so many nodes.
        needed: u32,
    },
    /// The matrix would not be of use to anybody.
    #[error(
        "a matrix has at most {MAX_RAILS} rails and {MAX_NODES} nodes, not {rails} rails and \
         {nodes} nodes"
    )]
    TooLarge {
        /// The rails asked for.
        rails: u32,
        /// The nodes asked for.
        nodes: u32,
    },
}

/// What is wrong with the text of a matrix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is no row.
    #[error("found no rows, expected one row of 0 and 1 for each rail, such as `10 / 01`")]
    Empty,
    /// A character that is neither 0 nor 1.
    #[error("line {line}, column {column}: found `{}`, expected 0 or 1", found.escape_debug())]
    Character {
        /// The line, counted from 1.
        line: usize,
        /// The character in the line, counted from 1.
        column: usize,
        /// What stands there.
        found: char,
    },
    /// Two rows with nothing but space between them.
    #[error(
        "line {line}, column {column}: found a second row after a space, expected `/` or a new \
         line between rows"
    )]
    Gap {
        /// The line, counted from 1.
        line: usize,
        /// Where the second row starts, counted from 1.
        column: usize,
    },
    /// A row that is longer or shorter than the first one.
    #[error(
        "line {line}: the row of rail {rail} has {found} nodes, expected {expected} as in the row \
         of rail 0"
    )]
    Uneven {
        /// The line, counted from 1.
        line: usize,
        /// The rail, counted from 0.
        rail: u32,
        /// The nodes in this row.
        found: usize,
        /// The nodes in the first row.
        expected: usize,
    },
    /// More nodes or rails than a matrix may have.
    #[error(
        "line {line}: the matrix grows beyond {MAX_RAILS} rails or {MAX_NODES} nodes, which is \
         more than is read"
    )]
    TooLarge {
        /// The line, counted from 1.
        line: usize,
    },
}
