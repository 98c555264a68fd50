//! The list of what a faithful implementation must show, as far as it is about the two ends alone;
//! `tests/reliability.rs` and `tests/many_to_one.rs` show the rest.

use crosstie_units::Time;

use crate::Machine;
use crate::channel::*;

const TIMEOUT: Time = Time::from_ns(100);

/// The first number: the next but two is 0.
const FIRST: Seq = Seq(u32::MAX - 1);

fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn spec(window: u32) -> GoBackNSpec {
    GoBackNSpec { window, timeout: TIMEOUT, every: 1, after: Time::ZERO, simple: false }
}

fn end(spec: impl Into<ChannelSpec>) -> Endpoint<u32> {
    Endpoint::starting_at(spec, FIRST, FIRST).expect("a sound channel")
}

fn send(item: u32) -> Input<u32> {
    Input::Send { item, bytes: 1000, rides: true }
}

/// An end that has sent so many packets at time 0, numbered from 0.
fn sender(spec: GoBackNSpec, packets: u32) -> Endpoint<u32> {
    let mut end = end(spec);
    (0..packets).for_each(|packet| end.handle(at(0), send(packet)));
    actions(&mut end, at(0));
    end
}

fn actions(end: &mut Endpoint<u32>, now: Time) -> Vec<Action<u32>> {
    std::iter::from_fn(|| end.poll_action(now)).collect()
}

/// What an end does about a frame: the packets that it sends, and the control packets.
fn answer(end: &mut Endpoint<u32>, now: Time, frame: Frame<u32>) -> (Vec<u32>, Vec<Frame<u32>>) {
    end.handle(now, Input::Frame(frame));
    sorted(actions(end, now))
}

/// What an end sends when its time has come.
fn timeout(end: &mut Endpoint<u32>, now: Time) -> (Vec<u32>, Vec<Frame<u32>>) {
    end.handle_timeout(now);
    sorted(actions(end, now))
}

fn sorted(actions: Vec<Action<u32>>) -> (Vec<u32>, Vec<Frame<u32>>) {
    let (mut packets, mut control) = (Vec::new(), Vec::new());
    for action in actions {
        match action {
            Action::Transmit(Frame::Data { item, .. }) => packets.push(item),
            Action::Transmit(frame) => control.push(frame),
            Action::Deliver(_) | Action::Acknowledged(_) => {}
        }
    }
    (packets, control)
}

fn pack(packets: u32) -> Frame<u32> {
    Frame::Pack(FIRST.plus(packets))
}

fn nack(packets: u32) -> Frame<u32> {
    Frame::Nack(FIRST.plus(packets))
}

/// A packet of a peer that has received nothing.
fn data(item: u32) -> Frame<u32> {
    Frame::Data { seq: FIRST.plus(item), ack: FIRST, item }
}

/// Nothing sent.
const NOTHING: (Vec<u32>, Vec<Frame<u32>>) = (Vec::new(), Vec::new());

#[test]
fn item_2_one_nack_then_silence_until_a_packet_in_order() {
    let mut end = end(spec(8));
    assert_eq!(answer(&mut end, at(0), data(2)).1, [nack(0)]);
    assert_eq!(answer(&mut end, at(0), data(1)), NOTHING);
    assert_eq!(answer(&mut end, at(0), data(3)), NOTHING);
    assert_eq!(answer(&mut end, at(0), data(0)).1, [pack(1)]);
    assert_eq!(answer(&mut end, at(0), data(3)).1, [nack(1)]);
    assert_eq!((end.tally().nacks, end.tally().out_of_order), (2, 4));
}

#[test]
fn items_3_and_4_a_nack_resends_the_window_and_stalls_until_a_pack() {
    let mut end = sender(spec(4), 6);
    assert_eq!(answer(&mut end, at(10), nack(1)).0, [1, 2, 3]);
    assert!(end.is_stalled());
    end.handle(at(11), send(6));
    assert_eq!(sorted(actions(&mut end, at(11))), NOTHING, "there is room, and yet no new data");
    for old in [nack(1), nack(0), pack(1), pack(0)] {
        assert_eq!(answer(&mut end, at(12), old), NOTHING, "{old:?}");
        assert!(end.is_stalled());
    }
    assert_eq!(timeout(&mut end, at(110)).0, [1, 2, 3]);
    assert!(end.is_stalled(), "a time-out changes nothing");
    assert_eq!(answer(&mut end, at(120), nack(2)).0, [2, 3], "a Pack was lost");
    assert!(end.is_stalled());
    assert_eq!(answer(&mut end, at(130), pack(3)).0, [4, 5, 6]);
    assert!(!end.is_stalled());
    let Tally { first, fast, timeout, .. } = *end.tally();
    assert_eq!((first, fast, timeout), (7, 5, 3));
}

