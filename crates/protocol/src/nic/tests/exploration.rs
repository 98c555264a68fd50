//! All that can happen to a few NICs on one rail: every order in which requests are made and
//! packets arrive.

use std::collections::HashSet;

use super::contest::live_counter;
use super::rail::CLAIM;
use crate::livelock::local_wins;
use crate::nic::{
    Cell, Event, Mark, Message, Nic, Reading, Reply, Rule, State, Step, Stimulus, cell,
};
use crate::{Control, NodeId};

/// What travels on the rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Freight {
    Control(Control),
    Data,
}

/// Which cases are looked at.
#[derive(Clone, Copy)]
struct Plan<'a> {
    nics: u32,
    /// Who asks whom; one request per node.
    requests: &'a [(u32, u32)],
    /// How often a request is made before it is given up.
    attempts: u8,
    /// Packets between two NICs stay in order.
    in_order: bool,
    /// A grant may turn out not to be wanted.
    surplus: bool,
    /// Packets that get lost, to see that it shows.
    lost: Option<Control>,
    /// How the paper is read.
    reading: Reading,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Progress {
    /// It may be made so many times more.
    Idle(u8),
    /// It is unanswered, and may be made so many times more.
    Asked(u8),
    /// It was granted and used, or not wanted.
    Done { sent: bool },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    nics: Vec<Nic>,
    progress: Vec<Progress>,
    /// From, to and what; sorted by pair, and in order of sending within a pair if that matters.
    flight: Vec<(u32, u32, Freight)>,
}

/// What was found.
#[derive(Debug, Default)]
struct Findings {
    worlds: usize,
    /// Ends in which no request was served.
    wasted: usize,
    /// Something that must not happen.
    fault: Option<String>,
}

impl Plan<'_> {
    fn explore(&self) -> Findings {
        let start = World {
            nics: (0..self.nics).map(|node| Nic::new(NodeId(node))).collect(),
            progress: vec![Progress::Idle(self.attempts); self.requests.len()],
            flight: Vec::new(),
        };
        let mut findings = Findings::default();
        let mut seen = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(world) = open.pop() {
            findings.worlds += 1;
            match self.successors(&world) {
                Err(fault) => {
                    findings.fault = Some(format!("{fault} after {world:?}"));
                    return findings;
                }
                Ok(next) if next.is_empty() => {
                    if !world.is_quiet() {
                        findings.fault = Some(format!("a hang: {world:?}"));
                        return findings;
                    }
                    let sent = |&progress: &Progress| progress == Progress::Done { sent: true };
                    findings.wasted += usize::from(!world.progress.iter().any(sent));
                }
                Ok(next) => open.extend(next.into_iter().filter(|next| seen.insert(next.clone()))),
            }
        }
        findings
    }

    /// Everything that can happen next.
    fn successors(&self, world: &World) -> Result<Vec<World>, String> {
        let mut next = Vec::new();
        for (request, &(from, to)) in self.requests.iter().enumerate() {
            let free = world.nics[from as usize].state() == State::Free;
            if let Progress::Idle(left @ 1..) = world.progress[request]
                && free
            {
                let mut world = world.clone();
                world.progress[request] = Progress::Asked(left - 1);
                let stimulus = Stimulus::Request { to: NodeId(to), claim: CLAIM };
                self.tell(&mut world, from, stimulus)?;
                next.push(world);
            }
        }
        for (place, &(from, to, freight)) in world.flight.iter().enumerate() {
            let earlier = &world.flight[..place];
            let behind = earlier.iter().any(|&(f, t, _)| (f, t) == (from, to));
            let twin = earlier.contains(&(from, to, freight));
            if (self.in_order && behind) || twin {
                continue;
            }
            let mut world = world.clone();
            world.flight.remove(place);
            let stimulus = match freight {
                Freight::Data => Stimulus::Delivered,
                Freight::Control(packet) => Stimulus::Packet { from: NodeId(from), packet },
            };
            let reply = self.tell(&mut world, to, stimulus)?;
            self.answer(world, to, reply, &mut next)?;
        }
        for world in &mut next {
            world.check()?;
            world.order(self.in_order);
        }
        Ok(next)
    }

    fn tell(
        &self,
        world: &mut World,
        node: u32,
        stimulus: Stimulus,
    ) -> Result<Option<Reply>, String> {
        let reaction = world.nics[node as usize].handle_as(stimulus, self.reading);
        if (self.reading.cell)(reaction.state, reaction.event).mark.is_violation() {
            return Err(format!("a forbidden cell: {} in {}", reaction.event, reaction.state));
        }
        if let Some((to, packet)) = reaction.remote.filter(|&(_, p)| Some(p) != self.lost) {
            world.flight.push((node, to.0, Freight::Control(packet)));
        }
        Ok(reaction.local.map(|(_, reply)| reply))
    }

    /// What the local process does about a reply: all it may do.
    fn answer(
        &self,
        mut world: World,
        node: u32,
        reply: Option<Reply>,
        next: &mut Vec<World>,
    ) -> Result<(), String> {
        let Some(reply) = reply else {
            next.push(world);
            return Ok(());
        };
        let request = self.requests.iter().position(|&(from, _)| from == node).unwrap();
        let Progress::Asked(left) = world.progress[request] else {
            return Err(format!("node {node} is told {reply:?} without having asked"));
        };
        match reply {
            Reply::Refused => world.progress[request] = Progress::Idle(left),
            Reply::Granted => {
                if self.surplus {
                    let mut world = world.clone();
                    world.progress[request] = Progress::Done { sent: false };
                    self.tell(&mut world, node, Stimulus::Abort)?;
                    next.push(world);
                }
                world.progress[request] = Progress::Done { sent: true };
                world.flight.push((node, self.requests[request].1, Freight::Data));
            }
        }
        next.push(world);
        Ok(())
    }
}

