//! The rails that static allocation needs, by nodes [coll, figure 2]: arithmetic, no experiment.

use super::{Drawing, drawing};
use crosstie_protocol::{rails_algorithm1, rails_optimal};
use crosstie_study::Figure;

/// The ends of the paper's axis.
const FEWEST: u32 = 2;
const MOST: u32 = 4096;

const NODES: &str = "nodes";
const RAILS: &str = "rails";
const ALGORITHM: &str = "algorithm";

/// The figure, exact for every number of nodes.
pub fn rails_by_nodes() -> Drawing {
    let title = "Rails needed under static allocation".to_owned();
    let figure = Figure {
        log_x: true,
        x_range: Some([f64::from(FEWEST), f64::from(MOST)]),
        y_range: Some([0.0, 25.0]),
        ..drawing::plain("static-rails", title, NODES, RAILS, ALGORITHM)
    };
    let optimal = steps(rails_optimal).into_iter().map(|step| ("optimum", step));
    let simple = steps(rails_algorithm1).into_iter().map(|step| ("Algorithm 1", step));
    let row = |(algorithm, (nodes, rails))| {
        let (nodes, rails) = ((NODES, f64::from(nodes)), (RAILS, f64::from(rails)));
        drawing::point((ALGORITHM, algorithm), nodes, rails)
    };
    (figure, simple.chain(optimal).map(row).collect())
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
