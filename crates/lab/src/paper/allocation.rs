//! The rails that static allocation needs, by nodes [coll, figure 2]: arithmetic, no experiment.

use super::Drawing;
use crosstie_protocol::{rails_algorithm1, rails_optimal};
use crosstie_study::{Figure, Row, Setting, Status};

/// The ends of the paper's axis.
const FEWEST: u32 = 2;
const MOST: u32 = 4096;

/// The figure, exact for every number of nodes.
pub fn rails_by_nodes() -> Drawing {
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
    (figure, (0..).zip(simple.chain(optimal)).map(row).collect())
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
}
