//! Claims laid out as a table of the paper has them.

/// A table of a paper. Its cells are claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// What it is about.
    pub title: String,
    /// What the names of a row mean.
    pub heads: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, from the top.
    pub rows: Vec<GridRow>,
}

/// A row of a [`Grid`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridRow {
    /// One name for each head.
    pub names: Vec<String>,
    /// The id of a claim for each column.
    pub cells: Vec<String>,
}
