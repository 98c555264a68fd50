use super::*;
use crate::broadcast::tests::{FIGURES, FIRST_G1, FIRST_G2};
use crate::testing::{figure, us};
use crate::{Cost, Form, PacketTree};
use crosstie_units::Seed;

fn in_packets(k: u64, ranks: u32) -> Schedule {
    broadcast(Broadcast::SegmentedBinomial { segment: Bytes::new(1) }, k, ranks)
}

#[test]
fn both_figures_from_their_schedule() {
    for (k, g2, g1) in FIGURES {
        let schedule = in_packets(k, 16);
        for (g, expected) in [(2.0, g2), (1.0, g1)] {
            let price = priced(&schedule, &figure(g));
            assert_eq!(price.time, us(expected), "g = {g}, k = {k}");
            assert_eq!(price.time, PacketTree::new(&figure(g), k, 16).time());
        }
    }
}

#[test]
fn every_node_has_its_packets_when_the_figures_say() {
    let finish = |g, k| priced(&in_packets(k, 16), &figure(g)).finish;
    // Leaves send nothing on, and others are done when they have: their receives tell when they had
    // it.
    let had = |g: f64, k: u64| -> Vec<Time> {
        let below = |node: u64| u64::from((node as u32).trailing_zeros().min(4));
        let sends = |node: u64| match below(node) {
            0 => Time::ZERO,
            n => us(g.max(1.0)) * (n - 1) + us(1.0),
        };
        let done = finish(g, k).into_iter().zip(0..);
        done.map(|(done, node)| done - sends(node)).collect()
    };
    for (g, first) in [(2.0, FIRST_G2), (1.0, FIRST_G1)] {
        let (one, two) = (had(g, 1), had(g, 2));
        for (node, first) in (1..16).zip(first) {
            assert_eq!(one[node], us(first as f64), "node {} at g = {g}", node + 1);
            let between = if g == 2.0 {
                8.0
            } else if node < 8 {
                4.0
            } else {
                5.0
            };
            assert_eq!(two[node] - one[node], us(between), "node {} at g = {g}", node + 1);
        }
    }
}

/// One packet goes down both trees in the same time; several go as the closed form says, unless a
/// NIC keeps the disturbed child waiting.
#[test]
fn trees_take_what_their_forms_say() {
    let mut stream = Seed(28).stream("trees", 0);
    let mut forms = [0; 2];
    for _ in 0..1500 {
        let mut on = figure(1.0);
        let mut cost = |most| Cost::fixed(Time::from_ps(1 + stream.below(most)));
        (on.send, on.receive, on.latency) = (cost(3_000), cost(4_000), cost(9_000));
        (on.send_gap, on.pickup) = (cost(3_000), cost(500));
        on.receive_gap = on.send_gap;
        let (k, ranks) = (1 + stream.below(6), 2 << stream.below(5));
        let tree = PacketTree::new(&on, 1, ranks);
        for algorithm in [Broadcast::Binomial {}, Broadcast::ALL[3]] {
            assert_eq!(priced(&broadcast(algorithm, 1, ranks), &on).time, tree.time(), "{tree:?}");
        }
        let tree = PacketTree::new(&on, k, ranks);
        let slow_nic = on.send_gap.fixed > on.send.fixed && tree.form() == Form::Disturbed;
        if !slow_nic || ranks == 2 {
            assert_eq!(priced(&in_packets(k, ranks), &on).time, tree.time(), "{tree:?}");
            forms[tree.form() as usize] += 1;
        }
    }
    assert!(forms.iter().all(|&count| count > 100), "{forms:?}");
}
