//! Studies run from end to end, as the command runs them.

mod advice;
mod bench;
mod deaths;
mod experiments;
mod idle;
mod liu;
mod live;
mod measures;
mod mistakes;
mod myrinet;
mod papers;
mod petrini;
mod physics;
mod presets;
mod rails;
mod routings;
mod runs;
mod saturation;
mod schedules;
mod schemes;
mod tam;
mod worlds;