impl World {
    /// Equal worlds look equal.
    fn order(&mut self, in_order: bool) {
        if in_order {
            self.flight.sort_by_key(|&(from, to, _)| (from, to));
        } else {
            self.flight.sort();
        }
    }

    /// No data both ways on a bus, none from two senders, none to a NIC that is not expecting them.
    fn check(&self) -> Result<(), String> {
        let data = || self.flight.iter().filter(|&&(.., freight)| freight == Freight::Data);
        for &(from, to, _) in data() {
            let receiver = &self.nics[to as usize];
            if receiver.granted_to() != Some(NodeId(from)) {
                return Err(format!("data from {from} to {to}, which is not granted to {from}"));
            }
            if self.nics[from as usize].state() != State::Sending {
                return Err(format!("data from {from}, which is not sending"));
            }
            if data().any(|&(f, t, _)| f == to || (t == to && f != from)) {
                return Err(format!("other data on the bus of {to}, which is receiving"));
            }
        }
        Ok(())
    }

    /// Nothing is under way, nobody waits, every NIC is free.
    fn is_quiet(&self) -> bool {
        let waits = |progress: &Progress| matches!(progress, Progress::Asked(_));
        self.flight.is_empty()
            && !self.progress.iter().any(waits)
            && self.nics.iter().all(|nic| nic.state() == State::Free)
    }
}

const PATTERNS: [(u32, &[(u32, u32)]); 10] = [
    (2, &[(0, 1)]),
    (2, &[(0, 1), (1, 0)]),
    (3, &[(0, 1), (1, 2)]),
    (3, &[(0, 2), (1, 2)]),
    (3, &[(0, 2), (1, 2), (2, 0)]),
    (3, &[(0, 1), (1, 2), (2, 0)]),
    (3, &[(0, 1), (1, 0), (2, 0)]),
    (4, &[(0, 1), (1, 2), (2, 3)]),
    (4, &[(0, 1), (1, 0), (2, 3), (3, 2)]),
    (4, &[(0, 1), (1, 2), (2, 3), (3, 0)]),
];

const READING: Reading = Reading { cell, local_wins };

