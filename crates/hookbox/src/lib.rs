//! Verify and sign webhooks.
