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

    /// The inputs that want the stage of an output, in order.
    pub fn wanting_stage(&self, output: u32) -> &[u32] {
        self.to_stage.get(output as usize).map_or(&[], Vec::as_slice)
    }

    /// The first frame of an input that wants the stage of an output leaves the queue.
    pub fn leave_for_stage(&mut self, input: u32, output: u32) -> u32 {
        Self::leave(&mut self.to_stage[output as usize], &mut self.queues, input)
    }

    /// The first frame of an input that wants something leaves the queue.
    fn leave(wants: &mut Vec<u32>, queues: &mut [VecDeque<u32>], input: u32) -> u32 {
        wants.retain(|&other| other != input);
        let frame = queues[input as usize].pop_front();
        frame.expect("an input that wants an output has a frame")
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

    /// The inputs whose first frame wants an output, in order.
    pub fn wanting(&self, output: u32) -> &[u32] {
        &self.wants[output as usize]
    }

    /// The next input whose turn it is at an output, of those that may have it.
    pub fn turn(&self, output: u32, may: impl Fn(u32) -> bool) -> Option<u32> {
        let wants = self.wanting(output);
        let served = self.served[output as usize];
        let (before, behind) = wants.split_at(wants.partition_point(|&input| input <= served));
        behind.iter().chain(before).copied().find(|&input| may(input))
    }

    /// An output serves an input: its first frame leaves the queue.
    pub fn hand_over(&mut self, input: u32, output: u32) -> u32 {
        self.served[output as usize] = input;
        Self::leave(&mut self.wants[output as usize], &mut self.queues, input)
    }
}
