//! Where results go, and what becomes of those that are there already.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args};

/// Arguments of all that keeps results.
#[derive(Debug, Args)]
pub struct ResultsArguments {
    /// Where results go, into a folder named after the experiment file or the paper
    #[arg(long, value_name = "FOLDER", env = "CROSSTIE_OUT", hide_env_values = true)]
    #[arg(default_value = "results")]
    pub out: PathBuf,

    /// Run all points again, also those that are finished already
    #[arg(long, env = "CROSSTIE_FRESH", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new(), action = ArgAction::SetTrue)]
    pub fresh: bool,
}
