//! stub
use super::error::Error;
use super::out::Out;
pub(super) async fn run(
    _: &mut Out,
    _: Option<std::net::SocketAddr>,
    _: bool,
) -> Result<(), Error> {
    Ok(())
}
