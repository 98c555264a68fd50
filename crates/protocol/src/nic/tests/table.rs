//! The whole table, as data and as behaviour.

use crate::livelock::Priority;
use crate::nic::{Claim, Event, Mark, Nic, Reply, Rule, State, Step, Stimulus, Tally, cell};
use crate::{Control, NodeId, PeId};

/// The table of the paper (its Tables 1 and 2) as it has to be read: where it is damaged, and where
/// it, the algorithms and the text disagree, the reading that neither hangs nor lets data meet.
const PAPER: &str = "\
| Event | FREE | RECEIVING | SENDING | RESERVED | RX+RTS |
| Local RTS | rRTS → RESERVED | lNACK → RECEIVING | lNACK → SENDING | lNACK → RESERVED | lNACK → RX+RTS |
| Local ACK | ∅ | rACK → FREE | ∅ | ∅ | rACK → RESERVED |
| Local ABORT | ∅ | ∅ | rABORT → FREE | ∅ | ∅ |
| Remote RTS | rCTS → RECEIVING | rNACK → RECEIVING | rNACK → SENDING | local wins: rNACK, c -1 → RESERVED; remote wins: rCTS, c +1 → RX+RTS | rNACK → RX+RTS |
| Remote ABORT | ∅ | nothing → FREE | ∅ | ∅ | nothing → RESERVED |
| Remote CTS | lCTS → SENDING † | rABORT + lNACK → RECEIVING † | ∅ | lCTS → SENDING | rABORT + lNACK → RECEIVING [R] |
| Remote ACK | ∅ | ∅ | nothing → FREE | ∅ | ∅ |
| Remote NACK | lNACK → FREE † | lNACK → RECEIVING † | lNACK → SENDING † | lNACK → FREE | lNACK → RECEIVING |
";

const ME: NodeId = NodeId(5);
const RECEIVER: NodeId = NodeId(7);
const SENDER: NodeId = NodeId(3);
const CLAIM: Claim = Claim { pe: PeId(1), attempt: 8 };
const RIVAL: Claim = Claim { pe: PeId(2), attempt: 9 };

fn row<'a>(cells: impl Iterator<Item = &'a dyn std::fmt::Display>) -> String {
    cells.fold("|".to_owned(), |line, cell| format!("{line} {cell} |")) + "\n"
}

#[test]
fn item_7_the_table_is_that_of_the_paper() {
    let title: [&dyn std::fmt::Display; 1] = [&"Event"];
    let states = State::ALL.iter().map(|state| state as &dyn std::fmt::Display);
    let mut text = row(title.into_iter().chain(states));
    for event in &Event::ALL {
        let first: [&dyn std::fmt::Display; 1] = [event];
        let cells = State::ALL.iter().map(|&state| cell(state, *event) as &dyn std::fmt::Display);
        text += &row(first.into_iter().chain(cells));
    }
    assert_eq!(text, PAPER, "\nfound:\n{text}");
}

fn rts(counter: i64, node: NodeId) -> Control {
    Control::Rts(Priority { counter, node })
}

/// A NIC brought into a state the way it gets there.
fn nic(state: State) -> Nic {
    let mut nic = Nic::new(ME);
    let request = Stimulus::Request { to: RECEIVER, claim: CLAIM };
    let grant = Stimulus::Packet { from: SENDER, packet: rts(1, SENDER) };
    let way: &[Stimulus] = match state {
        State::Free => &[],
        State::Receiving => &[grant],
        State::Sending => &[request, Stimulus::Packet { from: RECEIVER, packet: Control::Cts }],
        State::Reserved => &[request],
        State::ReceivingRts => &[request, grant],
    };
    for &stimulus in way {
        nic.handle(stimulus);
    }
    assert_eq!(nic.state(), state);
    nic
}

/// An event of the table as it really happens, from whom it would come.
fn stimulus(event: Event, counter: i64) -> Stimulus {
    let packet = |from, packet| Stimulus::Packet { from, packet };
    match event {
        Event::LocalRts => Stimulus::Request { to: RECEIVER, claim: RIVAL },
        Event::LocalAck => Stimulus::Delivered,
        Event::LocalAbort => Stimulus::Abort,
        Event::RemoteRts => packet(SENDER, rts(counter, SENDER)),
        Event::RemoteAbort => packet(SENDER, Control::Abort),
        Event::RemoteCts => packet(RECEIVER, Control::Cts),
        Event::RemoteAck => packet(RECEIVER, Control::Ack),
        Event::RemoteNack => packet(RECEIVER, Control::Nack),
    }
}

/// What happened, in the words of the table.
fn observed(before: &Nic, stimulus: Stimulus) -> String {
    let mut nic = before.clone();
    let reaction = nic.handle(stimulus);
    assert_eq!((reaction.state, reaction.event), (before.state(), stimulus.event()));
    let remote = reaction.remote.map(|(to, packet)| {
        let (name, meant) = match packet {
            Control::Rts(priority) => {
                assert_eq!(priority, Priority { counter: before.counter(), node: ME });
                ("rRTS", RECEIVER)
            }
            Control::Cts => ("rCTS", SENDER),
            Control::Nack => ("rNACK", SENDER),
            Control::Ack => ("rACK", SENDER),
            Control::Abort => ("rABORT", RECEIVER),
        };
        assert_eq!(to, meant, "{name}");
        name
    });
    let local = reaction.local.map(|(claim, reply)| {
        let asks = stimulus.event() == Event::LocalRts;
        let holds = before.asked().map(|_| CLAIM);
        assert_eq!(claim, if asks { Some(RIVAL) } else { holds });
        match reply {
            Reply::Granted => "lCTS",
            Reply::Refused => "lNACK",
        }
    });
    let sent: Vec<&str> = remote.into_iter().chain(local).collect();
    let sent = if sent.is_empty() { "nothing".to_owned() } else { sent.join(" + ") };
    let change = match nic.counter() - before.counter() {
        0 => String::new(),
        change => format!(", c {change:+}"),
    };
    format!("{sent}{change} → {}", nic.state())
}

#[test]
fn item_7_every_cell_behaves_as_listed() {
    for state in State::ALL {
        for event in Event::ALL {
            let nic = nic(state);
            let said = |step: Step| step.to_string();
            match cell(state, event).rule {
                Rule::Always(step) => {
                    assert_eq!(
                        observed(&nic, stimulus(event, 0)),
                        said(step),
                        "{event} in {state}"
                    );
                }
                Rule::Contest { local, remote } => {
                    assert_eq!(observed(&nic, stimulus(event, -1)), said(local));
                    assert_eq!(observed(&nic, stimulus(event, 1)), said(remote));
                }
            }
        }
    }
}

#[test]
fn blank_cells_leave_the_nic_alone_and_are_counted() {
    let mut tally = Tally::default();
    for state in State::ALL {
        for event in Event::ALL {
            let (before, mut after) = (nic(state), nic(state));
            let reaction = after.handle(stimulus(event, 0));
            tally.add(reaction.state, reaction.event);
            if cell(state, event).mark == Mark::Blank {
                assert_eq!(after, before, "{event} in {state}");
                assert_eq!((reaction.local, reaction.remote), (None, None));
            }
        }
    }
    let marked = PAPER.matches('∅').count() + PAPER.matches('†').count();
    assert_eq!(tally.violations(), marked as u64);
    assert_eq!(tally.events(Event::LocalAck), State::COUNT as u64);
}
