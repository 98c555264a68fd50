//! Queues at the inputs of switches, whose first frames compete for outputs, and the stages of
//! outputs, which compete as if they were inputs.

use crosstie_units::Time;
use std::collections::VecDeque;

/// The queues of all inputs, by channel, and who wants which output. Behind the inputs are the
/// stages of outputs.
#[derive(Debug)]
pub(super) struct Inputs {
    channels: u32,
    queues: Vec<VecDeque<u32>>,
    /// Until when each input is taken by the frame that it has handed over.
    taken: Vec<Time>,
    /// The inputs whose first frame wants a channel, in order.
    wants: Vec<Vec<u32>>,
    /// The input that an output has served last.
    served: Vec<u32>,
    /// The inputs whose first frame wants the stage of a channel, in order.
    to_stage: Vec<Vec<u32>>,
}

impl Inputs {
    pub fn new(channels: usize) -> Inputs {
        Inputs {
            channels: channels as u32,
            queues: vec![VecDeque::new(); channels],
            taken: vec![Time::ZERO; channels],
            wants: vec![Vec::new(); channels],
            served: vec![0; channels],
            to_stage: Vec::new(),
        }
    }

    /// Outputs have stages.
    pub fn add_stages(&mut self) {
        let channels = self.channels as usize;
        self.queues.resize(2 * channels, VecDeque::new());
        self.to_stage.resize(channels, Vec::new());
    }

    /// The stage of an output, as an input.
    pub fn stage(&self, output: u32) -> u32 {
        self.channels + output
    }

    /// Returns true if this is a stage, and no input.
    pub fn is_stage(&self, input: u32) -> bool {
        input >= self.channels
    }

    /// How many frames are in a stage.
    pub fn staged(&self, output: u32) -> u32 {
        self.queues[self.stage(output) as usize].len() as u32
    }

    /// The first frame of an input wants the stage of an output.
    pub fn want_stage(&mut self, input: u32, output: u32) {
        let wants = &mut self.to_stage[output as usize];
        let place = wants.partition_point(|&other| other < input);
        wants.insert(place, input);
    }

    /// The lowest input that wants the stage of an output, and its first frame, which leaves the
    /// queue.
    pub fn next_to_stage(&mut self, output: u32) -> Option<(u32, u32)> {
        let wants = self.to_stage.get_mut(output as usize).filter(|wants| !wants.is_empty())?;
        let input = wants.remove(0);
        let frame = self.queues[input as usize].pop_front();
        Some((input, frame.expect("an input that wants a stage has a frame")))
    }

    /// The lowest input that wants the stage of an output.
    pub fn first_to_stage(&self, output: u32) -> Option<u32> {
        self.to_stage.get(output as usize)?.first().copied()
    }

    /// A frame joins the queue of an input. Returns true if it is the first in it.
    pub fn join(&mut self, input: u32, frame: u32) -> bool {
        let queue = &mut self.queues[input as usize];
        queue.push_back(frame);
        queue.len() == 1
    }

    /// The first frame of an input.
    pub fn first(&self, input: u32) -> Option<u32> {
        self.queues[input as usize].front().copied()
    }

    /// An input offers nothing before a time.
    pub fn take(&mut self, input: u32, until: Time) {
        self.taken[input as usize] = until;
    }

    /// When an input may offer its first frame.
    pub fn offers(&self, input: u32) -> Time {
        self.taken[input as usize]
    }

    /// The first frame of an input wants an output.
    pub fn want(&mut self, input: u32, output: u32) {
        let wants = &mut self.wants[output as usize];
        let place = wants.partition_point(|&other| other < input);
        wants.insert(place, input);
    }

    /// Returns true if any input wants an output.
    pub fn is_wanted(&self, output: u32) -> bool {
        !self.wants[output as usize].is_empty()
    }

    /// The next input whose turn it is at an output, and its first frame, which leaves the queue.
    pub fn next(&mut self, output: u32) -> Option<(u32, u32)> {
        let wants = &mut self.wants[output as usize];
        let served = self.served[output as usize];
        let behind = wants.partition_point(|&input| input <= served);
        let place = if behind < wants.len() { behind } else { 0 };
        if wants.is_empty() {
            return None;
        }
        let input = wants.remove(place);
        self.served[output as usize] = input;
        let frame = self.queues[input as usize].pop_front();
        Some((input, frame.expect("an input that wants an output has a frame")))
    }
}