#[test]
fn item_5_a_duplicate_is_answered_by_a_pack_in_every_style() {
    for every in [1, 2, 8] {
        let mut end = end(GoBackNSpec { every, after: at(50), ..spec(8) });
        answer(&mut end, at(0), data(0));
        assert_eq!(answer(&mut end, at(1), data(0)).1, [pack(1)]);
        assert!(end.is_idle(), "it acknowledges what was waiting too");
    }
}

#[test]
fn a_nack_of_nothing_outstanding_never_stalls() {
    let mut end = sender(spec(4), 3);
    assert_eq!(answer(&mut end, at(1), nack(3)), NOTHING);
    assert!(end.is_idle() && !end.is_stalled());
    assert_eq!(answer(&mut end, at(2), nack(3)), NOTHING);
    assert!(end.is_idle() && !end.is_stalled());
    assert_eq!(end.poll_timeout(), None);
}

#[test]
fn item_7_every_packet_has_a_timer_and_resending_restarts_it() {
    let mut end = end(spec(4));
    for (packet, ns) in [(0, 0), (1, 10), (2, 20)] {
        end.handle(at(ns), send(packet));
        actions(&mut end, at(ns));
    }
    assert_eq!(end.poll_timeout(), Some(at(100)));
    assert_eq!(timeout(&mut end, at(99)), NOTHING);
    assert_eq!(timeout(&mut end, at(100)).0, [0]);
    assert_eq!(timeout(&mut end, at(115)).0, [1], "late, and so its timer runs from now on");
    // The timer of packet 1 stays behind that of packet 2 and is of no account.
    assert_eq!(answer(&mut end, at(116), pack(2)), NOTHING);
    assert_eq!(end.poll_timeout(), Some(at(120)));
    assert_eq!(answer(&mut end, at(118), nack(2)).0, [2]);
    assert_eq!(end.poll_timeout(), Some(at(218)), "static: as long as ever");
    assert_eq!(timeout(&mut end, at(217)), NOTHING);
    assert_eq!(timeout(&mut end, at(218)).0, [2]);
    assert_eq!(answer(&mut end, at(219), pack(3)), NOTHING);
    assert_eq!(end.poll_timeout(), None);
}

#[test]
fn item_8_the_simple_channel_resends_all_and_only_for_a_timeout() {
    let simple = GoBackNSpec { simple: true, ..spec(4) };
    let mut receiver = end(simple);
    assert_eq!(answer(&mut receiver, at(0), data(1)), NOTHING, "no Nack");
    assert_eq!(answer(&mut receiver, at(0), data(0)).1, [pack(1)]);

    let mut end = end(simple);
    for (packet, ns) in [(0, 0), (1, 10), (2, 20)] {
        end.handle(at(ns), send(packet));
        actions(&mut end, at(ns));
    }
    assert_eq!(answer(&mut end, at(30), nack(1)), NOTHING, "nobody sends any");
    assert_eq!((end.outstanding(), end.tally().refused), (3, 1));
    assert_eq!(timeout(&mut end, at(100)).0, [0, 1, 2]);
    assert_eq!(end.poll_timeout(), Some(at(200)), "all timers have been restarted");
    end.handle(at(110), send(3));
    assert_eq!(sorted(actions(&mut end, at(110))).0, [3], "and it never stalls");
}

/// Control packets for 12 packets, the last of which has a while to be acknowledged; as many go the
/// other way at the same time if `both`.
fn control(acknowledge: Acknowledge, both: bool) -> u64 {
    let kind = ChannelKind::GoBackN { window: 8, timeout: Some(TIMEOUT), acknowledge };
    let mut end = end(kind
        .spec(&Recommended::simulated(TIMEOUT, SelectiveSpec::SIMULATED))
        .expect("it is reliable"));
    for packet in 0..12 {
        answer(&mut end, at(0), Frame::Data { seq: FIRST.plus(packet), ack: FIRST, item: 0 });
        if both && packet < 8 {
            end.handle(at(0), send(packet));
        }
    }
    let after = end.poll_timeout();
    if let Some(after) = after {
        timeout(&mut end, after);
    }
    assert_eq!(end.tally().delivered, 12);
    end.tally().control()
}

