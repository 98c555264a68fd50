//! Packets that take turns, and a global window: a complete exchange of real ranks.

use super::*;
use crosstie_protocol::GlobalWindow;
use std::collections::BTreeSet;

const RANKS: u16 = 5;

/// Packets of a block, and bytes of each: less than a frame has room for.
const PACKETS: usize = 5;
const BYTES: usize = 1400;

/// A synchronous shuffle: the blocks of all pairs, in the order of the permutation `shift`.
fn blocks() -> Vec<Message> {
    let block = |from: u16, step: u16| {
        let first = (7 * from + step) as u8;
        let bytes = (0..PACKETS * BYTES).map(|at| (at as u8).wrapping_mul(31).wrapping_add(first));
        Message { from, to: (from + step) % RANKS, tag: 0, bytes: bytes.collect() }
    };
    (1..RANKS).flat_map(|step| (0..RANKS).map(move |from| block(from, step))).collect()
}

/// The number in four bytes of a head.
fn number(head: &[u8; HEAD], at: usize) -> u32 {
    u32::from_be_bytes(*head[at..].first_chunk().expect("a head is longer"))
}

/// What was seen of an exchange: the most data packets that a rank had sent and heard no
/// acknowledgement of, over all peers; and for each rank to which ranks its data packets went,
/// without those that went again.
fn seen(log: &[Sent]) -> (usize, Vec<Vec<u16>>) {
    let mut outstanding: Vec<BTreeSet<(u16, u32)>> = vec![BTreeSet::new(); RANKS.into()];
    let mut known = BTreeSet::new();
    let mut turns = vec![Vec::new(); RANKS.into()];
    // When an acknowledgement is there: its receiver, its sender, and the first number that it does
    // not acknowledge.
    let mut acknowledged: BTreeSet<(Time, u16, u16, u32)> = BTreeSet::new();
    let mut most = 0;
    for sent in log {
        let &Sent { at, there, from, to, ref head } = sent;
        while let Some(&next) = acknowledged.first().filter(|next| next.0 <= at) {
            acknowledged.remove(&next);
            let (_, rank, peer, before) = next;
            outstanding[usize::from(rank)]
                .retain(|&(to, seq)| to != peer || seq.wrapping_sub(before) < 1 << 31);
        }
        let seq = number(head, 4);
        match head[0] & 15 {
            // Data, and parts of short messages.
            0 | 2 if known.insert((from, to, seq)) => {
                let mine = &mut outstanding[usize::from(from)];
                mine.insert((to, seq));
                most = most.max(mine.len());
                turns[usize::from(from)].push(to);
            }
            1 => acknowledged.extend(there.map(|there| (there, to, from, number(head, 15)))),
            5 | 6 => acknowledged.extend(there.map(|there| (there, to, from, seq))),
            _ => {}
        }
    }
    (most, turns)
}

/// Plays the exchange, in which every block must be what was sent.
fn play(injection: Injection, harm: Harm) -> (usize, Vec<Vec<u16>>) {
    let policy = PolicyKind::RoundRobin {};
    // No rail is taken for dead: all that was outstanding on it would go again.
    let profile = Profile {
        channel: Some(go_back_n()),
        patience: Some(Patience { least: ms(1000), ..Patience::default() }),
        ..Profile::live().with_eager(8192)
    };
    let mut sky = Sky::with_profile((profile, injection), 1, RANKS, &[60], harm, policy);
    sky.air.lock().unwrap().log = Some(Vec::new());
    assert_eq!(exchange(&mut sky, &blocks(), |_| (), ms(60_000)), Ok(()), "{injection:?}");
    let log = sky.air.lock().unwrap().log.take().unwrap();
    let (most, turns) = seen(&log);
    for (rank, turns) in turns.iter().enumerate() {
        assert_eq!(turns.len(), PACKETS * (usize::from(RANKS) - 1), "rank {rank}: {turns:?}");
    }
    (most, turns)
}

fn turns(window: Option<u32>) -> Injection {
    let window = window.map(|packets| GlobalWindow { packets, by_received: false });
    Injection { interleaved: true, window }
}

/// No rank has more packets outstanding than the global window allows, over all peers; and it uses
/// the window, whether packets are lost or not. Without it there are more.
#[test]
fn no_more_than_a_global_window_is_outstanding() {
    for (window, lost) in [1, 2, 3, 7].into_iter().flat_map(|window| [(window, 0), (window, 50)]) {
        let (most, _) = play(turns(Some(window)), Harm { lost, ..Harm::default() });
        assert_eq!(most, window as usize, "{lost} of 1000 lost");
    }
    let (most, _) = play(turns(None), Harm::default());
    assert!(most > 7, "{most} without a window");
}

/// Packet j of each block goes before packet j + 1 of any: consecutive ones go to different peers.
#[test]
fn packets_to_all_peers_take_turns() {
    let is_in_turn = |turns: &[u16]| {
        turns.chunks(usize::from(RANKS) - 1).all(|pass| {
            let peers: BTreeSet<&u16> = pass.iter().collect();
            peers.len() == pass.len()
        })
    };
    for window in [None, Some(2), Some(7)] {
        let (_, turns) = play(turns(window), Harm::default());
        assert!(turns.iter().all(|turns| is_in_turn(turns)), "{window:?}: {turns:?}");
    }
    let (_, whole) = play(Injection::default(), Harm::default());
    assert!(!whole.iter().any(|turns| is_in_turn(turns)), "messages go whole by themselves");
}
