//! `hookbox token`: who may call the API.

use clap::Subcommand;
use serde_json::json;

use super::Task;
use super::client::encoded;
use super::error::Error;
use super::verb::sure;

#[derive(Debug, Subcommand)]
pub(super) enum Token {
    /// Make a token; it is shown this once
    Create {
        /// What it is for
        name: String,
    },
    /// List tokens
    List,
    /// Revoke a token, at once
    Revoke {
        /// Its id
        id: String,
        /// Really
        #[arg(long)]
        yes: bool,
    },
}

pub(super) async fn run(Task { verb, client, out }: Task<'_, Token>) -> Result<(), Error> {
    match verb {
        Token::Create { name } => {
            let made = client.post("/api/v1/token", &json!({"name": name})).await?;
            out.done(&made, made["token"].as_str().unwrap_or_default());
        }
        Token::List => {
            let list = client.get("/api/v1/token?limit=250").await?;
            out.list(
                &list,
                &[("ID", "id"), ("NAME", "name"), ("CREATED", "createdAt")],
            );
        }
        Token::Revoke { id, yes } => {
            sure(yes, "revoke this token")?;
            let answer = client
                .delete(&format!("/api/v1/token/{}", encoded(&id)))
                .await?;
            out.done(&answer, "revoked");
        }
    }
    Ok(())
}
