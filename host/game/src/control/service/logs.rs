//! Logs uploaded by agents.

use crate::app::App;
use crate::control::Control;
use crate::control::model::{LogFilter, LogLine, NewLogLine};
use crate::control::service::error::ControlError;
use crate::control::store::logs as store;
use crate::http::answer::json_size;
use crate::http::page::{Limit, Page, PageNumber};
use crate::limits::{Limit as NetworkLimit, Usage, check_rows};
use crate::presence;
use crate::values::{Identifier, NetworkId};

/// Number of log lines per server that count; older ones may be deleted.
const MAX_LINES: i64 = 5_000;
/// Old lines are deleted whenever a log has grown by this much.
const PRUNE_EVERY: i64 = 1_000;
/// A longer line is cut, in bytes; as JSON it has at most twice as many.
const MAX_LINE_BYTES: usize = 8_192;

/// Stores lines of a server's output and passes them to its followers. Returns the number of lines.
pub(in crate::control) async fn append(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    mut lines: Vec<NewLogLine>,
) -> Result<i64, ControlError> {
    let accepted = lines.len() as i64;
    if lines.is_empty() {
        return Ok(0);
    }
    // Earlier lines would be deleted immediately.
    lines.drain(..lines.len().saturating_sub(MAX_LINES as usize));
    for line in &mut lines {
        cut(&mut line.text);
    }
    make_room(app, network, server).await?;
    let stored = lines.len() as i64;
    let last = app
        .db
        .transaction(async |mut tx| {
            let last = store::number_lines(&mut tx, network, server, accepted).await?;
            store::insert_lines(&mut tx, network, server, last - stored + 1, &lines).await?;
            if last / PRUNE_EVERY > (last - accepted) / PRUNE_EVERY {
                store::delete_lines(&mut tx, network, server, last - MAX_LINES).await?;
            }
            Ok::<_, hub_db::Error>(last)
        })
        .await?;
    app.state::<Control>().log_followers.publish(network, server, || {
        let numbered = lines.into_iter().zip(last - stored + 1..);
        numbered.map(|(line, seq)| LogLine { seq, at: line.at, stream: line.stream, text: line.text }).collect()
    });
    Ok(accepted)
}

/// Truncates a line so that a page of lines fits into a response: in JSON a control character takes six bytes.
fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_LINE_BYTES));
    if json_size(text) > 2 * MAX_LINE_BYTES {
        text.truncate(text.floor_char_boundary(MAX_LINE_BYTES / 3));
    }
}

/// Makes room for another server's log: deletes the log of the least recently seen server.
async fn make_room(app: &App, network: NetworkId, server: &Identifier) -> Result<(), ControlError> {
    let is_there = async { Ok(store::last_seq(&app.db, network, server).await?.is_some()) };
    match check_rows::<ControlError>(app, network, store::SERVER_LOGS, 1, is_there).await {
        Err(ControlError::Quota(_)) => {
            let deleted = app.db.transaction(async |mut tx| store::delete_oldest_log(&mut tx, network).await).await?;
            app.state::<Usage>().removed(network, NetworkLimit::ServerLogs, i64::from(deleted));
            Ok(())
        }
        checked => checked.map(drop),
    }
}

/// Page of the lines of the server's log that a filter matches, newest first.
pub(in crate::control) async fn recent(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    filter: &LogFilter,
    page: PageNumber,
    limit: Limit,
) -> Result<Page<LogLine>, ControlError> {
    let last = last_line(app, network, server).await?;
    let kept_after = last.saturating_sub(MAX_LINES).max(0);
    if !filter.is_empty() {
        // Over the lines that are kept, which are few.
        let between = (filter.after.unwrap_or(0).max(kept_after), filter.before.unwrap_or(i64::MAX));
        let place = (limit.0, page.offset(limit));
        let (items, total) = store::find_lines(&app.db, network, server, between, filter, place).await?;
        return Ok(Page::new(items, page, limit, total));
    }
    let newest = last.saturating_sub(page.offset(limit));
    let after = newest.saturating_sub(limit.0).max(kept_after);
    let items =
        if newest > after { store::lines_before(&app.db, network, server, after, newest).await? } else { vec![] };
    Ok(Page::new(items, page, limit, last - kept_after))
}

/// Number of the log's last line; 0 for an empty log.
pub(in crate::control) async fn last_line(
    app: &App,
    network: NetworkId,
    server: &Identifier,
) -> Result<i64, ControlError> {
    if let Some(last) = store::last_seq(&app.db, network, server).await? {
        return Ok(last);
    }
    let has_agent = app.state::<Control>().agents.report(network, server, app.clock.now()).is_some();
    if has_agent || presence::service::is_known_server(app, network, server).await? {
        Ok(0)
    } else {
        Err(ControlError::UnknownServer(server.clone()))
    }
}
