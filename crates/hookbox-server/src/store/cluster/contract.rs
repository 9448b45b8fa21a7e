//! The promises of [`Store`], each kept in the file of its topic.

use std::sync::Arc;

use async_trait::async_trait;

use super::ClusterStore;
use crate::model::{
    Application, ApplicationId, Attempt, AttemptId, Delivery, Endpoint, EndpointId, EventType,
    Message, MessageId, Receipt, Source, SourceId, Time, TokenId,
};
use crate::store::{
    AttemptFilter, Change, Claimed, DeadFilter, DeadLetter, DeadMove, Draft, Listing,
    MessageFilter, Once, Page, QueueFigures, Recorded, Removed, Result, Retention, Settlement,
    SourceDraft, Store, Token,
};

#[async_trait]
impl Store for ClusterStore {
    async fn record(&self, drafts: Vec<Draft>) -> Result<Vec<Recorded>> {
        self.shared().record(drafts).await
    }

    async fn claim(&self, now: Time, lease_until: Time) -> Result<Claimed> {
        self.shared().claim(now, lease_until).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<bool>> {
        self.shared().settle(settlements).await
    }

    async fn create_application(&self, new: Application, once: Option<Once>) -> Result<()> {
        self.shared().create_application(new, once).await
    }

    async fn application(&self, key: &str) -> Result<Application> {
        self.shared().application(key).await
    }

    async fn applications(&self, page: Page<ApplicationId>) -> Result<Listing<Application>> {
        self.shared().applications(page).await
    }

    async fn change_application(
        &self,
        key: &str,
        change: Change<Application>,
    ) -> Result<Application> {
        self.shared().change_application(key, change).await
    }

    async fn delete_application(&self, id: ApplicationId, now: Time) -> Result<()> {
        self.shared().delete_application(id, now).await
    }

    async fn create_endpoint(&self, new: Endpoint, once: Option<Once>) -> Result<()> {
        self.shared().create_endpoint(new, once).await
    }

    async fn endpoint(&self, application: ApplicationId, key: &str) -> Result<Endpoint> {
        self.shared().endpoint(application, key).await
    }

    async fn endpoints(
        &self,
        application: ApplicationId,
        page: Page<EndpointId>,
    ) -> Result<Listing<Endpoint>> {
        self.shared().endpoints(application, page).await
    }

    async fn change_endpoint(
        &self,
        id: EndpointId,
        now: Time,
        change: Change<Endpoint>,
        once: Option<Once>,
    ) -> Result<Endpoint> {
        self.shared().change_endpoint(id, now, change, once).await
    }

    async fn delete_endpoint(&self, id: EndpointId, now: Time) -> Result<()> {
        self.shared().delete_endpoint(id, now).await
    }

    async fn create_event_type(&self, new: EventType, once: Option<Once>) -> Result<()> {
        self.shared().create_event_type(new, once).await
    }

    async fn event_type(&self, name: &str) -> Result<EventType> {
        self.shared().event_type(name).await
    }

    async fn event_types(
        &self,
        page: Page<String>,
        include_archived: bool,
    ) -> Result<Listing<EventType>> {
        self.shared().event_types(page, include_archived).await
    }

    async fn message(&self, application: ApplicationId, key: &str) -> Result<Message> {
        self.shared().message(application, key).await
    }

    async fn messages(
        &self,
        application: ApplicationId,
        filter: MessageFilter,
        page: Page<MessageId>,
    ) -> Result<Listing<Message>> {
        self.shared().messages(application, filter, page).await
    }

    async fn deliveries(
        &self,
        message: MessageId,
        page: Page<EndpointId>,
    ) -> Result<Listing<(Delivery, Endpoint)>> {
        self.shared().deliveries(message, page).await
    }

    async fn replay(
        &self,
        message: MessageId,
        endpoint: EndpointId,
        now: Time,
        once: Option<Once>,
    ) -> Result<()> {
        self.shared().replay(message, endpoint, now, once).await
    }

    async fn dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        page: Page<(MessageId, EndpointId)>,
    ) -> Result<Listing<DeadLetter>> {
        self.shared().dead(application, filter, page).await
    }

    async fn move_dead(
        &self,
        application: ApplicationId,
        filter: DeadFilter,
        to: DeadMove,
        now: Time,
    ) -> Result<u64> {
        self.shared().move_dead(application, filter, to, now).await
    }

    async fn attempts(
        &self,
        application: ApplicationId,
        filter: AttemptFilter,
        page: Page<AttemptId>,
    ) -> Result<Listing<Attempt>> {
        self.shared().attempts(application, filter, page).await
    }

    async fn attempt(&self, message: MessageId, id: AttemptId) -> Result<Attempt> {
        self.shared().attempt(message, id).await
    }

    async fn put_source(
        &self,
        draft: SourceDraft,
        replace: bool,
        now: Time,
        once: Option<Once>,
    ) -> Result<Source> {
        self.shared().put_source(draft, replace, now, once).await
    }

    async fn source(&self, name: &str) -> Result<Arc<Source>> {
        self.shared().source(name).await
    }

    async fn sources(&self, page: Page<String>) -> Result<Listing<Source>> {
        self.shared().sources(page).await
    }

    async fn delete_source(&self, id: SourceId, now: Time) -> Result<()> {
        self.shared().delete_source(id, now).await
    }

    async fn receipts(&self, source: SourceId, page: Page<MessageId>) -> Result<Listing<Receipt>> {
        self.shared().receipts(source, page).await
    }

    async fn create_token(&self, new: Token) -> Result<()> {
        self.shared().create_token(new).await
    }

    async fn token(&self, digest: [u8; 32]) -> Result<Token> {
        self.shared().token(digest).await
    }

    async fn tokens(&self, page: Page<TokenId>) -> Result<Listing<Token>> {
        self.shared().tokens(page).await
    }

    async fn revoke_token(&self, id: TokenId) -> Result<()> {
        self.shared().revoke_token(id).await
    }

    async fn upkeep(&self, now: Time, keep: Retention) -> Result<Option<Removed>> {
        self.shared().upkeep(now, keep).await
    }

    async fn queue(&self, now: Time) -> Result<QueueFigures> {
        self.shared().queue(now).await
    }

    async fn health(&self) -> Result<()> {
        self.shared().health().await
    }
}
