//! What only the model knows: its parameters, where they do not follow from the machine.

use crosstie_model::Parameters;
use crosstie_units::range;
use serde::{Deserialize, Serialize};

/// Where the parameters of the model come from, if not from links, switches and nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Model {
    /// From here.
    Parameters(Box<Parameters>),
    /// From a file, such as `crosstie probe` writes.
    File {
        /// Its path, relative to the experiment file.
        #[serde(deserialize_with = "range::file")]
        path: String,
    },
}
