//! What the SDK asks of an MCP server: the tools, and calls of them.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsRequestMethod, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter,
    SubscriptionsListenRequestMethod,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::call::{Said, ToolCall};
use super::caller::Caller;
use super::log_level::{LogLevel, SetLevel};
use super::stateless::Stateless;
use super::{log_level, result, tools, watch};
use crate::broker::Offer;
use crate::gateway::Hub;
use crate::gateway::calls::AbpError;
use caphost::call::Code;

/// The versions spoken: with `initialize` there is one, whatever the client asks for.
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// One session of MCP; since 2026-07-28, one request.
pub struct Handler {
    pub(super) hub: Arc<Hub>,
    pub(super) caller: Caller,
    pub(super) stateless: Arc<Stateless>,
    page_size: usize,
    watched: AtomicBool,
    pub(super) ended: CancellationToken,
    pub(super) log_level: LogLevel,
    _end: DropGuard,
}

impl Handler {
    /// For one caller.
    pub fn new(
        hub: Arc<Hub>,
        caller: Caller,
        stateless: Arc<Stateless>,
        page_size: usize,
        log_level: LogLevel,
    ) -> Self {
        let ended = CancellationToken::new();
        Handler {
            hub,
            caller,
            stateless,
            page_size,
            watched: AtomicBool::new(false),
            log_level,
            _end: ended.clone().drop_guard(),
            ended,
        }
    }

    /// What the app offers: nothing while it is not connected.
    fn offer(&self) -> Result<Option<Arc<Offer>>, ErrorData> {
        match self.hub.offer(self.caller.app.as_deref()) {
            Ok(offer) => Ok(Some(offer)),
            Err(failure) if failure.code == Code::DISCONNECTED => Ok(None),
            Err(failure) => Err(result::no_choice(&AbpError::from(&failure))),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        log_level::declare(&mut capabilities);
        let mut server = Implementation::new("caphost", env!("CARGO_PKG_VERSION"));
        let mut instructions = None;
        if let Ok(offer) = self.hub.offer(self.caller.app.as_deref()) {
            server = server.with_title(&offer.app.name);
            instructions = offer.app.description.clone();
        }
        let mut config = ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(server);
        config.instructions = instructions;
        config
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offer = self.offer()?;
        let capabilities = offer.as_ref().map_or(&[][..], |offer| &offer.capabilities);
        let cursor = request.and_then(|request| request.cursor);
        let (page, next) = tools::page(capabilities, cursor.as_deref(), self.page_size)?;
        let mut list = ListToolsResult::with_all_items(page.iter().map(tools::tool).collect());
        list.next_cursor = next;
        Ok(list)
    }

    /// A call without a session. When its client closes the response, the app is asked to cancel, and
    /// what this returns is not sent.
    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        request.meta = Some(context.meta);
        let tool = match ToolCall::find(&self.hub, &self.caller, request) {
            Ok(tool) => tool,
            Err(ended) => return ended.map(CallToolResponse::from),
        };
        // Kept until the call has ended.
        let session = self.stateless.session(&self.caller);
        let mut calling = tool.make(context.id.to_string(), None, |new| session.call(new));
        loop {
            let said = tokio::select! {
                biased;
                () = context.ct.cancelled() => break,
                said = calling.next() => said,
            };
            match said {
                Said::Progress(progress) => tokio::select! {
                    biased;
                    () = context.ct.cancelled() => break,
                    told = context.peer.notify_progress(progress) => {
                        if let Err(error) = told {
                            tracing::debug!(%error, "progress not told");
                        }
                    }
                },
                Said::Ended(ended, _) => return ended.map(CallToolResponse::from),
            }
        }
        let closed = "The response stream was closed".to_string();
        drop(calling.canceller().cancel(Some(closed)));
        calling.abandoned().await;
        Err(ErrorData::internal_error("Nobody waits for this", None))
    }

    async fn set_level(
        &self,
        request: SetLevel,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log_level.set(&request);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.watched.swap(true, Ordering::Relaxed) {
            tokio::spawn(watch::session(self, context.peer));
        }
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        watch::subscription(self, subscription).await;
        Ok(())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            ListResourceTemplatesRequestMethod,
        >())
    }

    /// The SDK takes a request it knows for one it does not when the parameters are not those of
    /// the method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let ours = [
            CallToolRequestMethod::VALUE,
            ListToolsRequestMethod::VALUE,
            SubscriptionsListenRequestMethod::VALUE,
        ];
        let method = request.method;
        if ours.contains(&&*method) {
            let message = format!("The parameters are not those of {method}");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("Method not found: {method}"),
            None,
        ))
    }
}
