//! `/api/manage/imports`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{NetworkManage, Unbound};
use crate::blobs::{Bytes, Upload};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::imports::model::{Import, ImportFailure, ImportKind, ImportOptions, ImportState, Scopes};
use crate::imports::record::Category;
use crate::imports::report::{Counts, Note};
use crate::imports::service::{self, FILE_LIMIT};
use crate::values::{Identifier, Label, not_blank};

/// Routes of the component.
pub(super) fn router() -> Endpoints {
    endpoints![upload: any_node, list: any_node, get: any_node, cancel: any_node]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// Source of the file: `LUCKPERMS`, `LITEBANS`, `ADVANCEDBAN`, `LIBERTYBANS`, `BANMANAGER`, `VANILLA`, `BALANCES`,
    /// `PLAYERPOINTS` or `XCONOMY`, case-insensitive.
    #[param(required = true, example = "LUCKPERMS")]
    kind: Option<String>,
    /// Only report changes without writing (default `false`).
    #[serde(default)]
    #[param(required = false, example = true)]
    dry_run: bool,
    /// Currency of `BALANCES`, `PLAYERPOINTS` and `XCONOMY` (required there).
    #[param(value_type = Option<String>, example = "coins")]
    currency: Option<Identifier>,
    /// Prefix of a database's table names (default: the tool's, such as `litebans_`).
    #[param(value_type = Option<String>, example = "litebans_")]
    prefix: Option<Label>,
    /// Handling of `LITEBANS` and `LIBERTYBANS` punishments limited to single servers: `SKIP` (default) or
    /// `EVERYWHERE`.
    #[param(example = "SKIP")]
    scopes: Option<String>,
}

impl UploadQuery {
    fn read(self) -> Result<(ImportKind, bool, ImportOptions), ApiError> {
        let wrong = |field: &str, message: &str| ApiError::invalid(format!("In the query, `{field}`: {message}."));
        let kind = not_blank(self.kind.as_deref()).unwrap_or_default().parse();
        let kind: ImportKind = kind.map_err(|_| {
            wrong(
                "kind",
                "must be LUCKPERMS, LITEBANS, ADVANCEDBAN, LIBERTYBANS, BANMANAGER, VANILLA, BALANCES, PLAYERPOINTS or \
                 XCONOMY",
            )
        })?;
        let scopes = match not_blank(self.scopes.as_deref()) {
            Some(scopes) => scopes.parse().map_err(|_| wrong("scopes", "must be SKIP or EVERYWHERE"))?,
            None => Scopes::default(),
        };
        if kind.has_balances() && self.currency.is_none() {
            return Err(wrong("currency", "is required for balances"));
        }
        let prefix = self.prefix.map(|prefix| prefix.as_str().to_lowercase());
        let prefix = prefix.unwrap_or_else(|| kind.default_prefix().to_owned());
        Ok((kind, self.dry_run, ImportOptions { currency: self.currency, prefix, scopes }))
    }
}

/// An import.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Import)]
struct ImportBody {
    #[schema(example = "Zk3vXq0aP1mB7s2T")]
    import_id: String,
    kind: ImportKind,
    /// True if nothing is written.
    dry_run: bool,
    state: ImportState,
    /// Number of processed records of the file.
    #[schema(example = 12_000)]
    done: i64,
    /// Number of records; null until the whole file was read once.
    #[schema(example = 110_000)]
    total: Option<i64>,
    /// Size of the file, which is stored until the import ends.
    #[schema(example = 4_821_300)]
    size_bytes: i64,
    /// Time of the upload.
    #[schema(example = 1_804_680_000_000_i64)]
    created_at: Millis,
    /// Key or person that uploaded it.
    #[schema(example = "4fTq0ZkX91ab")]
    created_by: String,
    started_at: Option<Millis>,
    finished_at: Option<Millis>,
    /// Reason for the failure.
    error: Option<ImportFailure>,
    /// Results of the processed records, or their forecast.
    report: ReportBody,
}

