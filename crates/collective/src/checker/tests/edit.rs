//! Collectives that can be broken on purpose.

use crate::{Access, Block, Builder, Cargo, Collective, Need, Op, OpId, Purpose, Rank};

/// An operation with all that belongs to it.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub op: Op,
    pub needs: Vec<Need>,
    pub access: Access,
    pub blocks: Vec<Block>,
}

/// The lines of each rank.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub ranks: Vec<Vec<Line>>,
    purpose: Purpose,
}

impl Edit {
    pub fn new(collective: &Collective) -> Edit {
        let Collective { schedule, cargo, purpose } = collective;
        let line = |place: usize| Line {
            op: schedule.all()[place],
            needs: schedule.needs(place).to_vec(),
            access: cargo.access(place),
            blocks: cargo.blocks(place).to_vec(),
        };
        let lines = |rank| schedule.places(Rank(rank)).map(line).collect();
        Edit { ranks: (0..schedule.ranks()).map(lines).collect(), purpose: *purpose }
    }

    pub fn line(&mut self, rank: usize, op: usize) -> &mut Line {
        &mut self.ranks[rank][op]
    }

    /// Takes a line away. Who waited for it waits for what it has waited for.
    pub fn remove(&mut self, rank: usize, op: usize) {
        let removed = self.ranks[rank].remove(op);
        for line in &mut self.ranks[rank] {
            if line.needs.iter().any(|need| need.op.0 as usize == op) {
                line.needs.retain(|need| need.op.0 as usize != op);
                line.needs.extend(&removed.needs);
            }
            for need in &mut line.needs {
                need.op.0 -= u32::from(need.op.0 as usize > op);
            }
        }
    }

    /// Adds the same line once more, which waits for the first.
    pub fn repeat(&mut self, rank: usize, op: usize) {
        let mut line = self.ranks[rank][op].clone();
        line.needs.push(Need { op: OpId(op as u32), when: crate::When::Done });
        self.ranks[rank].push(line);
    }

    pub fn collective(&self) -> Collective {
        let mut builder = Builder::new(self.ranks.len() as u32);
        let mut cargo = Cargo::default();
        for (rank, lines) in self.ranks.iter().enumerate() {
            let rank = Rank(rank as u32);
            for line in lines {
                builder.add(rank, line.op);
                cargo.push(line.access, line.blocks.iter().copied());
            }
            for (op, line) in lines.iter().enumerate() {
                for &need in &line.needs {
                    builder.need(rank, OpId(op as u32), need);
                }
            }
        }
        let schedule = builder.finish().expect("no circle at one rank");
        Collective { schedule, cargo, purpose: self.purpose }
    }
}
