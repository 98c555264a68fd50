//! `--table` and `--figure`: the rails that both algorithms need [coll, figure 2].

use std::fmt;

use crosstie_lab::paper::rails_by_nodes;
use crosstie_protocol::matrix::{rails_algorithm1, rails_optimal};
use crosstie_report::figure::draw;
use serde::Serialize;

/// Powers of two along the axis of the paper's figure, and where the two algorithms part and where
/// six rails are full.
const NODES: [u32; 13] = [2, 3, 4, 8, 16, 20, 21, 32, 64, 128, 256, 1024, 4096];

/// Rails needed, by nodes.
#[derive(Debug, Serialize)]
pub struct Comparison {
    table: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    nodes: u32,
    optimal_rails: u32,
    algorithm_1_rails: u32,
}

impl Comparison {
    /// The table.
    pub fn made() -> Comparison {
        let line = |nodes| Line {
            nodes,
            optimal_rails: rails_optimal(nodes),
            algorithm_1_rails: rails_algorithm1(nodes),
        };
        Comparison { table: NODES.map(line).into() }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "nodes  optimum  Algorithm 1")?;
        for Line { nodes, optimal_rails, algorithm_1_rails } in &self.table {
            writeln!(f, "{nodes:>5}  {optimal_rails:>7}  {algorithm_1_rails:>11}")?;
        }
        Ok(())
    }
}

/// The same as a figure, exact for every number of nodes.
pub fn figure() -> String {
    let (figure, rows) = rails_by_nodes();
    draw(&figure, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_figure_2() {
        let text = Comparison::made().to_string();
        for line in ["    2        2            2\n", "   21        7           10\n"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.ends_with(" 4096       15           24\n"), "{text}");
    }

    #[test]
    fn the_figure_has_both_curves() {
        let svg = figure();
        assert!(svg.contains("rails against nodes, 2 curves"), "{svg}");
        assert!(svg.contains(">optimum<") && svg.contains(">Algorithm 1<"), "{svg}");
    }
}
