//! Both tables, as data and as behaviour.

use std::collections::VecDeque;
use std::fmt::Display;

use crosstie_units::Time;

use crate::channel::go_back_n::acknowledgement::Acknowledgement;
use crate::channel::go_back_n::output::{Output, Wanted};
use crate::channel::go_back_n::receiver::Receiver;
use crate::channel::go_back_n::sender::Sender;
use crate::channel::go_back_n::table::*;
use crate::channel::{GoBackNSpec, Seq, Tally};

/// The sender of the thesis [tam, 4], with a reading where its prose is silent.
const SENDER: &str = "\
| event | NORMAL | STALL | SIMPLE |
| data, room in the window | send next → NORMAL | wait → STALL | send next → SIMPLE |
| data, window full | wait → NORMAL | wait → STALL | wait → SIMPLE |
| Pack(n), base < n <= next | base = n → NORMAL | base = n → NORMAL | base = n → SIMPLE |
| Pack(n), n <= base | ignore → NORMAL [R] | ignore → STALL [R] | ignore → SIMPLE [R] |
| Nack(e), e = base < next | base = e, resend all → STALL | ignore → STALL [R] | refuse → SIMPLE [R] |
| Nack(e), base < e < next | base = e, resend all → STALL | base = e, resend all → STALL [R] | refuse → SIMPLE [R] |
| Nack(e), base < e = next | base = n → NORMAL [R] | base = n → NORMAL [R] | refuse → SIMPLE [R] |
| Nack(e), e < base or base = next | ignore → NORMAL [R] | ignore → STALL [R] | refuse → SIMPLE [R] |
| Pack(n) or Nack(n), n > next | refuse → NORMAL [R] | refuse → STALL [R] | refuse → SIMPLE [R] |
| timer of packet i | resend i → NORMAL | resend i → STALL | resend all → SIMPLE [R] |
";

/// The receiver of the thesis, likewise.
const RECEIVER: &str = "\
| packet | CLEAR | STALLED | SIMPLE |
| seq = expected | deliver, Pack → CLEAR | deliver, Pack → CLEAR | deliver, Pack → SIMPLE |
| seq > expected | drop, Nack → STALLED | drop → STALLED | drop → SIMPLE |
| seq < expected | drop, Pack at once → CLEAR [R] | drop, Pack at once → STALLED [R] | drop, Pack at once → SIMPLE [R] |
| seq >= expected + W_FC | refuse → CLEAR [R] | refuse → STALLED [R] | refuse → SIMPLE [R] |
";

fn row(first: &dyn Display, cells: &[&dyn Display]) -> String {
    cells.iter().fold(format!("| {first} |"), |line, cell| format!("{line} {cell} |")) + "\n"
}

#[test]
fn the_sender_is_that_of_the_thesis() {
    let mut text = row(&"event", &SenderState::ALL.each_ref().map(|state| state as &dyn Display));
    for event in SenderEvent::ALL {
        text += &row(&event, &SenderState::ALL.map(|state| sender_cell(state, event) as _));
    }
    assert_eq!(text, SENDER, "\nfound:\n{text}");
}

#[test]
fn the_receiver_is_that_of_the_thesis() {
    let states = ReceiverState::ALL;
    let mut text = row(&"packet", &states.each_ref().map(|state| state as &dyn Display));
    for packet in Packet::ALL {
        text += &row(&packet, &states.map(|state| receiver_cell(state, packet) as _));
    }
    assert_eq!(text, RECEIVER, "\nfound:\n{text}");
}

/// The packet that is expected, just before numbers wrap.
const EXPECTED: Seq = Seq(u32::MAX - 1);
const NOW: Time = Time::ZERO;

fn spec(simple: bool) -> GoBackNSpec {
    GoBackNSpec { window: 4, timeout: Time::from_ns(100), every: 1, after: NOW, simple }
}

fn output(spec: &GoBackNSpec) -> Output<u32> {
    let acknowledgement = Acknowledgement::new(spec, EXPECTED);
    Output { wanted: VecDeque::new(), tally: Tally::default(), acknowledgement }
}

/// A sender brought into a state the way it gets there, with three packets outstanding from
/// `EXPECTED` on, or with four.
fn sender(state: SenderState, full: bool) -> Sender<u32> {
    let spec = spec(state == SenderState::Simple);
    let (mut sender, mut out) = (Sender::new(&spec, EXPECTED), output(&spec));
    let stalls = state == SenderState::Stall;
    (0..3 + u32::from(full)).for_each(|packet| sender.send(NOW, packet, true, &mut out));
    if stalls {
        sender.act(NOW, sender.nack(EXPECTED), EXPECTED, &mut out);
    }
    assert_eq!((sender.state(), sender.outstanding()), (state, 3 + usize::from(full)));
    sender
}

