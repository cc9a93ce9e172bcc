//! Approximate memory of calls, to bound it.

use super::answer::Answered;
use super::any::{AnyAnswer, AnyInput};
use super::candidates::{Candidate, Candidates};
use super::handle::Handled;
use crate::contract::effects::{Action, Effect};
use crate::contract::endpoints::Request;
use crate::contract::events::{Event, Failure};
use crate::contract::schedules::{Tick, Timer};
use crate::contract::state::{StateChanges, StateEntry, StateRead};
use crate::contract::{PlayerRef, chat, economy, login, punishment, queue};
use crate::host::{HostAnswer, HostCall};
use crate::report::CallReport;

fn player(player: &PlayerRef) -> usize {
    size_of_val(player) + player.uuid.len() + player.name.len()
}

fn text(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

impl AnyInput {
    /// Approximate number of bytes that it keeps alive.
    pub fn approx_bytes(&self) -> usize {
        match self {
            Self::Servers(input) => candidates(input),
            Self::Worlds(input) => candidates(input),
            Self::Line(line) => {
                let chat::Line { player, message, server_id, server_type, world, rank } = &**line;
                let texts = [&player.uuid, &player.name, message, server_id, server_type];
                size_of::<chat::Line>()
                    + texts.map(String::len).iter().sum::<usize>()
                    + text(world.as_ref())
                    + text(rank.as_ref())
            }
            Self::Proposal(it) => {
                let texts = [&it.player_uuid, &it.player_name, &it.issuer_uuid, &it.issuer_name];
                let texts = texts.iter().map(|it| text(it.as_ref())).sum::<usize>();
                size_of::<punishment::Proposal>() + texts + it.terms.reason.len()
            }
            Self::Event(it) => {
                let optional = [&it.player_uuid, &it.player_name, &it.server_id];
                let optional = optional.iter().map(|it| text(it.as_ref())).sum::<usize>();
                let texts = [&it.id, &it.kind, &it.key, &it.data];
                size_of::<Event>() + optional + texts.map(String::len).iter().sum::<usize>()
            }
            Self::Request(it) => {
                let pairs = it.parameters.iter().chain(&it.query).chain(&it.headers);
                let pairs = pairs.map(|(name, value)| 48 + name.len() + value.len()).sum::<usize>();
                let texts = [&it.endpoint, &it.method, &it.path, &it.caller.id, &it.address_hash];
                let servers = it.caller.servers.iter().map(|server| 24 + server.len()).sum::<usize>();
                let optional = text(it.dedupe.as_ref()) + text(it.address.as_ref());
                let texts = texts.map(String::len).iter().sum::<usize>();
                size_of::<Request>() + pairs + texts + servers + optional + it.body.len()
            }
            Self::Tick(it) => size_of::<Tick>() + it.schedule.len(),
            Self::Timer(it) => size_of::<Timer>() + it.key.len() + it.payload.len(),
            Self::Attempt(it) => {
                let texts = it.region.len() + it.server_id.len() + text(it.ip_hash.as_ref());
                size_of::<login::Attempt>() + player(&it.player) + texts
            }
            Self::Change(it) => {
                let part = |part: &economy::Operation| {
                    size_of_val(part) + part.owner_type.len() + part.owner_key.len() + part.currency.len()
                };
                let parts = it.operations.iter().map(part).sum::<usize>();
                size_of::<economy::Change>() + parts + text(it.reason.as_ref()) + text(it.server_id.as_ref())
            }
            Self::Ticket(it) => {
                let players = std::iter::once(&it.player).chain(&it.members).map(player).sum::<usize>();
                let texts = it.server_type.len() + text(it.world_type.as_ref()) + text(it.region.as_ref());
                size_of::<queue::Ticket>() + players + texts
            }
        }
    }
}

fn candidates<C: Candidate>(input: &Candidates<C>) -> usize {
    let request = input.request();
    let texts = [&request.player_uuid, &request.player_name, &request.affinity_owner_id, &request.world_type];
    let request = size_of_val(request) + texts.iter().map(|it| text(it.as_ref())).sum::<usize>();
    request + size_of_val(input.candidates()) + input.texts().bytes()
}

impl CallReport<AnyAnswer> {
    /// Approximate number of bytes that it takes.
    pub fn approx_bytes(&self) -> usize {
        let logs: usize = self.logs.iter().map(|line| size_of_val(line) + line.message.len()).sum();
        let host_calls: usize =
            self.host_calls.iter().map(|record| host_call(&record.call) + host_answer(&record.answer)).sum();
        size_of::<Self>() + logs + host_calls + self.result.as_ref().map_or(1024, answer)
    }
}

fn answer(answer: &AnyAnswer) -> usize {
    match answer {
        AnyAnswer::Ranked(Ok(order)) => size_of_val(order.as_slice()),
        AnyAnswer::Ranked(Err(refusal)) => refusal.reason.len(),
        // Bounded by the contract to about this.
        AnyAnswer::Chat(_)
        | AnyAnswer::Review(_)
        | AnyAnswer::Login(_)
        | AnyAnswer::Economy(_)
        | AnyAnswer::Queue(_) => 256,
        AnyAnswer::Handled(Handled { answer: Ok(effects), state }) => effects_bytes(effects) + state_bytes(state),
        AnyAnswer::Answered(Answered { answer: Ok(response), state }) => {
            let headers = response.headers.iter().map(|(name, value)| 48 + name.len() + value.len());
            let headers = headers.sum::<usize>();
            headers + response.body.len() + effects_bytes(&response.effects) + state_bytes(state)
        }
        AnyAnswer::Handled(Handled { answer: Err(failure), state })
        | AnyAnswer::Answered(Answered { answer: Err(failure), state }) => {
            Failure::reason(failure).len() + state_bytes(state)
        }
    }
}

fn effects_bytes(effects: &[Effect]) -> usize {
    effects.iter().map(effect_bytes).sum()
}

fn state_bytes(state: &StateChanges) -> usize {
    let reads = state.reads.iter().map(|read| match read {
        StateRead::Key { key, value } => key.len() + text(value.as_ref()),
        StateRead::List { entries, .. } => entries_bytes(entries),
    });
    let writes = state.writes.iter().map(|write| size_of_val(write) + write.bytes());
    reads.map(|bytes| size_of::<StateRead>() + bytes).sum::<usize>() + writes.sum::<usize>()
}

fn effect_bytes(effect: &Effect) -> usize {
    let long = match &effect.action {
        Action::PutPlayerData(it) => it.data.len(),
        Action::PutDocument(it) => it.document.len() + text(it.expected.as_ref()),
        Action::DeleteDocument(it) => text(it.expected.as_ref()),
        Action::Transaction(it) => it.operations.len() * 256,
        Action::Emit(it) => it.payload.len(),
        Action::Deliver(it) => it.payload.len(),
        Action::CallWebhook(it) => it.payload.len(),
        Action::SetTimer(it) => it.payload.len(),
        // Their texts are short.
        _ => 256,
    };
    size_of::<Effect>() + 128 + long
}

fn entries_bytes(entries: &[StateEntry]) -> usize {
    entries.iter().map(|entry| size_of_val(entry) + entry.key.len() + entry.value.len()).sum()
}

fn host_call(call: &HostCall) -> usize {
    let texts = match call {
        HostCall::StateGet { keys } => keys.iter().map(|key| key.len() + 24).sum(),
        HostCall::StoreSet { key, value, .. } => key.len() + value.len(),
        HostCall::Statistics { players, .. } => players.iter().map(|player| player.len() + 24).sum(),
        // Their arguments are short.
        _ => 128,
    };
    size_of::<HostCall>() + texts
}

fn host_answer<E>(answer: &Result<HostAnswer, E>) -> usize {
    let list = match answer {
        Ok(HostAnswer::Value(value)) => text(value.as_ref()),
        Ok(HostAnswer::Values(values)) => values.iter().map(|value| 24 + text(value.as_ref())).sum(),
        Ok(HostAnswer::Entries(entries)) => entries_bytes(entries),
        Ok(HostAnswer::Statistics(values)) => size_of_val(values.as_slice()),
        Ok(HostAnswer::Punishments(list)) => list.iter().map(|it| size_of_val(it) + it.reason.len() + 32).sum(),
        Ok(HostAnswer::Players(players)) => players.iter().map(|player| player.len() + 24).sum(),
        _ => 32,
    };
    size_of::<HostAnswer>() + list
}