#[test]
fn item_9_each_style_has_its_control_packets() {
    let after = Some(at(30));
    let delayed = |every| Acknowledge::Delayed { every, after };
    let piggyback = Acknowledge::Piggyback { after };
    let counts = |acknowledge| (control(acknowledge, false), control(acknowledge, true));
    assert_eq!(counts(Acknowledge::Immediate), (12, 12));
    assert_eq!(counts(delayed(4)), (3, 1), "the four that no data follows");
    assert_eq!(counts(delayed(5)), (3, 1), "5, 5 and 2 that have waited");
    assert_eq!(counts(delayed(100)), (2, 1), "no more than a window");
    assert_eq!(counts(piggyback), (2, 1), "a window, and 4 that have waited");
}

#[test]
fn item_9_packets_wait_for_their_pack_no_longer_than_told() {
    let mut end = end(GoBackNSpec { every: 3, after: at(30), ..spec(8) });
    assert_eq!(answer(&mut end, at(5), data(0)), NOTHING);
    assert_eq!(answer(&mut end, at(20), data(1)), NOTHING);
    assert!(!end.is_idle());
    assert_eq!(end.poll_timeout(), Some(at(35)), "from the first on");
    assert_eq!(timeout(&mut end, at(34)), NOTHING);
    assert_eq!(timeout(&mut end, at(35)).1, [pack(2)]);
    assert!(end.is_idle() && end.poll_timeout().is_none());
    assert_eq!(answer(&mut end, at(40), data(2)), NOTHING);
    assert_eq!(answer(&mut end, at(41), data(4)).1, [nack(3)], "never delayed");
    assert!(end.is_idle(), "and it acknowledges what was waiting");
}

#[test]
fn item_10_the_history_has_an_event_for_each_pack_nack_and_batch() {
    let mut end = sender(spec(4), 9);
    answer(&mut end, at(1), pack(1));
    answer(&mut end, at(1), pack(1));
    answer(&mut end, at(2), Frame::Data { seq: FIRST, ack: FIRST.plus(2), item: 0 });
    answer(&mut end, at(3), nack(3));
    answer(&mut end, at(4), nack(3));
    assert_eq!(timeout(&mut end, at(103)).0, [3, 4, 5], "a batch: one time-out");
    timeout(&mut end, at(203));
    answer(&mut end, at(204), pack(4));
    let history = end.history();
    use Occurrence::{Nack, Pack, Timeout};
    assert_eq!([Pack, Nack, Timeout].map(|event| history.count(event)), [3, 1, 2]);
    assert_eq!(history.steps(Pack, Pack), 1);
    assert_eq!(history.steps(Pack, Nack), 1);
    assert_eq!(history.steps(Nack, Timeout), 1);
    assert_eq!(history.steps(Timeout, Timeout), 1);
    assert_eq!(history.steps(Timeout, Pack), 1);
    assert_eq!(history.interruption(), Some(1.0 / 3.0));
    assert_eq!((history.severity(), history.recovery()), (Some(1.0), Some(0.5)));
}

#[test]
fn what_cannot_be_is_refused_whole() {
    let mut end = sender(spec(4), 2);
    let beyond = |seq, ack| Frame::Data { seq: FIRST.plus(seq), ack: FIRST.plus(ack), item: 7 };
    for frame in [pack(3), nack(3), beyond(0, 3), beyond(4, 0), beyond(4, 1)] {
        assert_eq!(answer(&mut end, at(1), frame), NOTHING, "{frame:?}");
    }
    let Tally { refused, delivered, acknowledged, stale, .. } = *end.tally();
    assert_eq!((refused, delivered, acknowledged, stale), (5, 0, 0, 0));
    end.handle(at(1), Input::Corrupt);
    assert_eq!((end.tally().corrupt, end.outstanding()), (1, 2));
}

#[test]
fn there_is_no_channel_without_a_window_or_a_timeout() {
    let told = |spec: GoBackNSpec| Endpoint::<u32>::new(spec).unwrap_err().to_string();
    let window = "found a window of 0 packets, expected 1 to 1048576";
    assert_eq!(told(spec(0)), window);
    assert!(told(spec(GoBackNSpec::WIDEST + 1)).contains("1048577"));
    let never = GoBackNSpec { timeout: Time::ZERO, ..spec(1) };
    assert!(told(never).contains("a time-out of no time"));
}

#[test]
fn what_has_no_room_for_an_acknowledgement_pays_for_none() {
    let mut end = end(GoBackNSpec { every: 2, after: at(20), ..spec(4) });
    let frame = Frame::Data { seq: FIRST, ack: FIRST, item: 7 };
    assert_eq!(answer(&mut end, at(0), frame), (vec![], vec![]));
    end.handle(at(1), Input::Send { item: 1, bytes: 1000, rides: false });
    assert_eq!(sorted(actions(&mut end, at(1))), (vec![1], vec![]));
    assert_eq!(timeout(&mut end, at(20)), (vec![], vec![Frame::Pack(FIRST.plus(1))]));
}

