//! `--table` and `--figure`: the rails that both algorithms need [coll, figure 2].

use std::fmt;

use crosstie_protocol::matrix::{rails_algorithm1, rails_optimal};
use crosstie_report::figure::draw;
use crosstie_study::{Figure, Row, Setting, Status};
use serde::Serialize;

/// Powers of two along the axis of the paper's figure, and where the two algorithms part and where
/// six rails are full.
const NODES: [u32; 13] = [2, 3, 4, 8, 16, 20, 21, 32, 64, 128, 256, 1024, 4096];

/// The ends of the paper's axis.
const FEWEST: u32 = 2;
const MOST: u32 = 4096;

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
    let figure = Figure {
        name: "static-rails".to_owned(),
        title: Some("Rails needed under static allocation".to_owned()),
        x: "nodes".to_owned(),
        y: vec!["rails".to_owned()],
        series: vec!["algorithm".to_owned()],
        log_x: true,
        log_y: false,
        x_range: Some([f64::from(FEWEST), f64::from(MOST)]),
        y_range: Some([0.0, 25.0]),
    };
    let optimal = steps(rails_optimal).into_iter().map(|step| ("optimum", step));
    let simple = steps(rails_algorithm1).into_iter().map(|step| ("Algorithm 1", step));
    let row = |(point, (algorithm, (nodes, rails))): (u32, (&str, (u32, u32)))| Row {
        point,
        settings: vec![
            ("algorithm".to_owned(), Setting::Text(algorithm.to_owned())),
            ("nodes".to_owned(), Setting::Number(f64::from(nodes))),
        ],
        status: Status::Converged,
        note: String::new(),
        measured: vec![("rails".to_owned(), f64::from(rails))],
    };
    let rows: Vec<Row> = (0..).zip(simple.chain(optimal)).map(row).collect();
    draw(&figure, &rows)
}

/// Both ends of every step of a staircase: with lines between them it is drawn as it is.
fn steps(rails: fn(u32) -> u32) -> Vec<(u32, u32)> {
    let changes = |a: u32, b: u32| rails(a) != rails(b);
    (FEWEST..=MOST)
        .filter(|&n| n == FEWEST || n == MOST || changes(n - 1, n) || changes(n, n + 1))
        .map(|nodes| (nodes, rails(nodes)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staircase_is_known_by_the_ends_of_its_steps() {
        let optimal = steps(rails_optimal);
        assert_eq!(optimal[..6], [(2, 2), (3, 3), (4, 4), (6, 4), (7, 5), (10, 5)]);
        assert_eq!(optimal.last(), Some(&(4096, 15)));
        assert_eq!(steps(rails_algorithm1)[..4], [(2, 2), (3, 4), (4, 4), (5, 6)]);
    }

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
