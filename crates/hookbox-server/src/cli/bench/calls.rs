//! The requests that load is made of. All but the mark of each is made beforehand.

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Uri};
use http_body_util::Full;
use sha2::Sha256;

use super::target::Target;
use crate::cli::error::Error;
use crate::model::{Clock, Secret};

/// Makes the request of a mark.
pub(super) trait Calls: Send + Sync {
    fn call(&self, mark: &str) -> Request<Full<Bytes>>;
}

/// A request without its body.
#[derive(Debug)]
struct Head {
    uri: Uri,
    headers: HeaderMap,
}

impl Head {
    fn new(target: &Target, path: &str) -> Result<Self, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, target.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self {
            uri: target.path(path)?,
            headers,
        })
    }

    fn with(&self, body: String) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// A body with a gap for the mark.
#[derive(Debug)]
struct Body {
    before: String,
    after: String,
}

impl Body {
    fn with(&self, mark: &str) -> String {
        [&self.before, mark, &self.after].concat()
    }
}

/// Messages for an application.
#[derive(Debug)]
pub(super) struct Messages {
    head: Head,
    body: Body,
}

impl Messages {
    /// Messages with so many bytes of filler.
    pub(super) fn new(
        target: &Target,
        path: &str,
        token: Option<&Secret>,
        filler: usize,
    ) -> Result<Self, Error> {
        let mut head = Head::new(target, path)?;
        if let Some(token) = token {
            let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
            let mut value = value.map_err(|_| {
                Error::NotAuthorized("the token has characters that no token has".to_owned())
            })?;
            value.set_sensitive(true);
            head.headers.insert(AUTHORIZATION, value);
        }
        let filler = "x".repeat(filler);
        let body = Body {
            before: r#"{"eventType":"bench.sent","payload":{"id":""#.to_owned(),
            after: format!(r#"","filler":"{filler}"}}}}"#),
        };
        Ok(Self { head, body })
    }
}

impl Calls for Messages {
    fn call(&self, mark: &str) -> Request<Full<Bytes>> {
        self.head.with(self.body.with(mark))
    }
}

/// Events as Stripe posts them, signed when they are sent.
#[derive(Debug)]
pub(super) struct Events {
    head: Head,
    key: Hmac<Sha256>,
    body: Body,
}

impl Events {
    /// Events with so many bytes of filler, signed with an endpoint's secret.
    pub(super) fn new(target: &Target, secret: &str, filler: usize) -> Result<Self, Error> {
        let created = Clock.now().unix_seconds();
        let filler = "x".repeat(filler);
        let body = Body {
            before: r#"{"id":"evt_"#.to_owned(),
            after: format!(
                r#"","object":"event","type":"payment_intent.succeeded","created":{created},"data":{{"object":{{"id":"pi_bench","object":"payment_intent","metadata":{{"filler":"{filler}"}}}}}}}}"#
            ),
        };
        Ok(Self {
            head: Head::new(target, "")?,
            key: Hmac::new_from_slice(secret.as_bytes())
                .map_err(|error| Error::Usage(error.to_string()))?,
            body,
        })
    }

    fn signature(&self, body: &str, seconds: i64) -> Option<HeaderValue> {
        let mut mac = self.key.clone();
        mac.update(format!("{seconds}.").as_bytes());
        mac.update(body.as_bytes());
        let digest = hex::encode(mac.finalize().into_bytes());
        HeaderValue::try_from(format!("t={seconds},v1={digest}")).ok()
    }
}

impl Calls for Events {
    fn call(&self, mark: &str) -> Request<Full<Bytes>> {
        let body = self.body.with(mark);
        let signature = self.signature(&body, Clock.now().unix_seconds());
        let mut request = self.head.with(body);
        let name = HeaderName::from_static("stripe-signature");
        request
            .headers_mut()
            .extend(signature.map(|value| (name, value)));
        request
    }
}

#[cfg(test)]
mod tests {
    use hookbox::{Options, Provider};
    use http_body_util::BodyExt as _;
    use serde_json::Value;

    use super::*;

    async fn target() -> Target {
        Target::find("http://127.0.0.1:1/in/stripe", false)
            .await
            .unwrap()
    }

    async fn body(request: Request<Full<Bytes>>) -> Bytes {
        request.into_body().collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn a_message_is_json_with_its_mark() {
        let token = Secret::new("t");
        let messages = Messages::new(&target().await, "/msg", Some(&token), 3).unwrap();
        let request = messages.call("m_1");
        assert_eq!(request.uri(), "/in/stripe/msg");
        assert_eq!(request.headers()["authorization"], "Bearer t");
        let body: Value = serde_json::from_slice(&body(request).await).unwrap();
        assert_eq!(body["payload"]["id"], "m_1");
        assert_eq!(body["payload"]["filler"], "xxx");
    }

    #[tokio::test]
    async fn an_event_is_one_of_stripe() {
        let events = Events::new(&target().await, "whsec_x", 3).unwrap();
        let request = events.call("m_1");
        assert_eq!(request.uri(), "/in/stripe");
        let headers = request.headers().clone();
        let body = body(request).await;
        let verifier = Provider::by_name("stripe")
            .unwrap()
            .verifier(&["whsec_x".to_owned()], &Options::default())
            .unwrap();
        let now = Clock.now().unix_seconds();
        let event = verifier.verify(&headers, &body, now).unwrap();
        assert_eq!(event.id, "evt_m_1");
    }
}
