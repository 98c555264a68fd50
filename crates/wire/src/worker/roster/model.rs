//! Every order in which threads of a worker can wait, look, and do what others wait for, explored
//! by loom. The roster is the real one; lock and bells are loom's.

use super::*;
use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
use loom::thread;

/// Wakes a thread, like an event that stays until the thread has seen it.
#[derive(Default)]
struct ModelBell {
    rung: Mutex<bool>,
    rings: Condvar,
}

impl Wakes for Arc<ModelBell> {
    fn wake(&self) {
        *self.rung.lock().unwrap() = true;
        self.rings.notify_one();
    }
}

impl ModelBell {
    fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !*rung {
            rung = self.rings.wait(rung).unwrap();
        }
        *rung = false;
    }
}

/// What is under the lock: requests, some of which are done, and records that have come and that
/// no thread has looked at.
struct Engine {
    roster: Roster<Arc<ModelBell>>,
    done: [bool; 2],
    records: Vec<usize>,
    news: u64,
}

struct Shared {
    engine: Mutex<Engine>,
    /// What the leader sleeps on: rung by other threads, and by what comes.
    bell: Arc<ModelBell>,
    /// Records that are on their way.
    ring: Mutex<Vec<usize>>,
}

/// What a model leaves out, to see that it is needed.
#[derive(Clone, Copy, PartialEq)]
enum Without {
    Nothing,
    /// A thread that lets go of the lock does not tell how things stand.
    Telling,
    /// A leader that leaves wakes no follower.
    PassingOn,
}

impl Shared {
    fn new() -> Arc<Shared> {
        let engine =
            Engine { roster: Roster::default(), done: [false; 2], records: Vec::new(), news: 0 };
        Arc::new(Shared {
            engine: Mutex::new(engine),
            bell: Arc::default(),
            ring: Mutex::new(Vec::new()),
        })
    }

    /// A peer has sent something.
    fn arrives(&self, request: usize) {
        self.ring.lock().unwrap().push(request);
        self.bell.wake();
    }

    /// Receives what has arrived.
    fn progress(&self, engine: &mut Engine) {
        let records = std::mem::take(&mut *self.ring.lock().unwrap());
        engine.records.extend(records);
        for request in std::mem::take(&mut engine.records) {
            engine.done[request] = true;
            engine.news += 1;
        }
    }

    /// Tells how things stand, as a thread that lets go of the lock does.
    fn tell(&self, engine: &mut Engine, without: Without) {
        if engine.roster.has_sleepers() && without != Without::Telling {
            let seen = Seen { news: engine.news, due: None, waits: false };
            engine.roster.tell(seen, &self.bell);
        }
    }

    /// Waits for a request, as `Core::until` does.
    fn wait(&self, request: usize, without: Without) {
        let bell = Arc::new(ModelBell::default());
        let mut engine = self.engine.lock().unwrap();
        let mut leads = engine.roster.lead(Kind::Caller);
        loop {
            if leads.is_some() {
                self.progress(&mut engine);
            }
            if engine.done[request] {
                break;
            }
            match leads {
                Some(waiter) => {
                    let seen = Seen { news: engine.news, due: None, waits: false };
                    engine.roster.sleeps(waiter, seen, Time::from_ps(u64::MAX));
                    self.tell(&mut engine, without);
                    drop(engine);
                    self.bell.wait();
                    engine = self.engine.lock().unwrap();
                    engine.roster.wakes(waiter);
                }
                None => {
                    let news = engine.news;
                    let waiter = engine.roster.follow(news, Arc::clone(&bell));
                    self.tell(&mut engine, without);
                    drop(engine);
                    bell.wait();
                    engine = self.engine.lock().unwrap();
                    engine.roster.unfollow(waiter);
                    leads = engine.roster.lead(Kind::Caller);
                }
            }
        }
        self.leave(engine, leads, without);
    }

    /// Waits for nothing, and for no time at all: another thread may have to look.
    fn gives_up(&self, without: Without) {
        let mut engine = self.engine.lock().unwrap();
        let leads = engine.roster.lead(Kind::Caller);
        if let Some(waiter) = leads {
            let seen = Seen { news: engine.news, due: None, waits: false };
            engine.roster.sleeps(waiter, seen, Time::ZERO);
            drop(engine);
            engine = self.engine.lock().unwrap();
            engine.roster.wakes(waiter);
        }
        self.leave(engine, leads, without);
    }

    fn leave(&self, mut engine: MutexGuard<'_, Engine>, leads: Option<Waiter>, without: Without) {
        match leads {
            Some(waiter) if without == Without::PassingOn => {
                engine.roster.leader.take_if(|leader| leader.waiter == waiter);
            }
            Some(waiter) => engine.roster.resign(waiter),
            None => engine.roster.leave(),
        }
        self.tell(&mut engine, without);
    }
}

fn explore(scene: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(scene);
}

/// Two threads wait for a request each, while both come.
fn two_wait(without: Without) {
    explore(move || {
        let shared = Shared::new();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.wait(0, without)
        });
        let peer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.arrives(0);
                shared.arrives(1);
            }
        });
        shared.wait(1, without);
        other.join().unwrap();
        peer.join().unwrap();
    });
}

/// One thread waits, while another that does not wait receives what has arrived.
fn one_waits(without: Without) {
    explore(move || {
        let shared = Shared::new();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                // It comes without a ring, as to one that does not sleep.
                shared.ring.lock().unwrap().push(0);
                let mut engine = shared.engine.lock().unwrap();
                shared.progress(&mut engine);
                shared.tell(&mut engine, without);
            }
        });
        shared.wait(0, without);
        other.join().unwrap();
    });
}

/// One thread waits for what comes, while another that looks gives up.
fn one_gives_up(without: Without) {
    explore(move || {
        let shared = Shared::new();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.gives_up(without)
        });
        let peer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.arrives(0)
        });
        shared.wait(0, without);
        other.join().unwrap();
        peer.join().unwrap();
    });
}

#[test]
fn nobody_sleeps_over_what_another_thread_has_done() {
    one_waits(Without::Nothing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn whoever_tells_nobody_leaves_one_asleep() {
    one_waits(Without::Telling);
}

#[test]
fn somebody_looks_as_long_as_anybody_waits() {
    two_wait(Without::Nothing);
    one_gives_up(Without::Nothing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_leader_that_passes_nothing_on_leaves_one_asleep() {
    one_gives_up(Without::PassingOn);
}
