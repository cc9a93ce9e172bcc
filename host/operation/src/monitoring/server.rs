//! Serves the metrics at a separate address, only for the operator's network.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;

use crate::app::App;
use crate::background::every;
use crate::metric_recorder::MetricRecorder;
use crate::monitoring::Monitoring;
use crate::monitoring::collect::collect;

/// Interval of moving samples into histogram buckets, independent of scrapes.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Serves the metrics if an address is configured.
///
/// # Errors
/// Fails if it is impossible to listen there.
pub(super) async fn start(app: &App) -> anyhow::Result<()> {
    let (Some(address), Some(handle)) = (&app.settings.metrics, app.state::<MetricRecorder>().handle()) else {
        return Ok(());
    };
    let listener = TcpListener::bind(address.resolve("--metrics").await?).await;
    let listener = listener.map_err(|error| anyhow::anyhow!("cannot serve metrics at {address}: {error}"))?;
    let address = listener.local_addr()?;
    app.state::<Monitoring>().address.get_or_init(|| address);
    tracing::info!(%address, "metrics");
    let upkeep = handle.clone();
    every(app, UPKEEP_INTERVAL, "keep metrics", move |_| {
        let upkeep = upkeep.clone();
        async move {
            upkeep.run_upkeep();
            Ok::<_, Infallible>(())
        }
    });
    let router = Router::new().route("/metrics", get(render)).with_state((app.clone(), handle));
    app.spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::warn!(%error, "metrics are no longer served");
        }
    });
    Ok(())
}

async fn render(State((app, handle)): State<(App, PrometheusHandle)>) -> impl IntoResponse {
    let of_networks = collect(&app).await;
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], handle.render() + &of_networks)
}
