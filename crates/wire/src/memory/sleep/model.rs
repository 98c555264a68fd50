//! Every order in which falling asleep and writing can meet, explored by loom.

use super::*;
use crate::memory::ring::model::{ModelGround, ModelWord, copy};
use crate::memory::ring::{Consumer, Producer};
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;

/// What two ranks share besides a ring.
struct Shared<const WEAK: bool> {
    consumer_asleep: ModelWord<WEAK>,
    producer_asleep: ModelWord<WEAK>,
    want: ModelWord<WEAK>,
    starving: ModelWord<WEAK>,
    /// Whether somebody rang.
    consumer_bell: AtomicBool,
    producer_bell: AtomicBool,
}

impl<const WEAK: bool> Shared<WEAK> {
    fn new() -> Arc<Shared<WEAK>> {
        Arc::new(Shared {
            consumer_asleep: ModelWord::new(),
            producer_asleep: ModelWord::new(),
            want: ModelWord::new(),
            starving: ModelWord::new(),
            consumer_bell: AtomicBool::new(false),
            producer_bell: AtomicBool::new(false),
        })
    }
}

fn explore(scene: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(scene);
}

/// A rank falls asleep while another writes for it.
fn falling_asleep<const WEAK: bool>() {
    explore(|| {
        let ground = ModelGround::<false>::new(4);
        let mut consumer = Consumer::new(Arc::clone(&ground), 0);
        let mut producer = Producer::new(ground, 0);
        let shared = Shared::<WEAK>::new();
        let writer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                assert!(producer.try_push(&[&[1; 8]]));
                if must_ring(&shared.consumer_asleep) {
                    shared.consumer_bell.store(true, Relaxed);
                }
            }
        });
        announce(&shared.consumer_asleep);
        let sleeps = !consumer.pop(&mut copy(), |_| ());
        if !sleeps {
            awake(&shared.consumer_asleep);
        }
        writer.join().unwrap();
        assert!(!sleeps || shared.consumer_bell.load(Relaxed), "it sleeps for ever");
    });
}

#[test]
fn nobody_sleeps_over_a_record() {
    falling_asleep::<false>();
}

/// The model sees what goes wrong without fences.
#[test]
#[should_panic(expected = "it sleeps for ever")]
fn without_fences_one_would() {
    falling_asleep::<true>();
}

/// A producer without room falls asleep while its consumer makes room and then falls asleep itself.
fn starving<const WEAK: bool>() {
    explore(|| {
        let ground = ModelGround::<false>::new(4);
        let mut consumer = Consumer::new(Arc::clone(&ground), 0);
        let mut producer = Producer::new(ground, 0);
        (0..3).for_each(|_| assert!(producer.try_push(&[&[1; 8]])));
        assert!(!producer.try_push(&[&[1; 8]]));
        let shared = Shared::<WEAK>::new();
        let writer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                announce(&shared.producer_asleep);
                starve(&shared.want, &shared.starving);
                let sleeps = !producer.try_push(&[&[1; 8]]);
                if !sleeps {
                    awake(&shared.producer_asleep);
                    if must_ring(&shared.consumer_asleep) {
                        shared.consumer_bell.store(true, Relaxed);
                    }
                }
                sleeps
            }
        });
        let mut copy = copy();
        let mut poll = || {
            let popped = consumer.pop(&mut copy, |_| ());
            if anybody_starves(&shared.starving)
                && wanted(&shared.want)
                && must_ring(&shared.producer_asleep)
            {
                shared.producer_bell.store(true, Relaxed);
            }
            popped
        };
        (0..3).for_each(|_| assert!(poll()));
        announce(&shared.consumer_asleep);
        let consumer_sleeps = !poll();
        if consumer_sleeps {
            let producer_sleeps = writer.join().unwrap();
            let rung = shared.producer_bell.load(Relaxed);
            assert!(!producer_sleeps || rung, "it starves for ever");
            assert!(producer_sleeps || shared.consumer_bell.load(Relaxed), "it sleeps for ever");
        } else {
            writer.join().unwrap();
        }
    });
}

#[test]
fn nobody_starves_beside_room() {
    starving::<false>();
}

/// The model sees what goes wrong without fences.
#[test]
#[should_panic(expected = "for ever")]
fn without_fences_one_would_starve() {
    starving::<true>();
}

/// Two producers say that they want room, while their consumer asks for it.
#[test]
fn of_several_who_starve_nobody_is_forgotten() {
    explore(|| {
        let shared = Arc::new((ModelWord::<false>::new(), [(); 2].map(|()| ModelWord::new())));
        let writers = [0, 1].map(|number| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || starve(&shared.1[number], &shared.0))
        });
        let poll = || match anybody_starves(&shared.0) {
            true => shared.1.iter().filter(|want| wanted(*want)).count(),
            false => 0,
        };
        let early = poll();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert_eq!(early + poll(), 2, "one is forgotten");
    });
}
