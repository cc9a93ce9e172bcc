//! A fresh database for each test.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use hub::config::Settings;
use hub_db::{Config, Db};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tempfile::TempDir;
use tokio::sync::OnceCell;

#[derive(Clone)]
pub struct Backend {
    folder: Arc<TempDir>,
    postgres: Option<String>,
    /// Kept as long as a test needs the database.
    _database: Option<Arc<Database>>,
}

/// Databases that no test needs any more: a thousand of them would fill 10 GB.
static LEFT: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Database {
    name: String,
}

impl Drop for Database {
    fn drop(&mut self) {
        LEFT.lock().unwrap().push(std::mem::take(&mut self.name));
    }
}

impl Backend {
    pub fn sqlite() -> Self {
        Self { folder: Arc::new(TempDir::new().unwrap()), postgres: None, _database: None }
    }

    pub async fn postgres() -> Self {
        Self::sqlite().with_postgres().await
    }

    /// A PostgreSQL that sorts texts by English rules, unless a column specifies otherwise.
    pub async fn postgres_in_english() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("it_{}_en_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut server = PgConnection::connect(&server_url()).await.unwrap();
        let create = format!("CREATE DATABASE {name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'");
        server.execute(AssertSqlSafe(create)).await.unwrap();
        let db = Db::connect(&Config::postgres(database_url(&name))).await.unwrap();
        db.migrate().await.unwrap();
        db.close().await;
        Self { postgres: Some(database_url(&name)), ..Self::sqlite() }
    }

    /// A fresh one of the same kind.
    pub async fn like(other: &Self) -> Self {
        if other.postgres.is_some() { Self::postgres().await } else { Self::sqlite() }
    }

    /// A PostgreSQL beside the same data folder.
    pub async fn with_postgres(&self) -> Self {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let template = TEMPLATE.get_or_init(create_template).await;
        let name = format!("{template}_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut server = PgConnection::connect(&server_url()).await.unwrap();
        // Half the processor time of the other strategy, which logs each page.
        let create = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY");
        server.execute(AssertSqlSafe(create)).await.unwrap();
        let left = std::mem::take(&mut *LEFT.lock().unwrap());
        for name in left {
            server.execute(AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)"))).await.unwrap();
        }
        let url = database_url(&name);
        Self { folder: Arc::clone(&self.folder), postgres: Some(url), _database: Some(Arc::new(Database { name })) }
    }

    /// The command line options for it.
    pub fn options(&self) -> Vec<String> {
        let mut options = vec!["--data".to_owned(), self.data().to_str().unwrap().to_owned()];
        if let Some(url) = &self.postgres {
            options.extend(["--database".to_owned(), url.clone()]);
        }
        options
    }

    pub fn is_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// A PostgreSQL behind a pooler that gives every transaction another session.
    pub async fn pgbouncer() -> Self {
        let direct = Self::postgres().await;
        let pooler = std::env::var("HUB_TEST_PGBOUNCER")
            .expect("HUB_TEST_PGBOUNCER must be the URL of a PgBouncer; scripts/test starts one");
        let postgres =
            direct.postgres.as_ref().map(|url| format!("{pooler}/{}?pgbouncer=true", url.rsplit_once('/').unwrap().1));
        Self { postgres, ..direct }
    }

    /// Puts a copy of one migrated database where the hub's own would be made: a schema costs more than most tests do.
    pub async fn prepare(&self) {
        static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
        let path = self.data().join("hub.db");
        if self.postgres.is_some() || path.exists() {
            return;
        }
        let template = TEMPLATE.get_or_init(sqlite_template).await;
        std::fs::write(path, template).unwrap();
    }

    pub fn apply(&self, settings: &mut Settings) {
        self.folder.path().clone_into(&mut settings.data);
        settings.database.clone_from(&self.postgres);
    }
}

/// A database with all migrations applied, to be copied.
async fn create_template() -> String {
    let name = format!("it_{}", std::process::id());
    let mut server = PgConnection::connect(&server_url()).await.unwrap();
    server.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await.unwrap();
    server.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    let db = Db::connect(&Config::postgres(database_url(&name))).await.unwrap();
    db.migrate().await.unwrap();
    db.close().await;
    name
}

async fn sqlite_template() -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("hub.db");
    let db = Db::connect(&Config::Sqlite { path: path.clone() }).await.unwrap();
    db.migrate().await.unwrap();
    db.close().await;
    std::fs::read(path).unwrap()
}

fn server_url() -> String {
    std::env::var("HUB_TEST_POSTGRES")
        .expect("HUB_TEST_POSTGRES must be the URL of a PostgreSQL; scripts/test starts one")
}

fn database_url(name: &str) -> String {
    let url = server_url();
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}
