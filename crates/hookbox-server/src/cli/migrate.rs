//! `hookbox migrate`: brings the database up to date.

use super::error::Error;
use super::out::Out;
use crate::settings::Settings;
use crate::store::sqlite;

pub(super) fn run(out: &mut Out, settings: &Settings) -> Result<(), Error> {
    let steps =
        sqlite::migrate(&settings.database).map_err(|error| Error::Failed(error.to_string()))?;
    let path = settings.database.display();
    out.line(&match steps {
        0 => format!("{path} is up to date"),
        1 => format!("{path} is up to date; 1 step was taken"),
        _ => format!("{path} is up to date; {steps} steps were taken"),
    });
    Ok(())
}
