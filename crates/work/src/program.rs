//! Work that is written as code: each rank does one thing after the other.
//!
//! What a rank does is a future that waits for operations and for times. No executor is behind it:
//! the machine polls the future of a rank whenever that rank is told something, and what it begins
//! meanwhile are actions.

use crate::application::{Action, Application, Input, Request};
use crate::note::Note;
use crosstie_collective::player::Turn;
use crosstie_collective::{Op, Rank, Step, Tag};
use crosstie_protocol::Machine;
use crosstie_units::Time;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Ranks and what each of them does.
#[derive(Default)]
pub struct Program {
    threads: BTreeMap<Rank, Thread>,
    actions: VecDeque<Action>,
}

/// What one rank does.
struct Thread {
    board: Rc<RefCell<Board>>,
    /// The rest of it; `None` when it is over.
    code: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

/// What passes between a rank's code and the machine.
#[derive(Default)]
struct Board {
    now: Time,
    /// Operations begun.
    begun: u32,
    /// Operations that are done and that nobody has waited for yet.
    done: BTreeSet<Request>,
    /// What the code wants to be woken at.
    alarm: Option<Time>,
    actions: VecDeque<Action>,
}

impl Program {
    /// Gives a rank something to do.
    pub(crate) fn add<C>(&mut self, rank: Rank, code: impl FnOnce(Process) -> C)
    where
        C: Future<Output = ()> + 'static,
    {
        let board = Rc::new(RefCell::new(Board::default()));
        let process = Process { rank, board: Rc::clone(&board) };
        self.threads.insert(rank, Thread { board, code: Some(Box::pin(code(process))) });
    }

    /// Lets a rank go on as far as it can.
    fn go_on(&mut self, now: Time, rank: Rank, done: Option<Request>) {
        let Some(thread) = self.threads.get_mut(&rank) else { return };
        let Some(code) = &mut thread.code else { return };
        let mut board = thread.board.borrow_mut();
        board.now = now;
        board.done.extend(done);
        drop(board);
        let is_over = code.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        self.actions.append(&mut thread.board.borrow_mut().actions);
        if is_over {
            thread.code = None;
            self.actions.push_back(Action::Finish { rank });
        }
    }
}

/// A rank, as its code sees it.
pub(crate) struct Process {
    rank: Rank,
    board: Rc<RefCell<Board>>,
}

impl Process {
    /// Which one.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// The time it is.
    pub fn now(&self) -> Time {
        self.board.borrow().now
    }

    /// Writes something down.
    pub fn note(&self, note: Note) {
        self.board.borrow_mut().actions.push_back(Action::Note { rank: self.rank, note });
    }

    fn begin(&self, step: Step) -> Request {
        let mut board = self.board.borrow_mut();
        let request = Request(board.begun);
        board.begun = board.begun.wrapping_add(1);
        let op = Op { step, cpu: 0, nic: None };
        let rank = self.rank;
        let turn = Turn::default();
        board.actions.push_back(Action::Begin { rank, request, op, watched: false, turn });
        request
    }

    /// Begins to receive from a rank, or from any.
    pub fn expect(&self, from: Option<Rank>, tag: Tag, bytes: u32) -> Request {
        self.begin(Step::Receive { from, tag: Some(tag), bytes })
    }

    /// Receives from a rank.
    pub async fn receive(&self, from: Rank, tag: Tag, bytes: u32) {
        self.done(self.expect(Some(from), tag, bytes)).await;
    }

    /// Sends to a rank.
    pub async fn send(&self, to: Rank, tag: Tag, bytes: u32) {
        self.done(self.begin(Step::Send { to, tag, bytes })).await;
    }

    /// Keeps the processor busy.
    pub async fn compute(&self, time: Time) {
        self.done(self.begin(Step::Compute { time })).await;
    }

    /// Whether an operation is done that nobody has waited for.
    pub fn is_done(&self, what: Request) -> bool {
        self.board.borrow().done.contains(&what)
    }

