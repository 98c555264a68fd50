//! Queues at the inputs of switches, whose first frames compete for outputs.

use std::collections::VecDeque;

/// The queues of all inputs, by channel, and who wants which output.
#[derive(Debug)]
pub(super) struct Inputs {
    queues: Vec<VecDeque<u32>>,
    /// The inputs whose first frame wants a channel, in order.
    wants: Vec<Vec<u32>>,
    /// The input that an output has served last.
    served: Vec<u32>,
}

impl Inputs {
    pub fn new(channels: usize) -> Inputs {
        Inputs {
            queues: vec![VecDeque::new(); channels],
            wants: vec![Vec::new(); channels],
            served: vec![0; channels],
        }
    }

    /// A frame joins the queue of an input; whether it is the first in it.
    pub fn join(&mut self, input: u32, frame: u32) -> bool {
        let queue = &mut self.queues[input as usize];
        queue.push_back(frame);
        queue.len() == 1
    }

    /// The first frame of an input wants an output.
    pub fn want(&mut self, input: u32, output: u32) {
        let wants = &mut self.wants[output as usize];
        let place = wants.partition_point(|&other| other < input);
        wants.insert(place, input);
    }

    /// Whether anybody wants an output.
    pub fn is_wanted(&self, output: u32) -> bool {
        !self.wants[output as usize].is_empty()
    }

    /// The next input whose turn it is at an output, its first frame, and the one behind that.
    pub fn next(&mut self, output: u32) -> Option<(u32, u32, Option<u32>)> {
        let wants = &mut self.wants[output as usize];
        let served = self.served[output as usize];
        let behind = wants.partition_point(|&input| input <= served);
        let place = if behind < wants.len() { behind } else { 0 };
        if wants.is_empty() {
            return None;
        }
        let input = wants.remove(place);
        self.served[output as usize] = input;
        let queue = &mut self.queues[input as usize];
        let frame = queue.pop_front().expect("who wants an output has a frame");
        Some((input, frame, queue.front().copied()))
    }
}