fn plan((nics, requests): (u32, &[(u32, u32)])) -> Plan<'_> {
    let (attempts, in_order, surplus, lost) = (1, false, false, None);
    Plan { nics, requests, attempts, in_order, surplus, lost, reading: READING }
}

#[test]
fn items_7_8_9_nothing_forbidden_happens_in_any_order() {
    let mut worlds = 0;
    for pattern in PATTERNS {
        for attempts in [1, 2] {
            for in_order in [true, false] {
                for surplus in [false, true] {
                    let plan = Plan { attempts, in_order, surplus, ..plan(pattern) };
                    let findings = plan.explore();
                    assert_eq!(findings.fault, None, "{pattern:?}");
                    worlds += findings.worlds;
                }
            }
        }
    }
    println!("{worlds} worlds");
    assert!(worlds > 10_000, "only {worlds} worlds were looked at");
}

#[test]
fn no_round_is_wasted() {
    for pattern in PATTERNS {
        let findings = plan(pattern).explore();
        assert_eq!((findings.fault, findings.wasted), (None, 0), "{pattern:?}");
    }
}

#[test]
fn with_the_live_counter_a_round_can_be_wasted() {
    let reading = Reading { local_wins: live_counter, ..READING };
    let findings = Plan { reading, ..plan(PATTERNS[4]) }.explore();
    assert_eq!(findings.fault, None);
    assert!(findings.wasted > 0);
}

#[test]
fn with_every_request_granted_rounds_are_wasted() {
    let reading = Reading { local_wins: |_, _| false, ..READING };
    let findings = Plan { reading, ..plan(PATTERNS[1]) }.explore();
    assert_eq!(findings.fault, None, "all grants are given back");
    assert!(findings.wasted > 0);
}

#[test]
fn a_lost_packet_shows_as_a_hang() {
    for lost in [Control::Cts, Control::Nack, Control::Ack, Control::Abort] {
        let plan = Plan { surplus: true, lost: Some(lost), ..plan(PATTERNS[1]) };
        let fault = plan.explore().fault.expect("a loss is not survived");
        assert!(fault.starts_with("a hang"), "{fault}");
    }
}

/// A cell read differently.
const fn variant(send: &'static [Message], next: State) -> Cell {
    Cell { mark: Mark::Printed, rule: Rule::Always(Step { send, counter: 0, next }) }
}

/// The fault of a reading in which one cell of the column RX+RTS differs.
macro_rules! fault_of {
    ($event:ident, $send:expr, $next:ident) => {{
        fn read(state: State, event: Event) -> &'static Cell {
            const DIFFERENT: Cell = variant($send, State::$next);
            match (state, event) {
                (State::ReceivingRts, Event::$event) => &DIFFERENT,
                _ => cell(state, event),
            }
        }
        let reading = Reading { cell: read, ..READING };
        let plans = PATTERNS.map(|pattern| Plan { reading, attempts: 2, ..plan(pattern) });
        plans.iter().find_map(|plan| plan.explore().fault).unwrap_or_default()
    }};
}

#[test]
fn other_readings_of_the_paper_go_wrong() {
    use Message::{LocalCts, LocalNack, RemoteAck};
    // D2: the CTS ignored, and the CTS accepted.
    let ignored = fault_of!(RemoteCts, &[], ReceivingRts);
    assert!(ignored.starts_with("a hang"), "{ignored}");
    let accepted = fault_of!(RemoteCts, &[LocalCts], Sending);
    assert!(accepted.starts_with("data from") || accepted.starts_with("other data"), "{accepted}");
    // D3: a delivery frees the NIC although its request is unanswered.
    let freed = fault_of!(LocalAck, &[RemoteAck], Free);
    assert!(freed.starts_with("a forbidden cell"), "{freed}");
    // D4: a refusal does not clear the request.
    let kept = fault_of!(RemoteNack, &[LocalNack], ReceivingRts);
    assert!(kept.starts_with("a hang"), "{kept}");
}
