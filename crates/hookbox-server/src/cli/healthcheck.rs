//! `hookbox healthcheck`: for a container's health check.

use http::Method;

use super::client::Client;
use super::error::Error;
use super::out::Out;
use crate::settings::Caller;

pub(super) async fn run(out: &mut Out, caller: Caller) -> Result<(), Error> {
    let answer = Client::new(caller).raw(Method::GET, "/readyz", None).await;
    match answer {
        Ok((200, _)) => {
            out.line("ready");
            Ok(())
        }
        Ok((status, _)) => Err(Error::Failed(format!(
            "not ready: the server answered {status}"
        ))),
        // A health check knows two answers.
        Err(error) => Err(Error::Failed(error.to_string())),
    }
}
