//! The schema of a database: what a start may do to it, and why it may not be one to work with.

/// What a start may do to the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrate {
    /// Fill an empty database; refuse an older one.
    IfEmpty,
    /// Bring an older database up to date.
    Always,
}

/// Why the schema is not one to work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The database is older than this program.
    #[error(
        "the database has schema {found}, this version needs {needed}; run `hookbox migrate`, or `hookbox serve --migrate`"
    )]
    Older {
        /// Its schema.
        found: u32,
        /// The schema of this program.
        needed: u32,
    },
    /// The database is newer than this program.
    #[error(
        "the database has schema {found}, this version knows only up to {known}; run the newer hookbox that wrote it"
    )]
    Newer {
        /// Its schema.
        found: u32,
        /// The newest schema that this program knows.
        known: u32,
    },
    /// It is a database of another program.
    #[error("the file is a database of another program; set HOOKBOX_DATABASE to another path")]
    Foreign,
    /// A migration failed; nothing of it was kept.
    #[error("migration {name} failed: {error}")]
    Failed {
        /// Which.
        name: &'static str,
        /// How.
        error: String,
    },
    /// The database cannot be read.
    #[error("{0}")]
    Database(String),
}

impl Migrate {
    /// Whether a database of schema `found` may be worked with after bringing it to `needed`; zero is an empty one.
    pub(super) fn allows(self, found: u32, needed: u32) -> Result<(), SchemaError> {
        if found > needed {
            return Err(SchemaError::Newer {
                found,
                known: needed,
            });
        }
        if found > 0 && found < needed && self == Self::IfEmpty {
            return Err(SchemaError::Older { found, needed });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_schema_needs_leave_and_a_newer_one_is_refused() {
        let (needed, older) = (
            3,
            SchemaError::Older {
                found: 2,
                needed: 3,
            },
        );
        assert_eq!(Migrate::IfEmpty.allows(0, needed), Ok(()));
        assert_eq!(Migrate::IfEmpty.allows(3, needed), Ok(()));
        assert_eq!(Migrate::IfEmpty.allows(2, needed), Err(older));
        assert_eq!(Migrate::Always.allows(2, needed), Ok(()));
        let newer = SchemaError::Newer { found: 4, known: 3 };
        assert_eq!(Migrate::Always.allows(4, needed), Err(newer));
    }
}
