//! The command from end to end.

mod benchmarks;
#[cfg(target_os = "linux")]
mod boxes;
mod conduct;
mod experiments;
mod invocation;
#[cfg(target_os = "linux")]
mod joined;
#[cfg(unix)]
mod launches;
#[cfg(target_os = "linux")]
mod live;
mod mistakes;
mod networks;
#[cfg(unix)]
mod pages;
mod papers;
mod predictions;
mod probes;
mod rails;
#[cfg(target_os = "linux")]
mod slurm;
#[cfg(unix)]
mod tables;
#[cfg(target_os = "linux")]
mod traces;
