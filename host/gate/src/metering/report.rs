//! Reports closed hours to the operator's billing: one CloudEvent per row by HTTP POST, in order.
//!
//! The position is in the database: after a kill the hub repeats the last row, which the receiver recognises by
//! `source` and `id`.

use std::time::Duration;

use hub_db::Error;
use jiff::Timestamp;
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use thiserror::Error as ThisError;

use crate::app::App;
use crate::clock::Millis;
use crate::http_client;
use crate::metering::routes::UsageHour;
use crate::metering::store::progress::{self, Progress, Work};
use crate::metering::store::read::{self, HourRow};
use crate::metering::{HOUR, Metering};

const INTERVAL: Duration = Duration::from_secs(5);
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_mins(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which the claim of a dead node lapses: longer than one report takes.
const CLAIM: Millis = 30_000;
/// Rows read at once.
const BATCH: i64 = 100;
const EVENT_TYPE: &str = "network-hub.usage.hour.v1";

/// Reason for an hour that was not reported.
#[derive(Debug, ThisError)]
enum ReportError {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Error),
    /// The receiver could not be reached, or did not answer.
    #[error("{0}")]
    Unreachable(reqwest::Error),
    /// The receiver refused the report.
    #[error("the receiver answered {0}")]
    Refused(reqwest::StatusCode),
}

/// Destination of reports.
struct Sink {
    client: Client,
    url: String,
    authorization: Option<String>,
    node: String,
}

/// Starts reporting if the operator named a receiver.
pub(super) fn start(app: &App) -> anyhow::Result<()> {
    let Some(url) = app.settings.usage_sink.clone() else { return Ok(()) };
    let client = http_client::builder()?.redirect(Policy::none()).timeout(TIMEOUT).build()?;
    let authorization = app.settings.usage_sink_token.as_ref().map(|token| format!("Bearer {token}"));
    app.spawn(run(app.clone(), client, url, authorization));
    Ok(())
}

async fn run(app: App, client: Client, url: String, authorization: Option<String>) {
    let node = app.state::<Metering>().unsent.lock().await.node().to_owned();
    let sink = Sink { client, url, authorization, node };
    let mut delay = FIRST_RETRY;
    loop {
        match sink.report(&app).await {
            Ok(true) => delay = FIRST_RETRY,
            Ok(false) => app.clock.sleep(INTERVAL).await,
            Err(error) => {
                tracing::warn!(%error, again_in_seconds = delay.as_secs(), "could not report usage");
                app.clock.sleep(delay).await;
                delay = (delay * 2).min(LAST_RETRY);
            }
        }
    }
}

impl Sink {
    /// Reports some due rows; false if there are none or another node reports them.
    async fn report(&self, app: &App) -> Result<bool, ReportError> {
        let now = app.clock.now();
        let claimed = progress::claim(&app.db, Work::Report, &self.node, now, now.saturating_add(CLAIM)).await?;
        let Some(Progress { hour, last_network }) = claimed else { return Ok(false) };
        let closed = progress::reached(&app.db, Work::Close).await?.hour;
        let rows = read::next(&app.db, hour, last_network, closed, BATCH).await?;
        if rows.is_empty() {
            return Ok(false);
        }
        let source = progress::source(&app.db, &format!("urn:uuid:{}", app.ids.uuid())).await?;
        for row in rows {
            self.send(&event(&source, &row)).await?;
            let to = Progress { hour: row.hour, last_network: row.network_id };
            let until = app.clock.now().saturating_add(CLAIM);
            if !progress::advance(&app.db, Work::Report, &self.node, &to, until).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn send(&self, event: &Value) -> Result<(), ReportError> {
        let request = self.client.post(&self.url).header(CONTENT_TYPE, "application/cloudevents+json; charset=utf-8");
        let request = match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        };
        let sent = request.body(event.to_string()).send().await;
        // The URL may hold a password.
        let answer = sent.map_err(|error| ReportError::Unreachable(error.without_url()))?;
        if answer.status().is_success() { Ok(()) } else { Err(ReportError::Refused(answer.status())) }
    }
}

/// A row as a CloudEvent in structured JSON mode.
fn event(source: &str, row: &HourRow) -> Value {
    let end = Timestamp::from_millisecond(row.hour.saturating_add(HOUR)).unwrap_or_default();
    let mut data = json!(UsageHour::from(row));
    data["networkId"] = json!(row.network_id);
    json!({
        "specversion": "1.0",
        "type": EVENT_TYPE,
        "source": source,
        "id": format!("{}-{}", row.network_id, row.hour),
        "subject": row.network_id,
        "time": format!("{end:.0}"),
        "datacontenttype": "application/json",
        "data": data,
    })
}
