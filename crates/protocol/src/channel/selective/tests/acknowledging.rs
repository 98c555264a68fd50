//! When a receiver says what.

use super::*;

fn expected(sack: &Sack) -> u32 {
    sack.expected.since(FIRST)
}

#[test]
fn the_first_packet_and_every_second_one_are_acknowledged_at_once() {
    let mut end = end();
    let found = hear(&mut end, us(0), data(0));
    assert_eq!((found.delivered, found.sacks.len()), (vec![0], 1), "the first after a pause");
    let found: Vec<usize> = (1..7)
        .map(|packet| hear(&mut end, us(u64::from(packet)), data(packet)).sacks.len())
        .collect();
    assert_eq!(found, [0, 1, 0, 1, 0, 1]);
    assert_eq!((end.tally().sacks, end.tally().delivered), (4, 7));
    assert!(end.is_idle() && end.poll_timeout().is_none());
}

#[test]
fn a_packet_alone_waits_no_longer_than_told() {
    let mut end = end();
    hear(&mut end, us(0), data(0));
    assert_eq!(hear(&mut end, us(50), data(1)).sacks, []);
    assert!(!end.is_idle());
    assert_eq!(end.poll_timeout(), Some(us(150)));
    assert_eq!(wait(&mut end, us(149)).sacks, []);
    let found = wait(&mut end, us(160)).sacks;
    let [said] = found[..] else { panic!("{found:?}") };
    assert_eq!((expected(&said), said.last, said.held), (2, FIRST.plus(1), 110_000));
    assert_eq!(said.at, 50_000, "when it came, by this clock");
    assert!(end.is_idle() && end.poll_timeout().is_none());
    assert_eq!(hear(&mut end, us(300), data(2)).sacks.len(), 1, "a pause");
}

#[test]
fn what_comes_in_a_heap_is_acknowledged_once() {
    let mut end = end();
    for packet in [0, 1, 2, 3, 5, 6, 6, 7] {
        end.handle(us(7), Input::Frame(data(packet)));
    }
    let Done { delivered, sacks, .. } = done(&mut end, us(7));
    assert_eq!(delivered, [0, 1, 2, 3, 5, 6, 7]);
    assert_eq!(sacks, [Sack { repeated: 1, ..sack(4, &[5, 6, 7], 7, us(7)) }]);
}

#[test]
fn packets_are_delivered_as_they_come_and_gaps_are_told_at_once() {
    let mut end = end();
    hear(&mut end, us(0), data(0));
    for (packet, expected, came) in
        [(2, 1, vec![2]), (4, 1, vec![2, 4]), (3, 1, vec![2, 3, 4]), (1, 5, vec![])]
    {
        let found = hear(&mut end, us(1), data(packet));
        assert_eq!(
            (found.delivered, found.sacks),
            (vec![packet], vec![sack(expected, &came, packet, us(1))])
        );
    }
    for again in [0, 4, 1] {
        let found = hear(&mut end, us(2), data(again));
        assert_eq!((found.delivered, found.sacks.len()), (vec![], 1), "also what comes again");
    }
    assert_eq!((end.tally().duplicates, end.tally().delivered), (3, 5));
}

#[test]
fn data_that_goes_the_other_way_carries_the_number_if_nothing_is_missing() {
    let mut end = end();
    hear(&mut end, us(0), data(0));
    hear(&mut end, us(1), data(1));
    end.handle(us(2), send(0));
    let Some(Action::Transmit(Frame::Data { ack, .. })) = end.poll_action(us(2)) else { panic!() };
    assert_eq!(ack, FIRST.plus(2));
    assert_eq!((done(&mut end, us(2)), end.tally().sacks), (Done::default(), 1));
    // It does not say what has come after something that is missing.
    end.handle(us(3), Input::Frame(data(3)));
    end.handle(us(3), send(1));
    let found = done(&mut end, us(3));
    assert_eq!((found.data, found.sacks), (vec![1], vec![sack(2, &[3], 3, us(3))]));
}

