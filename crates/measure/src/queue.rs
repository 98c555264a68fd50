//! Queues whose mean latency is known, to judge the judges by.

use crate::Window;
use crosstie_units::{Seed, Stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Independent M/M/1 queues in discrete windows: a network that is all sources.
pub(super) struct Queues {
    queues: Vec<Queue>,
    /// Mean cycles between arrivals of one queue.
    interval: f64,
    window: u64,
    end: u64,
    /// Packets under way by (time of delivery, flits, latency).
    under_way: BinaryHeap<Reverse<(u64, u64, u64)>>,
    backlog: u64,
}

struct Queue {
    stream: Stream,
    next: f64,
    free: f64,
}

impl Queues {
    /// Mean packet length in flits, and so mean service time in cycles.
    pub(super) const FLITS: f64 = 32.0;

    pub(super) fn new(seed: u64, count: u64, load: f64, window: u64) -> Queues {
        let interval = Queues::FLITS / load;
        let queue = |index| {
            let mut stream = Seed(seed).stream("queue", index);
            Queue { next: stream.exponential(interval), stream, free: 0.0 }
        };
        let queues = (0..count).map(queue).collect();
        let under_way = BinaryHeap::new();
        Queues { queues, interval, window, end: 0, under_way, backlog: 0 }
    }

    /// Mean latency of an M/M/1 queue: service over what is left of the capacity.
    pub(super) fn mean_latency(load: f64) -> f64 {
        Queues::FLITS / (1.0 - load)
    }

    /// Runs one window.
    pub(super) fn window(&mut self) -> Window {
        self.end += self.window;
        let mut window = Window::default();
        for queue in &mut self.queues {
            while queue.next < self.end as f64 {
                let service = queue.stream.exponential(Queues::FLITS);
                queue.free = queue.next.max(queue.free) + service;
                let flits = service.round() as u64;
                let latency = (queue.free - queue.next).round() as u64;
                self.under_way.push(Reverse((queue.free as u64, flits, latency)));
                window.generated += flits;
                queue.next += queue.stream.exponential(self.interval);
            }
        }
        while let Some(&Reverse((done, flits, latency))) = self.under_way.peek() {
            if done >= self.end {
                break;
            }
            self.under_way.pop();
            window.delivered += flits;
            window.messages += 1;
            window.latency += latency;
        }
        self.backlog = self.backlog + window.generated - window.delivered;
        Window { backlog: self.backlog, ..window }
    }
}
