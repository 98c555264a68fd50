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
    pub fn named(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.id() == name)
    }

    /// Its name in the ids of claims.
    pub fn id(self) -> &'static str {
        match self {
            Scheme::Ud => "ud",
            Scheme::Dfs => "dfs",
            Scheme::Smart => "smart",
            Scheme::UdMitb => "ud_mitb",
            Scheme::UdItb => "ud_itb",
            Scheme::DfsItb => "dfs_itb",
            Scheme::BItb => "b_itb",
        }
    }

    /// What a column of the tables compares.
    pub fn against(self) -> &'static str {
        match self {
            Scheme::UdMitb => "UD_MITB over UD",
            Scheme::UdItb => "UD_ITB over UD",
            Scheme::DfsItb => "DFS_ITB over DFS",
            Scheme::BItb => "B_ITB over SMART",
            Scheme::Ud | Scheme::Dfs | Scheme::Smart => "itself",
        }
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
