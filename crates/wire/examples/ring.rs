//! A token goes round, and everybody learns the sum of all ranks: the first program.
//!
//! `crosstie launch -n 4 -- target/debug/examples/ring`

use crosstie_wire::Comm;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let comm = Comm::init()?;
    let (rank, size) = (comm.rank(), comm.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);

    // A token goes round: everybody adds its rank.
    let mut token = [0u64];
    if rank == 0 {
        comm.send(next, 0, &token)?;
        comm.recv(previous, 0, &mut token)?;
    } else {
        comm.recv(previous, 0, &mut token)?;
        token[0] += rank as u64;
        comm.send(next, 0, &token)?;
    }

    // Everybody sends a megabyte to its neighbour at once, over all rails.
    let (mine, mut theirs) = (vec![rank as u8; 1 << 20], vec![0u8; 1 << 20]);
    comm.scope(|scope| {
        scope.recv(previous, 1, &mut theirs)?;
        scope.send(next, 1, &mine)?;
        Ok(())
    })?;
    assert!(theirs.iter().all(|&byte| byte == previous as u8));

    let mut sum = [rank as u64];
    comm.all_reduce(&mut sum, |a, b| *a += b)?;
    if rank == 0 {
        println!("token {}, sum {}", token[0], sum[0]);
        for rail in comm.statistics() {
            println!("{}: {} bytes sent", rail.name, rail.count.sent_bytes);
        }
    }
    comm.finish()?;
    Ok(())
}