/// What a sender did, as the table calls it.
fn observed(state: SenderState, event: SenderEvent) -> (SenderDeed, SenderState) {
    let mut sender = sender(state, event == SenderEvent::Full);
    let mut out = output(&spec(false));
    let number = EXPECTED.plus(match event {
        SenderEvent::Pack | SenderEvent::LaterNack => 2,
        SenderEvent::EmptyNack => 3,
        SenderEvent::Beyond => 4,
        SenderEvent::OldPack | SenderEvent::OldNack => u32::MAX,
        SenderEvent::Timeout => 1,
        SenderEvent::Room | SenderEvent::Full | SenderEvent::Nack => 0,
    });
    match event {
        SenderEvent::Room | SenderEvent::Full => sender.send(NOW, 9, true, &mut out),
        SenderEvent::Pack | SenderEvent::OldPack => {
            assert_eq!(sender.pack(number), event);
            sender.act(NOW, event, number, &mut out);
        }
        SenderEvent::Timeout => sender.act(NOW, event, number, &mut out),
        SenderEvent::Nack
        | SenderEvent::LaterNack
        | SenderEvent::EmptyNack
        | SenderEvent::OldNack
        | SenderEvent::Beyond => {
            assert_eq!(sender.nack(number), event);
            sender.act(NOW, event, number, &mut out);
        }
    }
    let sent: Vec<u32> = out.wanted.iter().filter_map(sent).collect();
    let slid = sender.base().since(EXPECTED);
    let Tally { first, fast, timeout, stale, refused, acknowledged, .. } = out.tally;
    assert_eq!(acknowledged, u64::from(slid));
    let deed = match (first, fast, timeout, stale, refused) {
        (1, 0, 0, 0, 0) if sent == [3] && slid == 0 => SenderDeed::Send,
        (0, 1.., 0, 0, 0) if sent.iter().copied().eq(slid..3) => SenderDeed::SlideAndResend,
        (0, 0, 1, 0, 0) if sent == [1] && slid == 0 => SenderDeed::ResendOne,
        (0, 0, 3, 0, 0) if sent == [0, 1, 2] && slid == 0 => SenderDeed::ResendAll,
        (0, 0, 0, 1, 0) if slid == 0 => SenderDeed::Ignore,
        (0, 0, 0, 0, 1) if slid == 0 => SenderDeed::Refuse,
        (0, 0, 0, 0, 0) if slid > 0 => SenderDeed::Slide,
        (0, 0, 0, 0, 0) => SenderDeed::Wait,
        _ => panic!("{event} in {state}: {sent:?} {slid} {:?}", out.tally),
    };
    (deed, sender.state())
}

/// How far after `EXPECTED` a packet is that is sent.
fn sent(wanted: &Wanted<u32>) -> Option<u32> {
    match wanted {
        Wanted::Data { seq, .. } => Some(seq.since(EXPECTED)),
        _ => None,
    }
}

#[test]
fn every_cell_of_the_sender_behaves_as_listed() {
    for state in SenderState::ALL {
        for event in SenderEvent::ALL {
            let cell = sender_cell(state, event);
            assert_eq!(observed(state, event), (cell.deed, cell.next), "{event} in {state}");
        }
    }
}

#[test]
fn every_cell_of_the_receiver_behaves_as_listed() {
    for state in ReceiverState::ALL {
        for packet in Packet::ALL {
            let spec = spec(state == ReceiverState::Simple);
            let (mut receiver, mut out) = (Receiver::new(&spec), output(&spec));
            if state == ReceiverState::Stalled {
                receiver.data(NOW, EXPECTED.plus(1), false, &mut out, |out| out.deliver(1));
                out = output(&spec);
            }
            let ahead = match packet {
                Packet::InOrder => 0,
                Packet::Ahead => 3,
                Packet::Behind => u32::MAX,
                Packet::Beyond => 4,
            };
            receiver.data(NOW, EXPECTED.plus(ahead), false, &mut out, |out| out.deliver(7));
            let next = EXPECTED.plus(1);
            let deed = match out.wanted.make_contiguous() {
                [Wanted::Deliver(7), Wanted::Pack(n)] if *n == next => ReceiverDeed::Deliver,
                [Wanted::Nack(EXPECTED)] => ReceiverDeed::DropAndNack,
                [Wanted::Pack(EXPECTED)] => ReceiverDeed::DropAndPack,
                [] if out.tally.refused == 1 => ReceiverDeed::Refuse,
                [] => ReceiverDeed::Drop,
                other => panic!("{packet} in {state}: {other:?}"),
            };
            let cell = receiver_cell(state, packet);
            assert_eq!((deed, receiver.state()), (cell.deed, cell.next), "{packet} in {state}");
        }
    }
}
