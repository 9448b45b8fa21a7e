//! What the verbs of several commands have in common.

use super::answer::Answer;
use super::client::encoded;
use super::error::Error;
use super::out::Out;

/// Refuses what cannot be undone when it was not asked for twice.
pub(super) fn sure(yes: bool, what: &str) -> Result<(), Error> {
    if yes {
        Ok(())
    } else {
        Err(Error::Usage(format!(
            "this would {what}, for good; add --yes to do it"
        )))
    }
}

/// Which part of a list.
#[derive(Debug, clap::Args)]
pub(super) struct Part {
    /// How many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=250))]
    limit: u32,
    /// Where to go on, as the list before said
    #[arg(long, value_name = "ID")]
    iterator: Option<String>,
}

impl Part {
    /// As a query.
    pub(super) fn query(&self) -> String {
        let iterator = self
            .iterator
            .as_ref()
            .map(|id| format!("&iterator={}", encoded(id)));
        format!("?limit={}{}", self.limit, iterator.unwrap_or_default())
    }
}

/// Says that something was made, or shows it as JSON.
pub(super) fn made(out: &mut Out, answer: &Answer, what: &str) {
    let text = format!("made {what} {}", answer["id"].as_str().unwrap_or_default());
    out.done(answer, &text);
}
