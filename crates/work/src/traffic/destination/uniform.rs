//! Everyone is as likely as everyone else.

use super::Declaration;

pub(super) const DECLARATION: Declaration =
    Declaration { name: "uniform", sentence: "Any other host, all equally likely." };
