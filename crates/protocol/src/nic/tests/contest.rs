//! Requests that meet: the scenarios of the paper and some more.

use super::rail::Rail;
use crate::Control;
use crate::livelock::{Priority, local_wins};
use crate::nic::State::{Free, Receiving, ReceivingRts, Reserved, Sending};
use crate::nic::{Nic, Stimulus};

/// Nodes of Figure 6, in the order of their numbers.
const I: u32 = 0;
const J: u32 = 1;
const K: u32 = 2;

/// Without the procedure: whoever has a request out refuses all others.
fn always_refuse(_: &Nic, _: Priority) -> bool {
    true
}

/// The other reading: the local request is judged by the counter as it is now.
pub(super) fn live_counter(local: &Nic, remote: Priority) -> bool {
    Priority { counter: local.counter, node: local.node } > remote
}

/// The cycle k to i, i to j, j to k; all requests are under way.
fn cycle(counters: [i64; 3], judge: super::rail::Judge) -> Rail {
    let [i, j, k] = counters;
    let mut rail = Rail::new(&[(I, i), (J, j), (K, k)], judge);
    rail.request(K, I);
    rail.request(I, J);
    rail.request(J, K);
    rail
}

#[test]
fn item_10_figure_6b_replays() {
    let mut rail = cycle([3, 2, 4], local_wins);
    assert_eq!(rail.news(), ["2>0 RTS(4)", "0>1 RTS(3)", "1>2 RTS(2)"]);
    assert_eq!(rail.states(), [Reserved, Reserved, Reserved]);

    rail.round();
    assert_eq!(rail.news(), ["0>2 CTS", "1>0 CTS", "2>1 NACK"]);
    assert_eq!(rail.states(), [ReceivingRts, ReceivingRts, Reserved]);
    assert_eq!(rail.counters(), [4, 3, 3]);

    rail.round();
    assert_eq!(rail.news(), ["0>1 ABORT"]);
    assert_eq!(rail.replies, ["2 lCTS", "0 lNACK", "1 lNACK"]);
    assert_eq!(rail.states(), [Receiving, Receiving, Sending]);

    rail.round();
    assert!(rail.news().is_empty() && rail.flight.is_empty());
    assert_eq!(rail.states(), [Receiving, Free, Sending]);
    assert_eq!(rail.counters(), [4, 3, 3]);
}

#[test]
fn item_10_an_abort_may_overtake_the_nack() {
    let mut rail = cycle([3, 2, 4], local_wins);
    rail.round();
    let nack = rail.flight.iter().position(|&(.., packet)| packet == Control::Nack).unwrap();
    let nack = rail.flight.remove(nack);
    rail.round();
    rail.round();
    assert_eq!(rail.states(), [Receiving, Reserved, Sending]);
    rail.flight.push(nack);
    rail.round();
    assert_eq!(rail.states(), [Receiving, Free, Sending]);
    assert_eq!(rail.counters(), [4, 3, 3]);
}

#[test]
fn item_10_vector_a_a_cycle_of_equals() {
    let mut rail = cycle([0, 0, 0], local_wins);
    rail.news();
    rail.round();
    assert_eq!(rail.news(), ["0>2 CTS", "1>0 NACK", "2>1 NACK"]);
    assert_eq!(rail.counters(), [1, -1, -1]);
    rail.round();
    assert_eq!(rail.replies, ["2 lCTS", "0 lNACK", "1 lNACK"]);
    assert_eq!(rail.states(), [Receiving, Free, Sending]);
    assert!(rail.flight.is_empty());
}

#[test]
fn item_11_vector_b_two_that_ask_each_other() {
    let mut rail = Rail::new(&[(0, 0), (1, 0)], local_wins);
    rail.request(0, 1);
    rail.request(1, 0);
    rail.news();
    rail.round();
    assert_eq!(rail.news(), ["1>0 NACK", "0>1 CTS"]);
    assert_eq!(rail.counters(), [1, -1]);
    rail.round();
    assert_eq!(rail.states(), [Receiving, Sending]);
    assert!(rail.flight.is_empty());
}

#[test]
fn item_11_mutual_requests_have_one_winner_per_round_and_wins_even_out() {
    let mut rail = Rail::new(&[(0, 0), (1, 0)], local_wins);
    let mut wins = [0, 0];
    for _ in 0..1000 {
        rail.request(0, 1);
        rail.request(1, 0);
        rail.round();
        rail.round();
        let states = rail.states();
        let winner = states.iter().position(|&state| state == Sending).unwrap();
        assert_eq!(states[1 - winner], Receiving, "exactly one winner");
        wins[winner] += 1;
        rail.tell(1 - winner as u32, Stimulus::Delivered);
        rail.round();
        assert_eq!(rail.states(), [Free, Free]);
        assert!(rail.counters().iter().all(|c| c.abs() <= 1));
    }
    assert_eq!(wins, [500, 500]);
}

#[test]
fn item_10_without_the_procedure_the_cycle_livelocks() {
    let served = |judge, rounds: usize| {
        let mut rail = cycle([0, 0, 0], judge);
        for _ in 0..rounds {
            rail.round();
            rail.round();
            if rail.states().contains(&Sending) {
                return true;
            }
            assert_eq!(rail.states(), [Free, Free, Free], "all refused, all try again");
            rail.request(K, I);
            rail.request(I, J);
            rail.request(J, K);
        }
        false
    };
    assert!(served(local_wins, 1));
    assert!(!served(always_refuse, 1000));
}

#[test]
fn the_live_counter_wastes_a_round() {
    // Nodes 0 and 1 ask 2, and 2 asks 0. Node 2 hears of 1 first.
    let served = |judge| {
        let mut rail = Rail::new(&[(0, 0), (1, 0), (2, 0)], judge);
        rail.request(1, 2);
        rail.request(0, 2);
        rail.request(2, 0);
        for _ in 0..4 {
            rail.round();
        }
        assert!(rail.flight.is_empty());
        rail.states().into_iter().filter(|&state| state == Sending).count()
    };
    assert_eq!((served(local_wins), served(live_counter)), (1, 0));
}
