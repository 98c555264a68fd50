//! `--nodes N`: the rails that are needed, and the matrix.

use std::fmt;

use clap::ValueEnum;
use crosstie_protocol::matrix::{Matrix, algorithm1, algorithm2, rails_algorithm1, rails_optimal};
use serde::{Serialize, Serializer};

use super::capacity::{Capacity, bound};
use super::counted;
use crate::exit::Failure;

/// An algorithm of Coll that makes a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Algorithm {
    /// Simple, with 2 ceil(log2 n) rails.
    #[value(name = "1")]
    One,
    /// With the fewest rails.
    #[value(name = "2")]
    Two,
}

impl Algorithm {
    fn number(self) -> u8 {
        match self {
            Algorithm::One => 1,
            Algorithm::Two => 2,
        }
    }
}

impl Serialize for Algorithm {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u8(self.number())
    }
}

/// What so many nodes need, and what they get from the rails there are.
#[derive(Debug, Serialize)]
pub struct Need {
    nodes: u32,
    /// The fewest rails that can join the nodes.
    optimal_rails: u32,
    algorithm_1_rails: u32,
    /// The rails there are; as many as needed if missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    rails: Option<u32>,
    /// The most nodes that the rails of the matrix could join.
    most_nodes: Capacity,
    algorithm: Algorithm,
    fits: bool,
    /// A row for each rail.
    #[serde(serialize_with = "rows")]
    matrix: Option<Matrix>,
}

fn rows<S: Serializer>(matrix: &Option<Matrix>, to: S) -> Result<S::Ok, S::Error> {
    let text = matrix.as_ref().map(Matrix::to_string);
    text.as_ref().map(|text| text.lines().collect::<Vec<_>>()).serialize(to)
}

impl Need {
    /// Makes the matrix, if the nodes fit.
    pub fn of(nodes: u32, rails: Option<u32>, algorithm: Algorithm) -> Result<Need, Failure> {
        let (optimal_rails, algorithm_1_rails) = (rails_optimal(nodes), rails_algorithm1(nodes));
        let needed = match algorithm {
            Algorithm::One => algorithm_1_rails,
            Algorithm::Two => optimal_rails,
        };
        let there = rails.unwrap_or(needed);
        let made = match algorithm {
            _ if there < needed => Ok(None),
            Algorithm::One => algorithm1(nodes).map(Some),
            Algorithm::Two => algorithm2(there, nodes).map(Some),
        };
        let matrix = made.map_err(Failure::user)?;
        let (most_nodes, fits) = (Capacity::most(there), matrix.is_some());
        Ok(Need {
            nodes,
            optimal_rails,
            algorithm_1_rails,
            rails,
            most_nodes,
            algorithm,
            fits,
            matrix,
        })
    }

    /// Whether there are enough rails.
    pub fn is_met(&self) -> bool {
        self.fits
    }

    /// The matrix as a file, if there is one.
    pub fn file(&self) -> Option<String> {
        let matrix = self.matrix.as_ref()?;
        Some(format!("# {}: 1 transmits, 0 receives\n{matrix}\n", self.heading(matrix)))
    }

    /// The matrix for people, if there is one; if it is wider than this, how to get at it.
    pub fn drawn(&self, widest: usize) -> String {
        let Some(matrix) = &self.matrix else { return String::new() };
        let mut text = format!("\n{}: 1 transmits, 0 receives\n", self.heading(matrix));
        if matrix.nodes() as usize + 2 > widest {
            return text + "  too wide to show here: --matrix prints it, --out FILE keeps it\n";
        }
        for row in matrix.to_string().lines() {
            text += &format!("  {row}\n");
        }
        text
    }

