use super::*;
use proptest::prelude::*;

/// Figure 4 of Coll: 6 rails, 20 nodes.
const FIGURE_4: &str = "\
11111111110000000000
11110000001111110000
10001110001110001110
01001001101001101101
00100101010101011011
00010010110010110111";

fn matrix(text: &str) -> Matrix {
    text.parse().unwrap()
}

fn sorted_rows(matrix: &Matrix) -> Vec<String> {
    let mut rows: Vec<String> = matrix.to_string().lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

/// The definition, word for word.
fn reaches(matrix: &Matrix, from: u32, to: u32) -> bool {
    let transmits = |rail, node| matrix.transmits(RailId(rail), NodeId(node));
    (0..matrix.rails()).any(|rail| transmits(rail, from) && !transmits(rail, to))
}

fn first_unconnected(matrix: &Matrix) -> Option<(u32, u32)> {
    let nodes = 0..matrix.nodes();
    let mut pairs = nodes.clone().flat_map(|from| nodes.clone().map(move |to| (from, to)));
    pairs.find(|&(from, to)| from != to && !reaches(matrix, from, to))
}

#[test]
fn item_1_algorithm_2_is_figure_4_bit_for_bit() {
    assert_eq!(algorithm2(6, 20).unwrap().to_string(), FIGURE_4);
    let lexicographic: Vec<String> = (0..6)
        .map(|node| {
            let matrix = algorithm2(4, 6).unwrap();
            let bit = |rail| if matrix.transmits(RailId(rail), NodeId(node)) { '1' } else { '0' };
            (0..4).map(bit).collect()
        })
        .collect();
    assert_eq!(lexicographic, ["1100", "1010", "1001", "0110", "0101", "0011"]);
}

#[test]
fn item_1_algorithm_1_has_the_rows_of_figures_1_and_3() {
    let figure_1c = matrix("10 / 01");
    let figure_1d = matrix("1100 / 0011 / 1010 / 0101");
    let figure_3 = matrix("10101010/11001100/11110000/01010101/00110011/00001111");
    for (nodes, figure) in [(2, figure_1c), (4, figure_1d), (8, figure_3)] {
        assert_eq!(figure.check(), Ok(()));
        assert_eq!(sorted_rows(&algorithm1(nodes).unwrap()), sorted_rows(&figure));
    }
    assert_eq!(format!("{:#}", algorithm1(4).unwrap()), "1010 / 0101 / 1100 / 0011");
}

#[test]
fn item_2_every_matrix_made_connects_every_pair() {
    for nodes in 2..=130 {
        let matrix = algorithm1(nodes).unwrap();
        assert_eq!((first_unconnected(&matrix), matrix.check()), (None, Ok(())), "{nodes} nodes");
        let matrix = algorithm2(rails_optimal(nodes), nodes).unwrap();
        assert_eq!((first_unconnected(&matrix), matrix.check()), (None, Ok(())), "{nodes} nodes");
    }
    for (rails, nodes) in [(9, 2), (70, 100), (200, 3)] {
        let matrix = algorithm2(rails, nodes).unwrap();
        assert_eq!(first_unconnected(&matrix), None, "{rails} rails");
        assert_eq!(matrix.check(), Ok(()));
    }
}

#[test]
fn item_2_one_node_too_many_is_refused() {
    for rails in 2..=15 {
        let most = largest_cluster(rails) as u32;
        assert_eq!(algorithm2(rails, most).unwrap().nodes(), most);
        let needed = rails + 1;
        assert_eq!(
            algorithm2(rails, most + 1),
            Err(MatrixError::TooManyNodes {
                nodes: most + 1,
                rails,
                most: u128::from(most),
                needed
            })
        );
    }
}

#[test]
fn item_2_exhaustive_search_confirms_the_bound() {
    /// The largest set of columns, chosen from those at or after `next`, none within another.
    fn largest(rails: u32, next: u32, chosen: &mut Vec<u32>) -> usize {
        let mut best = chosen.len();
        for column in next..1 << rails {
            if chosen.iter().all(|&c| c & !column != 0 && column & !c != 0) {
                chosen.push(column);
                best = best.max(largest(rails, column + 1, chosen));
                chosen.pop();
            }
        }
        best
    }
    let found: Vec<usize> = (1..=4).map(|rails| largest(rails, 0, &mut Vec::new())).collect();
    assert_eq!(found, [1, 2, 3, 6]);
}

#[test]
fn item_3_rails_needed_are_those_of_figure_2() {
    let nodes = [2, 3, 4, 8, 16, 20, 21, 32, 64, 128, 256, 1024, 4096];
    let optimal = [2, 3, 4, 5, 6, 6, 7, 7, 8, 10, 11, 13, 15];
    let simple = [2, 4, 4, 6, 8, 10, 10, 10, 12, 14, 16, 20, 24];
    assert_eq!(nodes.map(rails_optimal), optimal);
    assert_eq!(nodes.map(rails_algorithm1), simple);
    for (nodes, rails) in nodes.into_iter().zip(simple) {
        assert_eq!(algorithm1(nodes).unwrap().rails(), rails);
    }
}

#[test]
fn thousands_of_nodes_are_made_and_checked_at_once() {
    let matrix = algorithm2(16, 12_870).unwrap();
    assert_eq!(matrix.check(), Ok(()));
    assert_eq!(algorithm1(10_000).unwrap().check(), Ok(()));
}

#[test]
fn the_first_unconnected_pair_is_named() {
    for (text, from, to) in [
        ("11", 0, 1),
        ("0110 / 1001 / 1011", 0, 3),
        ("1100 / 0011 / 1011 / 0101", 2, 3),
        ("110 / 011 / 000", 0, 1),
    ] {
        let matrix = matrix(text);
        assert_eq!(first_unconnected(&matrix), Some((from, to)), "{text}");
        let found = Unconnected { from: NodeId(from), to: NodeId(to) };
        assert_eq!(matrix.check(), Err(found), "{text}");
        assert_eq!(Allocation::new(matrix).unwrap_err(), found);
    }
    assert_eq!(
        matrix("10 / 11").check().unwrap_err().to_string(),
        "node 1 cannot reach node 0: on every rail on which 1 transmits, 0 transmits too"
    );
}

#[test]
fn sizes_out_of_reason_are_refused() {
    for (result, message) in [
        (algorithm1(1), "an allocation joins at least 2 nodes, not 1"),
        (algorithm2(4, 0), "an allocation joins at least 2 nodes, not 0"),
        (algorithm2(4, 7), "4 rails join at most 6 nodes, not 7: take at least 5 rails"),
        (
            algorithm1(u32::MAX),
            "a matrix has at most 4096 rails and 65536 nodes, not 64 rails and 4294967295 nodes",
        ),
        (
            algorithm2(9999, 2),
            "a matrix has at most 4096 rails and 65536 nodes, not 9999 rails and 2 nodes",
        ),
    ] {
        assert_eq!(result.unwrap_err().to_string(), message);
    }
}

#[test]
fn texts_are_read_with_comments_and_either_separator() {
    let text = "# Figure 1(d)\n\n  1100 / 0011 # a pair\r\n1010 /\n0101\n";
    assert_eq!(matrix(text), matrix("1100/0011/1010/0101"));
    assert_eq!(matrix(text).to_string(), "1100\n0011\n1010\n0101");
}

#[test]
fn mistakes_in_a_text_are_placed() {
    let long = "1".repeat(MAX_NODES as usize + 1);
    let many = "1\n".repeat(MAX_RAILS as usize + 1);
    for (text, message) in [
        ("", "found no rows, expected one row of 0 and 1 for each rail, such as `10 / 01`"),
        (
            " # 10 / 01",
            "found no rows, expected one row of 0 and 1 for each rail, such as `10 / 01`",
        ),
        ("10 /\n 0x1", "line 2, column 3: found `x`, expected 0 or 1"),
        ("10 / 2", "line 1, column 6: found `2`, expected 0 or 1"),
        ("é", "line 1, column 1: found `é`, expected 0 or 1"),
        ("1\u{7}", "line 1, column 2: found `\\u{7}`, expected 0 or 1"),
        (
            "10  01",
            "line 1, column 5: found a second row after a space, expected `/` or a new line \
             between rows",
        ),
        (
            "10\n01\n011",
            "line 3: the row of rail 2 has 3 nodes, expected 2 as in the row of rail 0",
        ),
        (
            &long,
            "line 1: the matrix grows beyond 4096 rails or 65536 nodes, which is more than is \
             read",
        ),
        (
            &many,
            "line 4097: the matrix grows beyond 4096 rails or 65536 nodes, which is more than \
             is read",
        ),
    ] {
        assert_eq!(text.parse::<Matrix>().unwrap_err().to_string(), message);
    }
}

fn matrices() -> impl Strategy<Value = Matrix> {
    (1u32..80, 1u32..12).prop_flat_map(|(rails, nodes)| {
        // Sparse and dense columns alike, so that containment is neither sure nor rare.
        let density = 0.02f64..0.98;
        density.prop_flat_map(move |density| {
            let bits =
                prop::collection::vec(prop::bool::weighted(density), (rails * nodes) as usize);
            bits.prop_map(move |bits| {
                let mut matrix = Matrix::silent(rails, nodes);
                for (place, _) in (0..).zip(bits).filter(|&(_, bit)| bit) {
                    matrix.set(RailId(place / nodes), NodeId(place % nodes));
                }
                matrix
            })
        })
    })
}

proptest! {
    #[test]
    fn the_check_agrees_with_the_definition(matrix in matrices()) {
        let found = matrix.check().err().map(|pair| (pair.from.0, pair.to.0));
        prop_assert_eq!(found, first_unconnected(&matrix));
    }

    #[test]
    fn a_printed_matrix_is_read_back(matrix in matrices()) {
        prop_assert_eq!(&matrix.to_string().parse::<Matrix>().unwrap(), &matrix);
        prop_assert_eq!(&format!("{matrix:#}").parse::<Matrix>().unwrap(), &matrix);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[01/# \n\\PC]{0,60}") {
        if let Ok(matrix) = text.parse::<Matrix>() {
            prop_assert_eq!(&matrix.to_string().parse::<Matrix>().unwrap(), &matrix);
        }
    }
}
