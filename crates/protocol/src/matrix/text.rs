//! The text of a matrix: a row per rail, a `0` or `1` per node.

use std::fmt;
use std::str::FromStr;

use super::{MAX_NODES, MAX_RAILS, Matrix, ReadError};
use crate::{NodeId, RailId};

impl FromStr for Matrix {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Matrix, ReadError> {
        let mut rows: Vec<&str> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            for (column, row) in pieces(content) {
                check_row(line, column, row)?;
                let first = rows.first().map_or(row.len(), |first| first.len());
                if row.len() > MAX_NODES as usize || rows.len() >= MAX_RAILS as usize {
                    return Err(ReadError::TooLarge { line });
                }
                if row.len() != first {
                    let (rail, found) = (rows.len() as u32, row.len());
                    return Err(ReadError::Uneven { line, rail, found, expected: first });
                }
                rows.push(row);
            }
        }
        let nodes = rows.first().ok_or(ReadError::Empty)?.len();
        let mut matrix = Matrix::silent(rows.len() as u32, nodes as u32);
        for (rail, row) in (0..).zip(rows) {
            for (node, bit) in (0..).zip(row.bytes()) {
                if bit == b'1' {
                    matrix.set(RailId(rail), NodeId(node));
                }
            }
        }
        Ok(matrix)
    }
}

/// The rows of one line, each with the column where it starts, counted from 1 in characters.
fn pieces(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let rows = line.split('#').next().unwrap_or_default();
    let mut column = 1;
    rows.split('/').filter_map(move |piece| {
        let row = piece.trim();
        let indent = piece.chars().take_while(|c| c.is_whitespace()).count();
        let start = column + indent;
        column += piece.chars().count() + 1;
        (!row.is_empty()).then_some((start, row))
    })
}

fn check_row(line: usize, start: usize, row: &str) -> Result<(), ReadError> {
    match (start..).zip(row.chars()).find(|&(_, c)| c != '0' && c != '1') {
        None => Ok(()),
        Some((column, c)) if c.is_whitespace() => {
            let gap = row.chars().skip(column - start).take_while(|c| c.is_whitespace()).count();
            Err(ReadError::Gap { line, column: column + gap })
        }
        Some((column, found)) => Err(ReadError::Character { line, column, found }),
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if f.alternate() { " / " } else { "\n" };
        for rail in 0..self.rails {
            let row: String = (0..self.nodes)
                .map(|node| if self.transmits(RailId(rail), NodeId(node)) { '1' } else { '0' })
                .collect();
            write!(f, "{}{row}", if rail == 0 { "" } else { between })?;
        }
        Ok(())
    }
}