    fn heading(&self, matrix: &Matrix) -> String {
        let (rails, nodes) = (counted(matrix.rails(), "rail"), counted(matrix.nodes(), "node"));
        let idle = match self.rails.map_or(0, |rails| rails.saturating_sub(matrix.rails())) {
            0 => String::new(),
            idle => format!(" ({} unused)", counted(idle, "more rail")),
        };
        format!("matrix of Algorithm {}, {rails}{idle} by {nodes}", self.algorithm.number())
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = counted(self.nodes, "node");
        match self.rails.map(|rails| counted(rails, "rail")) {
            None => writeln!(f, "{nodes}")?,
            Some(rails) => {
                let by = match self.algorithm {
                    Algorithm::One => " by Algorithm 1",
                    Algorithm::Two => "",
                };
                let answer = if self.fits { "yes" } else { "no" };
                writeln!(f, "{nodes} on {rails}{by}: {answer}")?;
            }
        }
        writeln!(f, "  optimum      {}", counted(self.optimal_rails, "rail"))?;
        writeln!(f, "  Algorithm 1  {}", counted(self.algorithm_1_rails, "rail"))?;
        let join = |rails: u32| if rails == 1 { "joins" } else { "join" };
        let line = |rails: u32| {
            format!("{} {} at most {}", counted(rails, "rail"), join(rails), bound(rails))
        };
        match self.rails {
            Some(rails) => writeln!(f, "  bound        {}", line(rails)),
            None => {
                let (enough, less) = (self.optimal_rails, self.optimal_rails - 1);
                writeln!(f, "  bound        {}, {}", line(less), line(enough))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(nodes: u32, rails: Option<u32>, algorithm: Algorithm) -> Need {
        Need::of(nodes, rails, algorithm).unwrap()
    }

    fn text(need: &Need) -> String {
        format!("{need}{}", need.drawn(100))
    }

    #[test]
    fn six_nodes_on_as_few_rails_as_possible() {
        assert_eq!(
            text(&need(6, None, Algorithm::Two)),
            "\
6 nodes
  optimum      4 rails
  Algorithm 1  6 rails
  bound        3 rails join at most C(3,1) = 3 nodes, 4 rails join at most C(4,2) = 6 nodes

matrix of Algorithm 2, 4 rails by 6 nodes: 1 transmits, 0 receives
  111000
  100110
  010101
  001011
"
        );
    }

    #[test]
    fn rails_beyond_the_need_are_used_by_algorithm_2_only() {
        let optimal = need(3, Some(5), Algorithm::Two);
        let heading = "\nmatrix of Algorithm 2, 5 rails by 3 nodes: 1 transmits, 0 receives\n";
        assert!(optimal.drawn(100).starts_with(heading), "{}", text(&optimal));
        let simple = need(3, Some(5), Algorithm::One);
        let heading = "\nmatrix of Algorithm 1, 4 rails (1 more rail unused) by 3 nodes: ";
        assert!(simple.drawn(100).starts_with(heading), "{}", text(&simple));
    }

    #[test]
    fn nodes_that_do_not_fit_get_no_matrix() {
        let optimal = need(21, Some(6), Algorithm::Two);
        assert!(!optimal.is_met() && optimal.file().is_none());
        assert_eq!(
            text(&optimal),
            "\
21 nodes on 6 rails: no
  optimum      7 rails
  Algorithm 1  10 rails
  bound        6 rails join at most C(6,3) = 20 nodes
"
        );
        let simple = need(20, Some(6), Algorithm::One);
        assert!(simple.to_string().starts_with("20 nodes on 6 rails by Algorithm 1: no\n"));
        assert!(need(20, Some(6), Algorithm::Two).is_met());
    }

    #[test]
    fn a_wide_matrix_is_not_spilt_over_the_terminal() {
        let need = need(99, None, Algorithm::Two);
        assert!(need.drawn(100).contains("--matrix prints it"), "{}", text(&need));
        assert_eq!(need.drawn(101).lines().count(), 2 + 9);
    }

    #[test]
    fn a_written_matrix_is_read_back() {
        let need = need(20, None, Algorithm::Two);
        let file = need.file().unwrap();
        assert!(file.starts_with("# matrix of Algorithm 2, 6 rails by 20 nodes"), "{file}");
        assert_eq!(file.parse::<Matrix>().ok(), need.matrix);
    }
}
