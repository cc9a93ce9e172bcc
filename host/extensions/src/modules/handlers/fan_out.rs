//! Queues events from the outbox for the handlers that subscribe to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};
use hub_sandbox::manifest::Order;
use serde_json::Value;

use crate::app::App;
use crate::events::{EventConsumer, MODULE_SUBSCRIBER, SubscribedEvent};
use crate::limits;
use crate::modules::HANDLER_BACKLOG;
use crate::modules::Modules;
use crate::modules::handlers::backlog::{Backlog, MAX_BYTES};
use crate::modules::handlers::model::{
    DeadLetterRow, EventCause, HandlerRow, LetterKind, MAX_DEPTH, QueuedEvent, event_id, order_by_name,
};
use crate::modules::handlers::registry::{Handlers, NetworkHandlers};
use crate::modules::handlers::store::{cascades, dead_letters, handlers as store, queue};
use crate::modules::handlers::subject::{Subject, withhold};
use crate::values::NetworkId;

/// Consumer of the outbox that queues events for handlers.
pub(in crate::modules) struct FanOut;

impl EventConsumer for FanOut {
    fn serves(&self, subscriber: &str) -> bool {
        subscriber.starts_with(MODULE_SUBSCRIBER)
    }

    fn take<'a>(
        &'a self,
        app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        events: &'a [SubscribedEvent],
    ) -> BoxFuture<'a, Result<(), Error>> {
        take(app, tx, network, events).boxed()
    }
}

/// An event and the modules that subscribe to it.
struct Wanted<'a> {
    event: &'a SubscribedEvent,
    modules: Vec<&'a str>,
}

async fn take(app: &App, tx: &mut Tx, network: NetworkId, events: &[SubscribedEvent]) -> Result<(), Error> {
    let mut by_id: BTreeMap<i64, Wanted<'_>> = BTreeMap::new();
    for event in events {
        let module = event.subscriber.trim_start_matches(MODULE_SUBSCRIBER);
        by_id.entry(event.id).or_insert_with(|| Wanted { event, modules: vec![] }).modules.push(module);
    }
    let handlers = app.state::<Handlers>().network(network);
    let count = i64::try_from(by_id.len()).unwrap_or(i64::MAX);
    let mut seq = store::take_seqs(tx, network, count).await? - count;
    // After the numbers, whose row a change of the handlers locks, too: events after its barrier have the new order.
    let rows = store::list(&mut *tx, network).await?;
    let rows: HashMap<_, _> = rows.iter().map(|row| (row.module.as_str(), row)).collect();
    let (mut queued, mut places, mut caused) = (vec![], vec![], BTreeMap::<String, i64>::new());
    for wanted in by_id.values() {
        seq += 1;
        let Fanned { event, places: of_event } = fan(app, network, &handlers, wanted, &rows, seq);
        if event.depth > 0 {
            *caused.entry(event.root_id.clone()).or_default() += 1;
        }
        if !of_event.is_empty() {
            places.extend(of_event.into_iter().map(|(module, key)| (module, event.seq, key)));
            queued.push(event);
        }
    }
    for (root, events) in &caused {
        cascades::add(tx, network, root, (0, *events), app.clock.now()).await?;
    }
    if queued.is_empty() {
        return Ok(());
    }
    bound(app, tx, network, &handlers, &mut queued, &mut places).await?;
    queue::insert_events(tx, network, &queued).await?;
    queue::insert_rows(tx, network, &places, app.clock.now()).await?;
    let waking = app.clone();
    tx.on_end(move || waking.state::<Handlers>().wake_network(network));
    Ok(())
}

/// An event, and the modules and keys that it is queued for.
struct Fanned {
    event: QueuedEvent,
    places: Vec<(String, String)>,
}

fn fan(
    app: &App,
    network: NetworkId,
    handlers: &Arc<NetworkHandlers>,
    wanted: &Wanted<'_>,
    rows: &HashMap<&str, &HandlerRow>,
    seq: i64,
) -> Fanned {
    let SubscribedEvent { name, data, created_at: at, cause, .. } = wanted.event;
    let mut value: Value = serde_json::from_str(data).unwrap_or_default();
    let subject = Subject::of(name, &value);
    let data = if withhold(&mut value) { value.to_string() } else { data.clone() };
    let parsed = cause.as_deref().and_then(|text| serde_json::from_str::<EventCause>(text).ok());
    let depth = parsed.as_ref().map_or(0, |cause| cause.depth);
    let root_id = parsed.as_ref().map_or_else(|| event_id(*at, seq), |cause| cause.root_id.clone());
    let named = || value.get("module").and_then(Value::as_str);
    let mut server = subject.server.clone();
    let mut places = vec![];
    for module in &wanted.modules {
        let Some(row) = rows.get(module) else { continue };
        let is_own = match name.as_str() {
            "MODULE_EVENT" => !row.handles_own && named() == Some(module),
            "MODULE_DEAD_LETTER" | "MODULE_LAGGING" => named() == Some(module),
            _ => false,
        };
        if is_own {
            continue;
        }
        if depth > MAX_DEPTH {
            handlers.module(module).count(|counts| counts.too_deep += 1);
            tracing::debug!(%network, module, event = name, depth, "an event is too deep for modules");
            continue;
        }
        let order = order_by_name(&row.event_order);
        if order == Order::Server && server.is_none() {
            let of_player = |player| app.state::<Modules>().effects.server_of(app, network, player);
            server = subject.player.and_then(of_player);
        }
        places.push(((*module).to_owned(), subject.key(order, server.as_deref()).replace('\0', "\u{fffd}")));
    }
    let event = QueuedEvent {
        seq,
        name: name.clone(),
        data,
        at: *at,
        player_uuid: subject.player,
        player_name: subject.player_name,
        server_id: server,
        depth,
        root_id,
        cause: cause.clone(),
    };
    Fanned { event, places }
}

