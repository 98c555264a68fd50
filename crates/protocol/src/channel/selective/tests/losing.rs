//! What is taken for lost, and when it is sent again.

use super::*;

/// All packets were sent at time 0, and a round trip takes 50 us.
const TRIP: Time = us(50);

fn lost(end: &Endpoint<u32>) -> (u64, u64) {
    (end.tally().fast, end.tally().timeout)
}

#[test]
fn only_what_is_missing_is_sent_again() {
    let mut end = sender(8);
    let found = hear(&mut end, TRIP, Frame::Sack(sack(1, &[2], 2, us(25))));
    assert_eq!((found.acknowledged, found.data), (vec![0, 2], vec![]), "it may be late");
    let found = hear(&mut end, us(51), Frame::Sack(sack(1, &[2, 3, 4, 6], 6, us(25))));
    assert_eq!(
        (found.acknowledged, found.data),
        (vec![3, 4, 6], vec![1]),
        "one that is three later came"
    );
    // A quarter of a round trip after it should have come, the other is lost, too.
    assert_eq!(end.poll_timeout(), Some(Time::from_ns(51_000 + 12_500)));
    assert_eq!(wait(&mut end, Time::from_ns(63_500)).data, [5]);
    let found = hear(&mut end, us(101), Frame::Sack(sack(8, &[], 1, us(76))));
    assert_eq!(found.acknowledged, [1, 5, 7]);
    assert_eq!((lost(&end), end.tally().first), ((2, 0), 8));
    assert!(end.is_idle() && end.poll_timeout().is_none());
}

#[test]
fn what_is_lost_again_is_found_again() {
    let mut end = sender(5);
    assert_eq!(hear(&mut end, TRIP, Frame::Sack(sack(0, &[1, 2, 3, 4], 4, us(25)))).data, [0]);
    for packet in 5..9 {
        end.handle(us(60), send(packet));
    }
    assert_eq!(done(&mut end, us(60)).data, [5, 6, 7, 8]);
    let found = hear(&mut end, us(110), Frame::Sack(sack(0, &[1, 2, 3, 4, 5, 6, 7, 8], 8, us(85))));
    assert_eq!(found.data, [0], "the second transmission is lost, too");
    let found = hear(&mut end, us(160), Frame::Sack(sack(9, &[], 0, us(135))));
    assert_eq!((found.acknowledged, lost(&end)), (vec![0], (2, 0)));
}

/// A way that lets packets overtake others is given a margin, which grows if it does not do.
#[test]
fn packets_that_are_overtaken_are_waited_for() {
    let mut end = sender(8);
    hear(&mut end, TRIP, Frame::Sack(sack(0, &[1], 1, us(25))));
    let found = hear(&mut end, us(55), Frame::Sack(sack(2, &[], 0, us(30))));
    assert_eq!(found.acknowledged, [0], "overtaken by one");
    let found = hear(&mut end, us(56), Frame::Sack(sack(2, &[3, 4, 5, 6, 7], 7, us(30))));
    assert_eq!(found.data, [], "five are no longer enough");
    assert_eq!(end.poll_timeout(), Some(Time::from_ns(56_000 + 12_500)));
    assert_eq!(wait(&mut end, Time::from_ns(68_500)).data, [2]);
    // It comes, and comes again: it had not been lost, and the margin is twice as wide.
    hear(&mut end, us(70), Frame::Sack(sack(8, &[], 2, us(45))));
    let repeated = Sack { repeated: 1, ..sack(8, &[], 2, us(94)) };
    hear(&mut end, us(119), Frame::Sack(repeated));
    for packet in 8..16 {
        end.handle(us(200), send(packet));
    }
    done(&mut end, us(200));
    let found = hear(&mut end, us(250), Frame::Sack(sack(8, &[9, 10, 11, 12], 12, us(225))));
    assert_eq!(found.data, []);
    assert_eq!(end.poll_timeout(), Some(us(250 + 25)));
}