    /// Waits for an operation.
    pub async fn done(&self, what: Request) {
        poll_fn(|_| match self.board.borrow_mut().done.remove(&what) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Waits for one of two operations; whether it is the first. The other stays begun.
    pub async fn first_of(&self, one: Request, other: Request) -> bool {
        poll_fn(|_| {
            let done = &mut self.board.borrow_mut().done;
            let is_first = done.remove(&one);
            if is_first || done.remove(&other) { Poll::Ready(is_first) } else { Poll::Pending }
        })
        .await
    }

    /// Waits for an operation until a time; whether it is done. If it is not, it stays begun.
    pub async fn done_by(&self, what: Request, deadline: Time) -> bool {
        poll_fn(|_| {
            let mut board = self.board.borrow_mut();
            let (done, late) = (board.done.remove(&what), board.now >= deadline);
            board.alarm = (!done && !late).then_some(deadline);
            if done || late { Poll::Ready(done) } else { Poll::Pending }
        })
        .await
    }

    /// Waits for a time, and leaves the processor alone.
    pub async fn until(&self, time: Time) {
        poll_fn(|_| {
            let mut board = self.board.borrow_mut();
            let late = board.now >= time;
            board.alarm = (!late).then_some(time);
            if late { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl Machine for Program {
    type Input = Input;
    type Action = Action;

    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Begin { rank } => self.go_on(now, rank, None),
            Input::Done { rank, request, .. } => self.go_on(now, rank, Some(request)),
            Input::Started { .. } => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        let is_due = |thread: &Thread| thread.board.borrow().alarm.is_some_and(|at| at <= now);
        let due: Vec<Rank> = self
            .threads
            .iter()
            .filter(|(_, thread)| is_due(thread))
            .map(|(&rank, _)| rank)
            .collect();
        for rank in due {
            self.go_on(now, rank, None);
        }
    }

    fn poll_action(&mut self, _now: Time) -> Option<Action> {
        self.actions.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.threads.values().filter_map(|thread| thread.board.borrow().alarm).min()
    }
}

impl Application for Program {
    fn ranks(&self) -> Vec<Rank> {
        self.threads.keys().copied().collect()
    }

    /// Nobody: what is measured is noted.
    fn timekeepers(&self) -> Vec<Rank> {
        Vec::new()
    }

    fn bytes_per_iteration(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    #[test]
    fn a_rank_waits_for_one_of_two() {
        let (rank, tag) = (Rank(0), Tag(0));
        let mut program = Program::default();
        program.add(rank, |process| async move {
            let [one, other] = [process.expect(None, tag, 1), process.expect(None, tag, 2)];
            assert!(!process.first_of(one, other).await && process.now() == us(1));
            assert!(process.first_of(one, other).await && process.now() == us(2));
            process.note(Note::RoundTrip { took: process.now() });
        });
        program.handle(Time::ZERO, Input::Begin { rank });
        let turn = Turn::default();
        program.handle(us(1), Input::Done { rank, request: Request(1), turn });
        program.handle(us(2), Input::Done { rank, request: Request(0), turn });
        let last = std::iter::from_fn(|| program.poll_action(us(2))).last();
        assert_eq!(last, Some(Action::Finish { rank }));
    }

    #[test]
    fn a_rank_waits_for_operations_and_times_and_ends() {
        let (rank, tag) = (Rank(3), Tag(0));
        let mut program = Program::default();
        program.add(rank, |process| async move {
            let late = process.expect(None, tag, 1);
            process.send(Rank(1), tag, 1).await;
            assert!(!process.done_by(late, us(10)).await && process.now() == us(10));
            process.until(us(20)).await;
            assert!(process.done_by(late, us(30)).await && process.now() == us(25));
            process.note(Note::RoundTrip { took: process.now() });
        });
        let turn = Turn::default();
        let done = |request| Input::Done { rank, request: Request(request), turn };
        let actions =
            |program: &mut Program| std::iter::from_fn(|| program.poll_action(Time::ZERO)).count();
        program.handle(Time::ZERO, Input::Begin { rank });
        assert_eq!((actions(&mut program), program.poll_timeout()), (2, None));
        program.handle(us(5), done(1));
        assert_eq!(program.poll_timeout(), Some(us(10)));
        program.handle_timeout(us(10));
        assert_eq!(program.poll_timeout(), Some(us(20)));
        program.handle_timeout(us(20));
        assert_eq!((actions(&mut program), program.poll_timeout()), (0, Some(us(30))));
        program.handle(us(25), done(0));
        assert_eq!((actions(&mut program), program.poll_timeout()), (2, None));
        // Nothing moves who has finished.
        program.handle(us(26), done(7));
        assert_eq!(actions(&mut program), 0);
    }
}
