//! The two forms in which metrics are written.

use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::registry::Registry;

/// How metrics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What Prometheus asks for first.
    OpenMetrics,
    /// What everything else reads.
    Prometheus,
}

impl Form {
    /// The form that a request accepts.
    #[must_use]
    pub fn accepted(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") {
            Self::OpenMetrics
        } else {
            Self::Prometheus
        }
    }

    /// Its content type.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => prometheus_text::CONTENT_TYPE,
        }
    }

    /// Everything that is registered, in this form.
    pub(super) fn write(self, registry: &Registry) -> String {
        let mut page = String::with_capacity(16 * 1024);
        let written = match self {
            Self::OpenMetrics => text::encode(&mut page, registry),
            Self::Prometheus => prometheus_text::encode(&mut page, registry),
        };
        // Writing to a text does not fail.
        debug_assert!(written.is_ok());
        page
    }
}
