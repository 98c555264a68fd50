//! Packets as real ranks send them: greetings, headers by kind, trains of datagrams.

use super::*;
use crate::host::MessagingSpec;
use crate::ideal::IdealSpec;
use crate::network::Pace;
use crate::node::Exchange;
use crosstie_collective::Rank;
use crosstie_protocol::channel::SelectiveSpec;
use crosstie_protocol::message::MessageSpec;
use crosstie_protocol::{Ahead, Headers, Rides};
use crosstie_work::{Application, Ping, PingSpec, Stream, StreamSpec};

const LIMIT: Time = Time::from_ns(10_000_000_000);
const PAYLOAD: u32 = 500;
const HEADERS: Headers =
    Headers { network: 4, datagram: 6, envelope: 20, piece: 4, pack: 10, sack: 30, greeting: 18 };
/// From the last byte leaving to its being there, in nanoseconds: the first leaves at once.
const WAY: u64 = 999;

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// A byte in a nanosecond, and a microsecond besides.
fn ideal(rails: u32) -> IdealSpec {
    let pace = Pace { time: ns(1), bytes: 1 };
    IdealSpec { hosts: 2, rails, pace, latency: ns(1000), gap: ns(1), cycle: ns(1) }
}

/// Acknowledgements wait for as long as the longest test takes, or come at once for two packets.
fn nodes(ahead: Option<Ahead>) -> NodesSpec {
    let channel = SelectiveSpec { after: ns(50_000), late: LIMIT, ..SelectiveSpec::LIVE };
    NodesSpec {
        policy: PolicyKind::Pull {},
        window: None,
        channel: Some(channel.into()),
        ahead,
        exchange: Some(Exchange { rides: Rides::Whole, headers: HEADERS }),
        ..plain_nodes(1, Packing { payload: Some(PAYLOAD), overhead: HEADERS.overhead() })
    }
}

fn play(nodes: &NodesSpec, application: &mut dyn Application) -> Played {
    let protocol = MessageSpec { strict: false, fins: false, ..MessageSpec::new(2000) };
    let messaging = Some(MessagingSpec {
        protocol,
        envelope: HEADERS.envelope,
        memory: Pace { time: ns(2), bytes: 1 },
        latency: ns(100),
        ports: false,
    });
    let blueprint = &ideal(nodes.rails);
    let play = Play { blueprint, nodes, messaging, overhead: None, limit: LIMIT, records: false };
    let played = play.run(application, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(played.failure, None);
    played
}

fn ping(bytes: u32) -> Ping {
    Ping::new(PingSpec { from: Rank(0), to: Rank(1), bytes, iterations: 4 })
}

/// The times of round trips, in nanoseconds.
fn round_trips(bytes: u32) -> Vec<u64> {
    let played = play(&nodes(None), &mut ping(bytes));
    played.iterations.iter().map(|took| took.ps() / 1000).collect()
}

#[test]
fn the_first_packet_waits_for_the_answer_to_a_greeting() {
    let trips = round_trips(300);
    let message = u64::from(300 + HEADERS.envelope + HEADERS.overhead()) + WAY;
    assert_eq!(trips[2..], [2 * message; 2]);
    // The other end greets, too, before it answers. Its own packet waits for nothing.
    let greeting = u64::from(HEADERS.greeting);
    let answered = (greeting + WAY) + (2 * greeting + WAY);
    // The first packets after a pause are acknowledged at once: something may go behind that.
    let acknowledgement = [0, u64::from(HEADERS.sack)];
    assert!(acknowledgement.contains(&(trips[1] - 2 * message)), "{trips:?}");
    assert!(acknowledgement.contains(&(trips[0] - 2 * message - answered)), "{trips:?}");
}

#[test]
fn a_message_of_several_datagrams_has_more_headers() {
    let wire = |parts: &[u32]| -> u64 {
        parts.iter().map(|part| u64::from(part + HEADERS.overhead())).sum()
    };
    // What fits into a datagram with its envelope is one.
    assert_eq!(round_trips(480)[3], 2 * (wire(&[500]) + WAY));
    // Otherwise each packet is cut anew, to have room for the length of the message.
    let cut = wire(&[496 + 4, 4 + 4, 1 + 4]);
    let found = round_trips(481)[3];
    // Two packets are acknowledged at once, and the answer may go behind that.
    let acknowledgement = u64::from(HEADERS.sack);
    assert!((2 * (cut + WAY)..=2 * (cut + WAY + acknowledgement)).contains(&found), "{found}");
}

/// Packets that are sent, and the time of it all.
fn stream(ahead: Option<Ahead>) -> (u64, Time) {
    let spec = StreamSpec {
        from: Rank(0),
        to: Rank(1),
        bytes: 1_000_000,
        window: 4,
        both_ways: false,
        pairs: 1,
        crossed: false,
        iterations: 5,
    };
    let played = play(&nodes(ahead), &mut Stream::new(spec));
    let tally = played.delivery.channels.unwrap();
    assert_eq!((tally.fast, tally.timeout, tally.refused), (0, 0, 0), "{tally:?}");
    (tally.first, played.time)
}

#[test]
fn packets_grow_into_trains_that_take_the_rail_no_longer() {
    let bytes = 20_000_000;
    let (single, took) = stream(None);
    assert!((bytes / 500..bytes / 500 + 200).contains(&single), "{single}");
    // 62.5 us are 62,500 bytes, and 16 datagrams 8,000.
    let (trains, sooner) = stream(Some(Ahead { time: ns(1_000_000), most: 16 }));
    assert!(trains < single / 8, "{trains} of {single}");
    // Each datagram has its headers in a train, too.
    let wire = bytes / 500 * 510;
    assert!(sooner.ps() / 1000 >= wire, "{sooner}");
    assert!(sooner.ps() as f64 / took.ps() as f64 > 0.98, "{sooner} and {took}");
}