#[test]
fn silence_is_broken_by_the_last_packet_and_then_by_the_oldest() {
    let mut end = sender(4);
    // The first packet tells how long a round trip takes: 50 us, give or take 25.
    hear(&mut end, TRIP, Frame::Sack(sack(1, &[], 0, us(25))));
    assert_eq!(
        end.poll_timeout(),
        Some(us(50 + 150 + 100)),
        "a round trip, four deviations, and what may be held"
    );
    assert_eq!(wait(&mut end, us(299)).data, []);
    assert_eq!(wait(&mut end, us(300)).data, [3], "nobody would miss anything after the last");
    // After the least time-out the oldest is tried, less and less often, but at least every 25 ms,
    // for ever.
    let mut last = us(300);
    let mut waits = Vec::new();
    for _ in 0..10 {
        let next = end.poll_timeout().expect("it tries for ever");
        assert_eq!(wait(&mut end, next).data, [1]);
        waits.push((next.ps() - last.ps()) / us(1_000).ps());
        last = next;
    }
    assert_eq!(waits, [5, 10, 20, 25, 25, 25, 25, 25, 25, 25]);
    assert_eq!((lost(&end), end.outstanding()), ((0, 11), 3));
    // One answer tells what is missing, after a while in which the answers to what was sent first
    // may come.
    let found = hear(&mut end, last + us(60), Frame::Sack(sack(2, &[], 1, us(0))));
    assert_eq!((found.acknowledged, found.data), (vec![1], vec![]));
    let next = end.poll_timeout().expect("a packet is missing");
    assert_eq!(wait(&mut end, next).data, [2, 3]);
}

#[test]
fn a_first_packet_without_an_answer_is_tried_again() {
    let mut end = sender(1);
    assert_eq!(end.poll_timeout(), Some(us(20_000)), "four least time-outs, for nothing is known");
    assert_eq!(wait(&mut end, us(20_000)).data, [0]);
    assert_eq!(end.poll_timeout(), Some(us(40_000)));
}

/// A peer that was busy finds everything that was sent meanwhile: nothing was lost, and one packet
/// too many was sent.
#[test]
fn a_peer_that_was_busy_costs_a_packet() {
    let mut end = sender(10);
    hear(&mut end, TRIP, Frame::Sack(sack(1, &[], 0, us(25))));
    assert_eq!(wait(&mut end, us(300)).data, [9]);
    // It looks at a few, and then at the rest.
    let found = hear(&mut end, us(2_000), Frame::Sack(sack(5, &[9], 9, us(1_980))));
    assert_eq!((found.acknowledged, found.data), (vec![1, 2, 3, 4, 9], vec![]));
    let found =
        hear(&mut end, us(2_020), Frame::Sack(Sack { repeated: 1, ..sack(10, &[], 9, us(2_000)) }));
    assert_eq!((found.acknowledged, found.data), (vec![5, 6, 7, 8], vec![]));
    assert_eq!(lost(&end), (0, 1));
}

/// Round trips were long before a burst of losses, and are short after it. The first answer tells
/// of all that was sent before the probe, also where nothing more is sent.
#[test]
fn a_burst_loss_after_long_round_trips_is_made_good_at_once() {
    // Perhaps none was short before.
    for short in [0, 3] {
        let mut end = sender(10);
        for packet in 0..10 {
            let trip = if packet < short { 50 } else { 200_000 };
            let sack = sack(packet + 1, &[], packet, us(trip / 2));
            hear(&mut end, us(trip), Frame::Sack(sack));
        }
        let begin = us(200_000);
        assert!(end.path().and_then(|path| path.smoothed) >= Some(us(90_000)));
        let mut open = 8;
        (10..10 + open).for_each(|packet| end.handle(begin, send(packet)));
        assert_eq!(done(&mut end, begin).data.len() as u32, open, "all are sent, and lost");
        // From now on the path answers within 50 us.
        let mut receiver = Endpoint::<u32>::starting_at(SPEC, FIRST, FIRST.plus(10)).unwrap();
        while open > 0 {
            let mut now = end.poll_timeout().expect("something is missing");
            let mut sent = wait(&mut end, now).data;
            while !sent.is_empty() {
                now = now + us(50);
                for item in sent {
                    let frame = Frame::Data { seq: FIRST.plus(item), ack: FIRST, item };
                    receiver.handle(now, Input::Frame(frame));
                }
                sent = Vec::new();
                for sack in done(&mut receiver, now).sacks {
                    let found = hear(&mut end, now, Frame::Sack(sack));
                    open -= found.acknowledged.len() as u32;
                    sent.extend(found.data);
                }
            }
            // A time-out of 100 ms, and as long as the answer is in doubt; where only long trips
            // are known, these.
            let most = if short > 0 { 126_000 } else { 251_000 };
            assert!(now - begin < us(most), "{:?}: {open} are missing", now - begin);
        }
    }
}
