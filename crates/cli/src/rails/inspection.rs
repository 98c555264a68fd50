//! `--check FILE`: whether a matrix lets every node reach every other.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crosstie_protocol::matrix::{Matrix, MatrixError, Unconnected, rails_optimal};
use crosstie_protocol::{NodeId, RailId};
use serde::Serialize;

use super::counted;
use crate::exit::Failure;

/// The largest file that is read.
const LARGEST: usize = 64 << 20;

/// What was found of a matrix.
#[derive(Debug, Serialize)]
pub struct Inspection {
    source: String,
    rails: u32,
    nodes: u32,
    /// The fewest rails that can join so many nodes.
    optimal_rails: u32,
    connected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unconnected: Option<Pair>,
}

/// Two nodes of which the first does not reach the second.
#[derive(Debug, Serialize)]
struct Pair {
    from: u32,
    to: u32,
    reason: String,
}

impl Inspection {
    /// Reads a file, or stdin if it is called `-`, and checks the matrix in it.
    pub fn of(file: &Path) -> Result<Inspection, Failure> {
        let name = if file == Path::new("-") { "stdin".into() } else { file.to_string_lossy() };
        let refused = |reason: &dyn Display| {
            Failure::user(format!("cannot read a matrix from `{name}`: {reason}"))
        };
        let text = match file == Path::new("-") {
            true => read(io::stdin().lock()),
            false => File::open(file).map_err(|error| error.to_string()).and_then(read),
        };
        let text = text.map_err(|reason| refused(&reason))?;
        let matrix: Matrix = text.parse().map_err(|error| refused(&error))?;
        if matrix.nodes() < 2 {
            return Err(refused(&MatrixError::TooFewNodes { nodes: matrix.nodes() }));
        }
        Ok(Inspection::new(name.into_owned(), &matrix))
    }

    fn new(source: String, matrix: &Matrix) -> Inspection {
        let unconnected = matrix.check().err().map(|pair| Pair {
            from: pair.from.0,
            to: pair.to.0,
            reason: reason(matrix, pair),
        });
        Inspection {
            source,
            rails: matrix.rails(),
            nodes: matrix.nodes(),
            optimal_rails: rails_optimal(matrix.nodes()),
            connected: unconnected.is_none(),
            unconnected,
        }
    }

    /// Whether every node reaches every other.
    pub fn is_connected(&self) -> bool {
        self.connected
    }
}

/// Why two nodes are not connected, in words.
fn reason(matrix: &Matrix, pair: Unconnected) -> String {
    let transmits = |node: NodeId| (0..matrix.rails()).any(|k| matrix.transmits(RailId(k), node));
    let (from, to) = (pair.from.0, pair.to.0);
    match transmits(pair.from) {
        true => pair.to_string(),
        false => format!("node {from} cannot reach node {to}: {from} transmits on no rail"),
    }
}

fn read(source: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let limit = LARGEST as u64 + 1;
    source.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > LARGEST {
        return Err(format!("it is larger than {} MiB", LARGEST >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rails, nodes) = (counted(self.rails, "rail"), counted(self.nodes, "node"));
        writeln!(f, "{}: {rails} by {nodes}", self.source)?;
        match &self.unconnected {
            Some(pair) => writeln!(f, "  not connected: {}", pair.reason),
            None => {
                let fewest = match self.rails == self.optimal_rails {
                    true => "no fewer rails could join so many".to_owned(),
                    false => format!("{} would do", counted(self.optimal_rails, "rail")),
                };
                writeln!(f, "  connected: every node reaches every other; {fewest}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(matrix: &str) -> String {
        Inspection::new("m".to_owned(), &matrix.parse().unwrap()).to_string()
    }

    #[test]
    fn matrices_are_judged_in_words() {
        for (matrix, words) in [
            (
                "10 / 01",
                "2 rails by 2 nodes\n  connected: every node reaches every other; no fewer",
            ),
            (
                "100/010/001/111",
                "4 rails by 3 nodes\n  connected: every node reaches every other; 3",
            ),
            (
                "10 / 11",
                "not connected: node 1 cannot reach node 0: on every rail on which 1 transm",
            ),
            (
                "10",
                "1 rail by 2 nodes\n  not connected: node 1 cannot reach node 0: 1 transmits on no",
            ),
        ] {
            assert!(told(matrix).contains(words), "{}", told(matrix));
        }
    }

    #[test]
    fn endless_input_is_refused() {
        let error = read(io::repeat(b'1')).unwrap_err();
        assert_eq!(error, "it is larger than 64 MiB");
    }
}
