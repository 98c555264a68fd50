//! What is believed of an acknowledgement, and what the window makes of it.

use super::*;

fn path(end: &Endpoint<u32>) -> Path {
    end.path().expect("it finds out something")
}

#[test]
fn acknowledgements_come_in_any_order_and_each_is_said_once() {
    let mut end = sender(6);
    let late = sack(1, &[3], 3, us(25));
    assert_eq!(
        hear(&mut end, us(50), Frame::Sack(sack(2, &[5], 5, us(25)))).acknowledged,
        [0, 1, 5]
    );
    assert_eq!(
        hear(&mut end, us(51), Frame::Sack(late)).acknowledged,
        [3],
        "one that was overtaken has news"
    );
    assert_eq!(hear(&mut end, us(52), Frame::Sack(late)).acknowledged, []);
    let ack = Frame::Data { seq: FIRST, ack: FIRST.plus(4), item: 9 };
    let found = hear(&mut end, us(53), ack);
    assert_eq!((found.acknowledged, found.delivered), (vec![2], vec![9]));
    assert_eq!((end.outstanding(), end.tally().stale, end.tally().acknowledged), (1, 1, 5));
    assert_eq!(hear(&mut end, us(54), Frame::Sack(sack(6, &[], 4, us(30)))).acknowledged, [4]);
    assert!(end.queued() + end.outstanding() == 0);
}

#[test]
fn what_cannot_be_is_refused_whole() {
    let mut end = sender(4);
    let with = |change: fn(&mut Sack)| {
        let mut sack = sack(2, &[3], 3, us(25));
        change(&mut sack);
        Frame::Sack(sack)
    };
    for frame in [
        with(|sack| sack.expected = FIRST.plus(5)),
        with(|sack| sack.came.insert(2)),
        with(|sack| sack.came.insert(511)),
        with(|sack| sack.came.insert(0)),
        with(|sack| sack.last = FIRST.plus(4)),
        with(|sack| sack.expected = FIRST.plus(1 << 20)),
    ] {
        assert_eq!(hear(&mut end, us(50), frame), Done::default(), "{frame:?}");
    }
    assert_eq!((end.tally().refused, end.outstanding()), (6, 4));
    let old = with(|sack| sack.expected = Seq(FIRST.0.wrapping_sub(1 << 20)));
    assert_eq!(hear(&mut end, us(50), old), Done::default(), "and very old ones say nothing");
    assert_eq!((end.tally().stale, end.tally().refused), (1, 6));
    assert_eq!(hear(&mut end, us(50), with(|_| ())).acknowledged, [0, 1, 3]);
}

#[test]
fn round_trips_are_those_of_packets_sent_once_without_what_was_held() {
    let mut end = sender(4);
    hear(&mut end, us(90), Frame::Sack(Sack { held: 40_000, ..sack(1, &[], 0, us(25)) }));
    assert_eq!((path(&end).smallest, path(&end).smoothed), (Some(us(50)), Some(us(50))));
    hear(&mut end, us(91), Frame::Sack(Sack { held: 92_000, ..sack(2, &[], 1, us(25)) }));
    assert_eq!(
        path(&end).smallest,
        Some(us(50)),
        "nobody has held it for longer than it was on its way"
    );
    wait(&mut end, us(1_000));
    hear(&mut end, us(1_001), Frame::Sack(sack(4, &[], 3, us(1_000))));
    assert_eq!((end.tally().timeout, path(&end).smallest), (1, Some(us(50))), "sent twice");
}

#[test]
fn the_window_is_counted_in_bytes_and_lets_one_packet_pass_at_least() {
    let mut end = end();
    for packet in 0..300 {
        end.handle(us(0), Input::Send { item: packet, bytes: 100, rides: true });
    }
    assert_eq!(done(&mut end, us(0)).data.len(), 10);
    assert_eq!((path(&end).window, path(&end).under_way), (1_000, 1_000));
    // A long one makes it wider, for its own sake, and many short ones fit.
    end.handle(us(0), Input::Send { item: 300, bytes: 60_000, rides: true });
    assert_eq!(done(&mut end, us(0)).data.len(), 246, "256 packets");
    assert_eq!((end.outstanding(), end.queued()), (256, 45));
}

#[test]
fn who_sends_little_keeps_the_first_window() {
    let mut end = end();
    let mut now = us(0);
    for packet in 0..1_000 {
        end.handle(now, send(packet));
        done(&mut end, now);
        let came = now + us(25);
        now = now + us(50);
        hear(&mut end, now, Frame::Sack(sack(packet + 1, &[], packet, came)));
    }
    let Path { window, rate, queue, .. } = path(&end);
    assert_eq!(window, 11_000, "of the very first packet nobody knows whether more follow");
    assert_eq!(rate.expect("it is known").bytes_per_second(), 20_000_000, "what it sent");
    assert_eq!(queue, Some(Time::ZERO));
}