/// Results of the processed records, or their forecast.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportReport)]
struct ReportBody {
    /// Number of records of each category.
    counts: Vec<CountsBody>,
    /// Differences and records that are not imported; the first 200, and those on whole tables. Omitted in lists of
    /// imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    notes: Option<Vec<Note>>,
    /// Number of further notes.
    #[schema(example = 0)]
    more_notes: i64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportCategoryCounts)]
struct CountsBody {
    category: Category,
    #[serde(flatten)]
    counts: Counts,
}

impl ImportBody {
    fn new(import: Import, with_notes: bool) -> Self {
        let report = import.report;
        let counts = report.counts.into_iter().map(|(category, counts)| CountsBody { category, counts }).collect();
        let notes = with_notes.then_some(report.notes);
        Self {
            import_id: import.id,
            kind: import.kind,
            dry_run: import.dry_run,
            state: import.state,
            done: import.done,
            total: import.total,
            size_bytes: import.file_size,
            created_at: import.created_at,
            created_by: import.key.0,
            started_at: import.started_at,
            finished_at: import.finished_at,
            error: import.failure,
            report: ReportBody { counts, notes, more_notes: report.more_notes },
        }
    }
}

/// Import a file from another tool
///
/// The file is first read completely: an invalid one is refused as a whole, with the line in `error`. It is then
/// written in the background; get the import to see its progress. Previously imported records are recognised, so that
/// repeating an import of a file changes nothing. With `dryRun` nothing is written, and the report is a forecast.
///
/// Beside `network:manage` it needs the scope of what it writes: `permissions:write` for `LUCKPERMS`, `economy:write` for
/// balances, `punishments:write` for all others; or `plugin`.
#[utoipa::path(post, path = "/api/manage/imports", operation_id = "create_import", tag = "Imports",
    security(("apiKey" = ["network:manage"])), params(UploadQuery),
    request_body(content = Bytes, content_type = "application/octet-stream", description = "LuckPerms' export (`/lp export`), \
        the database of a plugin (a dump by mysqldump, Adminer, phpMyAdmin, pg_dump, sqlite3 or H2's SCRIPT, or the SQLite \
        file), a list of the game server, EssentialsX' folder `userdata` as a ZIP archive, or a table with the columns \
        `uuid` and `balance`; all but archives and SQLite files also packed with gzip"),
    responses((status = 201, body = ImportBody, description = "The import is queued"),
        (status = 409, body = ErrorBody, description = "Another import of the network is running"),
        (status = 503, body = ErrorBody, description = "The hub's storage is full")))]
async fn upload(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Query(query): Query<UploadQuery>,
    upload: Upload<FILE_LIMIT>,
) -> Result<(StatusCode, Json<ImportBody>), ApiError> {
    let read = query.read()?;
    caller.require(&[read.0.scope()])?;
    let import = service::create(&app, caller, read, upload).await?;
    Ok((StatusCode::CREATED, Json(ImportBody::new(import, true))))
}

/// List the network's imports
///
/// Newest first, without notes.
#[utoipa::path(get, path = "/api/manage/imports", operation_id = "list_imports", tag = "Imports",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<ImportBody>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ImportBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::list(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(|import| ImportBody::new(import, false))))
}

/// Show an import's progress
#[utoipa::path(get, path = "/api/manage/imports/{importId}", operation_id = "get_import", tag = "Imports",
    security(("apiKey" = ["network:manage"])), params(("importId" = String, Path)),
    responses((status = 200, body = ImportBody), (status = 404, body = ErrorBody, description = "No such import")))]
async fn get(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<ImportBody>, ApiError> {
    Ok(Json(ImportBody::new(service::get(&app, caller.network, &id).await?, true)))
}

/// Cancel an import
///
/// The import ends at once, or after the batch that is being written; written records stay. An import that has already ended is returned
/// unchanged.
#[utoipa::path(post, path = "/api/manage/imports/{importId}/cancel", operation_id = "cancel_import", tag = "Imports",
    security(("apiKey" = ["network:manage"])), params(("importId" = String, Path)),
    responses((status = 200, body = ImportBody), (status = 404, body = ErrorBody, description = "No such import")))]
async fn cancel(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<ImportBody>, ApiError> {
    Ok(Json(ImportBody::new(service::cancel(&app, &caller, &id).await?, true)))
}
