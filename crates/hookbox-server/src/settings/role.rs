//! What a node does.

use std::str::FromStr;

/// What a node does: everything, or some of it beside other nodes on the same database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Takes in webhooks: `/in/…`.
    pub doors: bool,
    /// Answers the API.
    pub api: bool,
    /// Delivers.
    pub engine: bool,
    /// Cleans up: ends what has expired, keeps what is to be kept.
    pub upkeep: bool,
}

impl Roles {
    /// Everything.
    pub const ALL: Self = Self {
        doors: true,
        api: true,
        engine: true,
        upkeep: true,
    };
}

impl FromStr for Roles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut roles = Self {
            doors: false,
            api: false,
            engine: false,
            upkeep: false,
        };
        for role in text.split(',').map(str::trim) {
            match role {
                "all" => roles = Self::ALL,
                "doors" => roles.doors = true,
                "api" => roles.api = true,
                "engine" => roles.engine = true,
                "upkeep" => roles.upkeep = true,
                _ => {
                    return Err("write all, or a list of doors, api, engine and upkeep".to_owned());
                }
            }
        }
        Ok(roles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_a_list() {
        assert_eq!("all".parse(), Ok(Roles::ALL));
        assert_eq!("doors, api,engine,upkeep".parse(), Ok(Roles::ALL));
        let api: Roles = "api".parse().unwrap();
        assert!(api.api && !api.doors && !api.engine && !api.upkeep);
        for bad in ["", "api,", "worker", "API"] {
            assert!(bad.parse::<Roles>().is_err(), "{bad}");
        }
    }
}
