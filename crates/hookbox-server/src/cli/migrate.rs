//! `hookbox migrate`: brings the database up to date.

use super::error::Error;
use super::out::Out;
use crate::settings::{Database, Settings};
use crate::store::{cluster, sqlite};

pub(super) async fn run(out: &mut Out, settings: &Settings) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Failed(error.to_string());
    let steps = match &settings.database {
        Database::Sqlite(path) => sqlite::migrate(path).map_err(|error| failed(&error))?,
        Database::Shared(url) => cluster::migrate(url.expose())
            .await
            .map_err(|error| failed(&error))?,
    };
    let database = &settings.database;
    out.line(&match steps {
        0 => format!("{database} is up to date"),
        1 => format!("{database} is up to date; 1 step was taken"),
        _ => format!("{database} is up to date; {steps} steps were taken"),
    });
    Ok(())
}
