//! The schemes by the paper's names and by those of experiment files.

/// A routing scheme of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Ud,
    Dfs,
    Smart,
    UdMitb,
    UdItb,
    DfsItb,
    BItb,
}

impl Scheme {
    /// Those with in-transit buffers, in the order of the tables.
    pub const WITH_STOPS: [Scheme; 4] =
        [Scheme::UdMitb, Scheme::UdItb, Scheme::DfsItb, Scheme::BItb];

    const ALL: [Scheme; 7] = [
        Scheme::Ud,
        Scheme::Dfs,
        Scheme::Smart,
        Scheme::UdMitb,
        Scheme::UdItb,
        Scheme::DfsItb,
        Scheme::BItb,
    ];

    /// The scheme that the id of a claim names.
    pub fn named(id: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.id() == id)
    }

    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Ud => "UD",
            Scheme::Dfs => "DFS",
            Scheme::Smart => "SMART",
            Scheme::UdMitb => "UD_MITB",
            Scheme::UdItb => "UD_ITB",
            Scheme::DfsItb => "DFS_ITB",
            Scheme::BItb => "B_ITB",
        }
    }

    /// Its name in the ids of claims.
    pub fn id(self) -> String {
        self.name().to_ascii_lowercase()
    }

    /// Its name in experiment files.
    pub fn routing(self) -> &'static str {
        match self {
            Scheme::Ud => "up-down",
            Scheme::Dfs => "dfs",
            Scheme::Smart => "smart",
            Scheme::UdMitb => "up-down-mitb",
            Scheme::UdItb => "up-down-itb",
            Scheme::DfsItb => "dfs-itb",
            Scheme::BItb => "balanced-itb",
        }
    }

    /// What the paper holds it against: the scheme that it improves, or itself.
    pub fn base(self) -> Scheme {
        match self {
            Scheme::UdMitb | Scheme::UdItb => Scheme::Ud,
            Scheme::DfsItb => Scheme::Dfs,
            Scheme::BItb => Scheme::Smart,
            base => base,
        }
    }
}
