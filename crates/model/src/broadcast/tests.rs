use super::*;
use crate::testing::{figure, us};
use crate::{Copies, Cost};
use crosstie_units::Seed;

/// The number of packets, and what 2.8 and 2.9 give [tam, figures 2.3 and 2.4].
pub(crate) const FIGURES: [(u64, f64, f64); 6] = [
    (1, 28.0, 28.0),
    (2, 36.0, 33.0),
    (3, 44.0, 38.0),
    (4, 52.0, 43.0),
    (5, 60.0, 48.0),
    (10, 100.0, 73.0),
];

/// When nodes 2 to 16 have the first packet [tam, figure 2.3].
pub(crate) const FIRST_G2: [u64; 15] = [13, 11, 18, 9, 18, 16, 23, 7, 18, 16, 23, 14, 23, 21, 28];

/// The same in figure 2.4.
pub(crate) const FIRST_G1: [u64; 15] = [10, 9, 16, 8, 16, 15, 22, 7, 16, 15, 22, 14, 22, 21, 28];

/// When every node has every packet, by the rules: a node receives a packet when it comes and the
/// node is free, and sends it to its children, G apart. Nodes are counted from 0 without gaps below
/// each other.
fn simulated(tree: &PacketTree) -> Vec<Vec<Time>> {
    let mut done = vec![Vec::new(); 1 << tree.levels];
    node(tree, &mut done, 0, tree.levels, None);
    done
}

fn node(tree: &PacketTree, done: &mut [Vec<Time>], me: usize, below: u32, come: Option<&[Time]>) {
    let mut free = Time::ZERO;
    let mut sent: Option<Time> = None;
    let mut children = vec![Vec::new(); below as usize];
    for packet in 0..tree.packets as usize {
        if let Some(come) = come {
            free = free.max(come[packet]) + tree.packet.receive;
        }
        done[me].push(free);
        for child in children.iter_mut().rev() {
            let start = sent.map_or(free, |sent| free.max(sent + tree.every()));
            sent = Some(start);
            free = start + tree.packet.send;
            child.push(free + tree.packet.latency);
        }
    }
    for (level, come) in children.iter().enumerate() {
        node(tree, done, me + (1 << level), level as u32, Some(come));
    }
}

fn finished(tree: &PacketTree) -> Time {
    *simulated(tree).iter().flatten().max().unwrap()
}

#[test]
fn the_vectors_of_both_figures() {
    for (k, g2, g1) in FIGURES {
        let tree = PacketTree::new(&figure(2.0), k, 16);
        assert_eq!((tree.time(), tree.form()), (us(g2), Form::Undisturbed));
        assert_eq!((tree.printed_2_8(), finished(&tree)), (us(g2), us(g2)));
        let tree = PacketTree::new(&figure(1.0), k, 16);
        assert_eq!((tree.time(), tree.form()), (us(g1), Form::Disturbed));
        assert_eq!((tree.printed_2_9(), finished(&tree)), (Some(us(g1)), us(g1)));
        assert_eq!(tree.printed_2_8(), us(24.0 + 4.0 * k as f64), "the wrong choice");
    }
}

#[test]
fn nodes_have_packets_when_the_figures_say() {
    let times = |g| simulated(&PacketTree::new(&figure(g), 2, 16));
    for (node, (g2, g1)) in times(2.0).into_iter().zip(times(1.0)).enumerate().skip(1) {
        assert_eq!(g2[0], us(FIRST_G2[node - 1] as f64), "node {}", node + 1);
        assert_eq!(g1[0], us(FIRST_G1[node - 1] as f64), "node {}", node + 1);
        assert_eq!(g2[1] - g2[0], us(8.0));
        assert_eq!(g1[1] - g1[0], us(if node < 8 { 4.0 } else { 5.0 }), "interference");
    }
}

/// Where g is not O_s the printed forms are off.
#[test]
fn the_general_form_is_right_where_the_printed_one_is_not() {
    let mut on = figure(1.2);
    let tree = PacketTree::new(&on, 5, 16);
    assert_eq!((tree.time(), finished(&tree)), (us(49.6), us(49.6)));
    assert_eq!(tree.printed_2_9(), Some(us(48.0)));
    on.copy = Some(Copies { ctm: Cost::fixed(us(3.0)), ..Copies::default() });
    assert_eq!(PacketTree::new(&on, 5, 16).time(), us(52.6));
}

#[test]
fn small_trees() {
    let tree = |nodes| PacketTree::new(&figure(1.0), 4, nodes);
    assert_eq!((tree(1).time(), tree(0).time()), (Time::ZERO, Time::ZERO));
    assert_eq!((tree(2).time(), tree(2).printed_2_9()), (us(13.0), None));
    assert_eq!((tree(3).time(), tree(9).time()), (tree(4).time(), tree(16).time()));
}

#[test]
fn the_forms_are_what_happens() {
    let mut stream = Seed(2001).stream("trees", 0);
    let mut forms = [0; 2];
    for _ in 0..4000 {
        let mut on = figure(1.0);
        let mut cost = |most| Cost::fixed(Time::from_ps(1 + stream.below(most)));
        (on.send, on.receive, on.latency) = (cost(3_000), cost(4_000), cost(9_000));
        (on.send_gap, on.receive_gap, on.pickup) = (cost(3_000), cost(3_000), cost(500));
        let tree = PacketTree::new(&on, 1 + stream.below(8), 2 << stream.below(5));
        assert_eq!(tree.time(), finished(&tree), "{tree:?}");
        forms[tree.form() as usize] += 1;
    }
    assert!(forms.iter().all(|&count| count > 1000), "{forms:?}");
}
