//! The statements: an `.sql` file for each, under the same name for every database.

use std::borrow::Cow;

/// Which language a database speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Postgres,
    Mysql,
}

/// A statement in both languages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statement {
    pub(super) postgres: &'static str,
    pub(super) mysql: &'static str,
    /// The order is the other way round than written.
    pub(super) descending: bool,
}

impl Statement {
    /// Its text, in the order asked for.
    pub(super) fn text(self, dialect: Dialect) -> Cow<'static, str> {
        let text = match dialect {
            Dialect::Postgres => self.postgres,
            Dialect::Mysql => self.mysql,
        };
        if self.descending {
            Cow::Owned(text.replace(" ASC", " DESC"))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// The statement in the direction of a page. It is written ascending.
    pub(super) fn ordered(self, descending: bool) -> Self {
        Self { descending, ..self }
    }
}

/// The statement of that name.
macro_rules! sql {
    ($name:literal) => {
        $crate::store::cluster::sql::Statement {
            postgres: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/store/cluster/postgres/sql/",
                $name,
                ".sql"
            )),
            mysql: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/store/cluster/mysql/sql/",
                $name,
                ".sql"
            )),
            descending: false,
        }
    };
}
pub(super) use sql;
