//! Calls whose input is of any point and whose answer is JSON.

use crate::call::CallOptions;
use crate::contract::CallContext;
use crate::host::Host;
use crate::limits::Limits;
use crate::module::ModuleHandle;
use crate::operation::{
    AnswerRequest, AnyAnswer, AnyInput, CheckLogin, FilterChat, FireTimer, HandleEvent, Operation, PlaceTicket,
    RankServers, RankWorlds, ReviewChange, ReviewPunishment, RunTick,
};
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::sync::Arc;

impl Sandbox {
    /// Calls the function for this kind of input, like [`Sandbox::call`]. The answer has the format of
    /// [`AnyAnswer::to_json`](crate::AnyAnswer::to_json).
    pub async fn call_json(
        &self,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &AnyInput,
    ) -> CallReport<Value> {
        self.call_any(module, limits, host, context, input).await.map(|answer| answer.to_json())
    }

    /// Calls the function for this kind of input, like [`Sandbox::call`].
    pub async fn call_any(
        &self,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &AnyInput,
    ) -> CallReport<AnyAnswer> {
        self.call_any_with(CallOptions::default(), module, limits, host, context, input).await
    }

    pub(crate) async fn call_json_with(
        &self,
        options: CallOptions<'_>,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &AnyInput,
    ) -> CallReport<Value> {
        self.call_any_with(options, module, limits, host, context, input).await.map(|answer| answer.to_json())
    }

    async fn call_any_with(
        &self,
        options: CallOptions<'_>,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &AnyInput,
    ) -> CallReport<AnyAnswer> {
        match input {
            AnyInput::Servers(it) => self.call_as::<RankServers>(options, module, limits, host, context, it).await,
            AnyInput::Worlds(it) => self.call_as::<RankWorlds>(options, module, limits, host, context, it).await,
            AnyInput::Line(it) => self.call_as::<FilterChat>(options, module, limits, host, context, it).await,
            AnyInput::Proposal(it) => {
                self.call_as::<ReviewPunishment>(options, module, limits, host, context, it).await
            }
            AnyInput::Event(it) => self.call_as::<HandleEvent>(options, module, limits, host, context, it).await,
            AnyInput::Request(it) => self.call_as::<AnswerRequest>(options, module, limits, host, context, it).await,
            AnyInput::Tick(it) => self.call_as::<RunTick>(options, module, limits, host, context, it).await,
            AnyInput::Timer(it) => self.call_as::<FireTimer>(options, module, limits, host, context, it).await,
            AnyInput::Attempt(it) => self.call_as::<CheckLogin>(options, module, limits, host, context, it).await,
            AnyInput::Change(it) => self.call_as::<ReviewChange>(options, module, limits, host, context, it).await,
            AnyInput::Ticket(it) => self.call_as::<PlaceTicket>(options, module, limits, host, context, it).await,
        }
    }

    async fn call_as<O: Operation>(
        &self,
        options: CallOptions<'_>,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &Arc<O::Input>,
    ) -> CallReport<AnyAnswer> {
        self.call_with::<O>(options, module, limits, host, context, Arc::clone(input)).await.map(Into::into)
    }
}