/// Who waits for room will soon send data: acknowledgements wait for that, but not for long, lest
/// both ends wait for each other.
#[test]
fn where_data_waits_acknowledgements_do_too() {
    let mut end = sender(12);
    let found = hear(&mut end, us(50), Frame::Sack(sack(1, &[], 0, us(25))));
    assert_eq!((found.data.len(), end.queued()), (2, 0));
    (12..20).for_each(|packet| end.handle(us(50), send(packet)));
    assert_eq!((done(&mut end, us(50)), end.queued()), (Done::default(), 8));
    let found: Vec<usize> = (0..8u32)
        .map(|packet| hear(&mut end, us(51 + u64::from(packet)), data(packet)).sacks.len())
        .collect();
    assert_eq!(found, [0, 0, 0, 1, 0, 0, 0, 1]);
    // What is carried by data needs none, but only a Sack says when packets came.
    let found: u64 = (8..72u32)
        .map(|packet| {
            let (now, ack) = (us(51 + u64::from(packet)), FIRST.plus(packet - 6));
            end.handle(now, send(packet + 12));
            let frame = Frame::Data { seq: FIRST.plus(packet), ack, item: packet };
            let Done { data, sacks, .. } = hear(&mut end, now, frame);
            assert!(!data.is_empty(), "{packet}");
            sacks.len() as u64
        })
        .sum();
    assert_eq!((found, end.tally().delivered), (4, 72));
}

#[test]
fn a_packet_that_no_window_reaches_is_refused_with_all_that_its_frame_says() {
    let mut end = sender(2);
    let ahead = |seq, ack| Frame::Data { seq: FIRST.plus(seq), ack: FIRST.plus(ack), item: 7 };
    for frame in [ahead(SelectiveSpec::REACH, 1), ahead(0, 3), ahead(1 << 30, 0)] {
        assert_eq!(hear(&mut end, us(1), frame), Done::default(), "{frame:?}");
    }
    for frame in [Frame::Pack(FIRST.plus(3)), Frame::Nack(FIRST.plus(1))] {
        assert_eq!(hear(&mut end, us(1), frame), Done::default(), "{frame:?}");
    }
    end.handle(us(1), Input::Corrupt);
    let Tally { refused, corrupt, delivered, acknowledged, stale, .. } = *end.tally();
    assert_eq!((refused, corrupt, delivered, acknowledged, stale), (5, 1, 0, 0, 0));
    assert_eq!(
        hear(&mut end, us(2), ahead(SelectiveSpec::REACH - 1, 0)).delivered,
        [7],
        "one before"
    );
}

#[test]
fn a_pack_says_what_data_would() {
    let mut end = sender(2);
    assert_eq!(hear(&mut end, us(1), Frame::Pack(FIRST.plus(1))).acknowledged, [0]);
    assert_eq!(hear(&mut end, us(2), Frame::Pack(FIRST.plus(2))).acknowledged, [1]);
    assert_eq!(hear(&mut end, us(2), Frame::Pack(FIRST.plus(1))).acknowledged, []);
    assert_eq!(end.tally().refused, 0);
}

#[test]
fn what_has_no_room_for_an_acknowledgement_pays_for_none() {
    let mut end = end();
    hear(&mut end, us(0), data(0));
    assert_eq!(hear(&mut end, us(50), data(1)).sacks, []);
    end.handle(us(60), Input::Send { item: 0, bytes: 1_000, rides: false });
    let Done { data: sent, sacks, .. } = done(&mut end, us(60));
    assert_eq!((sent, sacks), (vec![0], vec![]));
    assert_eq!(
        wait(&mut end, us(150)).sacks,
        [sack(2, &[], 1, us(50))].map(|sack| Sack { held: 100_000, ..sack })
    );
}

/// What two packets show that were transmitted at a time, but left at 62 ms.
fn shown_after(waits: bool) -> Path {
    let mut end = sender(2);
    let left = us(if waits { 62_000 } else { 0 });
    if waits {
        // It tries to hear of them meanwhile.
        assert!((1..62).any(|ms| !wait(&mut end, us(1_000 * ms)).data.is_empty()));
        end.leave(left);
    }
    hear(&mut end, left + us(50), Frame::Sack(sack(2, &[], 1, left + us(25))));
    end.path().expect("it finds out something")
}

#[test]
fn what_packets_wait_below_the_channel_is_no_round_trip() {
    let (late, soon) = (shown_after(true), shown_after(false));
    assert_eq!((late.smallest, late.smoothed), (Some(us(50)), Some(us(50))));
    assert_eq!((late.rate, late.carries), (soon.rate, soon.carries));
}