/// Keeps the backlog within its bound: beyond it the events of the fullest handlers become one dead letter each.
async fn bound(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    handlers: &Arc<NetworkHandlers>,
    queued: &mut Vec<QueuedEvent>,
    places: &mut Vec<(String, i64, String)>,
) -> Result<(), Error> {
    let known = handlers.backlog.lock().clone();
    let mut backlog = match known {
        Some(backlog) => backlog,
        None => Backlog::read(&app.clock, tx, network).await?,
    };
    let max_rows = limits::bound(app, HANDLER_BACKLOG);
    if backlog.is_full(max_rows) && backlog.is_old(&app.clock) {
        // Other handlers may have been waiting for the same events.
        backlog = Backlog::read(&app.clock, tx, network).await?;
    }
    if backlog.is_full(max_rows) {
        if backlog.fullest.is_none() {
            backlog.fullest = fullest(tx, network).await?;
        }
        if let Some(module) = &backlog.fullest {
            overflow(app, tx, network, handlers, module, queued, places).await?;
            places.retain(|(of, ..)| of != module);
            queued.retain(|event| places.iter().any(|(_, seq, _)| *seq == event.seq));
        }
    } else {
        for module in places.iter().map(|(module, ..)| module.clone()).collect::<BTreeSet<_>>() {
            *handlers.module(&module).overflow.lock() = None;
        }
    }
    let bytes: usize = queued.iter().map(|event| event.data.len()).sum();
    backlog.rows += i64::try_from(places.len()).unwrap_or(0);
    backlog.bytes = (backlog.bytes + i64::try_from(bytes).unwrap_or(0)).min(MAX_BYTES * 2);
    *handlers.backlog.lock() = Some(backlog);
    Ok(())
}

/// Module for which the most events wait.
async fn fullest(tx: &mut Tx, network: NetworkId) -> Result<Option<String>, Error> {
    let mut fullest = None;
    for row in store::list(&mut *tx, network).await? {
        let waiting = queue::count(&mut *tx, network, &row.module).await?;
        if fullest.as_ref().is_none_or(|(_, most)| waiting > *most) {
            fullest = Some((row.module, waiting));
        }
    }
    Ok(fullest.map(|(module, _)| module))
}

async fn overflow(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    handlers: &Arc<NetworkHandlers>,
    module: &str,
    queued: &[QueuedEvent],
    places: &[(String, i64, String)],
) -> Result<(), Error> {
    let is_its = |event: &&QueuedEvent| places.iter().any(|(of, seq, _)| of == module && *seq == event.seq);
    let lost: Vec<_> = queued.iter().filter(is_its).collect();
    let (Some(first), Some(last)) = (lost.first(), lost.last()) else { return Ok(()) };
    let (now, number) = (app.clock.now(), lost.len() as i64);
    let figures = handlers.module(module);
    let open = *figures.overflow.lock();
    if let Some(id) = open
        && dead_letters::extend_overflow(tx, network, (module, id), (&last.id(), number), now).await?
    {
        return Ok(());
    }
    let letter = DeadLetterRow {
        module: module.to_owned(),
        id: first.seq,
        version: 0,
        kind: LetterKind::Overflow.as_str().to_owned(),
        event_key: "network".to_owned(),
        first_at: now,
        at: now,
        attempts: 0,
        code: "overflow".to_owned(),
        message: "too many events waited for the network's handlers".to_owned(),
        effect: None,
        reason: None,
        call_id: String::new(),
        seq: first.seq,
        name: None,
        data: None,
        event_at: None,
        player_uuid: None,
        player_name: None,
        server_id: None,
        depth: 0,
        root_id: String::new(),
        cause: None,
        first_id: Some(first.id()),
        last_id: Some(last.id()),
        lost: number,
    };
    dead_letters::insert(tx, network, &letter).await?;
    *figures.overflow.lock() = Some(letter.id);
    Ok(())
}