/// An end with a window of 8 packets outstanding and some that wait, on which acknowledgements ride
/// or not.
fn full(after: Time, rides: bool) -> Endpoint<u32> {
    let mut end = end(GoBackNSpec { after, ..spec(8) });
    (0..20).for_each(|item| end.handle(at(0), Input::Send { item, bytes: 1000, rides }));
    actions(&mut end, at(0));
    end
}

#[test]
fn the_pack_of_an_end_whose_window_is_full_rides_on_the_packet_that_goes_next() {
    let mut end = full(at(50), true);
    assert_eq!(answer(&mut end, at(1), data(0)), NOTHING);
    end.handle(at(2), Input::Frame(pack(1)));
    let sent = actions(&mut end, at(2));
    let expected = Frame::Data { seq: FIRST.plus(8), ack: FIRST.plus(1), item: 8 };
    assert!(sent.contains(&Action::Transmit(expected)), "{sent:?}");
    assert_eq!((end.tally().packs, end.tally().first), (0, 9));
    // The same frame may bring something and make room.
    let both = Frame::Data { seq: FIRST.plus(1), ack: FIRST.plus(2), item: 7 };
    assert_eq!(answer(&mut end, at(3), both), (vec![9], vec![]));
    assert_eq!(end.poll_timeout(), Some(TIMEOUT), "no Pack waits");
}

#[test]
fn it_takes_the_place_of_a_packet_that_cannot_carry_it() {
    let mut end = full(at(50), false);
    assert_eq!(answer(&mut end, at(1), data(0)), NOTHING);
    assert_eq!(answer(&mut end, at(2), pack(1)), (vec![], vec![pack(1)]));
    // Seven outstanding and the Pack: it goes on with one less.
    assert_eq!(answer(&mut end, at(3), pack(2)), (vec![8], vec![]));
    assert_eq!(answer(&mut end, at(4), data(1)), NOTHING);
    let six = vec![9, 10, 11, 12, 13, 14];
    assert_eq!(answer(&mut end, at(5), pack(8)), (six, vec![]), "one Pack at a time");
    // The packet that was sent after the Pack is there, and so is the Pack.
    assert_eq!(answer(&mut end, at(6), pack(9)), (vec![15], vec![pack(2)]));
    assert_eq!(answer(&mut end, at(7), pack(10)), (vec![16], vec![]));
    assert_eq!(answer(&mut end, at(8), pack(16)).0, [17, 18, 19]);
    assert_eq!(end.outstanding(), 4);
}

#[test]
fn it_waits_as_well_if_the_rest_of_something_long_is_not_here_yet() {
    let mut end = end(GoBackNSpec { after: at(50), ..spec(8) });
    (0..8).for_each(|item| end.handle(at(0), Input::Send { item, bytes: 1000, rides: false }));
    actions(&mut end, at(0));
    assert_eq!(answer(&mut end, at(1), data(0)), NOTHING);
    assert_eq!(answer(&mut end, at(2), pack(1)), (vec![], vec![pack(1)]));
    for item in 8..10 {
        end.handle(at(3), Input::Send { item, bytes: 1000, rides: false });
    }
    assert_eq!(sorted(actions(&mut end, at(3))), NOTHING, "seven outstanding and the Pack");
    assert_eq!(answer(&mut end, at(4), pack(2)).0, [8]);
}

/// As in an exchange whose packets take turns: both ends have a part under way, and no more follows
/// before it is acknowledged.
#[test]
fn nothing_waits_if_parts_of_something_long_leave_room() {
    let mut end = end(GoBackNSpec { after: at(50), ..spec(8) });
    end.handle(at(0), Input::Send { item: 0, bytes: 1000, rides: false });
    actions(&mut end, at(0));
    assert_eq!(answer(&mut end, at(1), data(0)), (vec![], vec![pack(1)]));
}

#[test]
fn packs_wait_for_room_no_longer_than_told_and_not_for_half_a_window() {
    let mut end = full(at(50), true);
    assert_eq!(answer(&mut end, at(1), data(0)), NOTHING);
    assert_eq!(timeout(&mut end, at(51)).1, [pack(1)]);
    for number in 1..4 {
        assert_eq!(answer(&mut end, at(52), data(number)), NOTHING);
    }
    assert_eq!(answer(&mut end, at(53), data(4)).1, [pack(5)]);
    // No time is none to wait.
    assert_eq!(answer(&mut full(Time::ZERO, true), at(1), data(0)).1, [pack(1)]);
    // In Stall nothing goes that could carry it.
    answer(&mut end, at(54), nack(0));
    assert_eq!(answer(&mut end, at(55), data(5)).1, [pack(6)]);
}
