//! `hookbox settings`: what is set, and where from.

use serde_json::{Value, json};

use super::error::Error;
use super::out::Out;
use crate::settings::{self, Given, SETTINGS};

pub(super) fn run(
    out: &mut Out,
    given: &Given,
    as_json: bool,
    markdown: bool,
) -> Result<(), Error> {
    if markdown {
        out.line(settings::page().trim_end());
        return Ok(());
    }
    let settings = given.settings()?;
    let rows: Vec<Value> = SETTINGS
        .iter()
        .map(|setting| {
            let (value, origin) = &settings.found[setting.name];
            let shown = if setting.secret && !value.is_empty() {
                "(secret)".to_owned()
            } else {
                settings::without_password(value)
            };
            json!({"name": setting.name, "value": shown, "from": origin.to_string(), "variable": setting.variable()})
        })
        .collect();
    out.json = as_json;
    let sources: Vec<_> = settings.sources.iter().map(|source| &source.name).collect();
    out.list(
        &json!({"data": rows, "sources": sources}).into(),
        &[
            ("SETTING", "name"),
            ("VALUE", "value"),
            ("FROM", "from"),
            ("ENVIRONMENT", "variable"),
        ],
    );
    if !as_json {
        for source in &settings.sources {
            out.line(&format!(
                "source {}: {} at /in/{}",
                source.name, source.provider, source.name
            ));
        }
    }
    Ok(())
}
