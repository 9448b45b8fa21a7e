//! The promises of [`Store`], each kept in the file of its topic.

use std::sync::Arc;

use async_trait::async_trait;

use super::SqliteStore;
use crate::model::{
    Application, ApplicationId, Attempt, AttemptId, Clock, Delivery, Endpoint, EndpointId,
    EventType, Message, MessageId, Receipt, Source, SourceId, Time, TokenId,
};
use crate::store::{
    AttemptFilter, Change, Claimed, DeadFilter, DeadLetter, DeadMove, Draft, Error, Listing,
    MessageFilter, Once, Page, QueueFigures, Recorded, Removed, Result, Retention, Settlement,
    SourceDraft, Store, Token,
};

#[async_trait]
impl Store for SqliteStore {
    async fn record(&self, drafts: Vec<Draft>) -> Result<Vec<Recorded>> {
        let lease = self.handoff.lease_end(Clock.now());
        Self::record(self, drafts, lease).await
    }

    async fn claim(&self, now: Time, lease_until: Time) -> Result<Claimed> {
        Self::claim(self, now, lease_until).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<bool>> {
        Self::settle(self, settlements).await
    }

    async fn create_application(&self, new: Application, once: Option<Once>) -> Result<()> {
        Self::create_application(self, new, once).await
    }

    async fn application(&self, key: &str) -> Result<Application> {
        Self::application(self, key).await
    }

    async fn applications(&self, page: Page<ApplicationId>) -> Result<Listing<Application>> {
        Self::applications(self, page).await
    }

    async fn change_application(
        &self,
        key: &str,
        change: Change<Application>,
    ) -> Result<Application> {
        Self::change_application(self, key, change).await
    }

    async fn delete_application(&self, id: ApplicationId, now: Time) -> Result<()> {
        Self::delete_application(self, id, now).await
    }

    async fn create_endpoint(&self, new: Endpoint, once: Option<Once>) -> Result<()> {
        Self::create_endpoint(self, new, once).await
    }

    async fn endpoint(&self, application: ApplicationId, key: &str) -> Result<Endpoint> {
        Self::endpoint(self, application, key).await
    }

    async fn endpoints(
        &self,
        application: ApplicationId,
        page: Page<EndpointId>,
    ) -> Result<Listing<Endpoint>> {
        Self::endpoints(self, application, page).await
    }

    async fn change_endpoint(
        &self,
        id: EndpointId,
        now: Time,
        change: Change<Endpoint>,
        once: Option<Once>,
    ) -> Result<Endpoint> {
        Self::change_endpoint(self, id, now, change, once).await
    }

    async fn delete_endpoint(&self, id: EndpointId, now: Time) -> Result<()> {
        Self::delete_endpoint(self, id, now).await
    }

    async fn create_event_type(&self, new: EventType, once: Option<Once>) -> Result<()> {
        Self::create_event_type(self, new, once).await
    }

    async fn event_type(&self, name: &str) -> Result<EventType> {
        Self::event_type(self, name).await
    }

    async fn event_types(
        &self,
        page: Page<String>,
        include_archived: bool,
    ) -> Result<Listing<EventType>> {
        Self::event_types(self, page, include_archived).await
    }

    async fn message(&self, application: ApplicationId, key: &str) -> Result<Message> {
        Self::message(self, application, key).await
    }

    async fn messages(
        &self,
        application: ApplicationId,
        filter: MessageFilter,
        page: Page<MessageId>,
    ) -> Result<Listing<Message>> {
        Self::messages(self, application, filter, page).await
    }

    async fn deliveries(
        &self,
        message: MessageId,
        page: Page<EndpointId>,
    ) -> Result<Listing<(Delivery, Endpoint)>> {
        Self::deliveries(self, message, page).await
    }

    async fn replay(
        &self,
        message: MessageId,
        endpoint: EndpointId,
        now: Time,
        once: Option<Once>,
    ) -> Result<()> {
        Self::replay(self, message, endpoint, now, once).await
    }

    async fn dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        page: Page<(MessageId, EndpointId)>,
    ) -> Result<Listing<DeadLetter>> {
        Self::dead(self, application, filter, page).await
    }

    async fn move_dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        to: DeadMove,
        now: Time,
    ) -> Result<u64> {
        Self::move_dead(self, application, filter, to, now).await
    }

    async fn attempts(
        &self,
        application: ApplicationId,
        filter: AttemptFilter,
        page: Page<AttemptId>,
    ) -> Result<Listing<Attempt>> {
        Self::attempts(self, application, filter, page).await
    }

    async fn attempt(&self, message: MessageId, id: AttemptId) -> Result<Attempt> {
        Self::attempt(self, message, id).await
    }

    async fn put_source(
        &self,
        draft: SourceDraft,
        replace: bool,
        now: Time,
        once: Option<Once>,
    ) -> Result<Source> {
        Self::put_source(self, draft, replace, now, once).await
    }

    async fn source(&self, name: &str) -> Result<Arc<Source>> {
        self.doors.source(name).ok_or(Error::NotFound("source"))
    }

    async fn sources(&self, page: Page<String>) -> Result<Listing<Source>> {
        Self::sources(self, page).await
    }

    async fn delete_source(&self, id: SourceId, now: Time) -> Result<()> {
        Self::delete_source(self, id, now).await
    }

    async fn receipts(&self, source: SourceId, page: Page<MessageId>) -> Result<Listing<Receipt>> {
        Self::receipts(self, source, page).await
    }

    async fn create_token(&self, new: Token) -> Result<()> {
        Self::create_token(self, new).await
    }

    async fn token(&self, digest: [u8; 32]) -> Result<Token> {
        self.doors.token(&digest).ok_or(Error::NotFound("token"))
    }

    async fn tokens(&self, page: Page<TokenId>) -> Result<Listing<Token>> {
        Self::tokens(self, page).await
    }

    async fn revoke_token(&self, id: TokenId) -> Result<()> {
        Self::revoke_token(self, id).await
    }

    async fn upkeep(&self, now: Time, keep: Retention) -> Result<Option<Removed>> {
        Self::upkeep(self, now, keep).await
    }

    async fn queue(&self, now: Time) -> Result<QueueFigures> {
        Self::queue(self, now).await
    }

    async fn health(&self) -> Result<()> {
        Self::health(self).await
    }
}
