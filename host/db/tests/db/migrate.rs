//! The embedded schema.

use std::fs;

use hub_db::Db;
use tokio::task::JoinSet;

use crate::common::on_both;

fn names(backend: &str) -> Vec<String> {
    let folder = format!("{}/../../migrations/{backend}", env!("CARGO_MANIFEST_DIR"));
    let paths = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn both_databases_have_the_same_history() {
    assert_eq!(names("sqlite"), names("postgres"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_may_migrate_at_once_and_again() {
    on_both(async |fixture| {
        let mut tasks = JoinSet::new();
        for _ in 0..6 {
            let config = fixture.config.clone();
            tasks.spawn(async move {
                let db = Db::connect(&config).await.unwrap();
                db.migrate().await.unwrap();
                db.close().await;
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        fixture.db.migrate().await.unwrap();
        let (applied,): (i64,) =
            fixture.db.query("SELECT COUNT(*) FROM _sqlx_migrations WHERE success").one().await.unwrap();
        assert_eq!(usize::try_from(applied).unwrap(), names("sqlite").len());
    })
    .await;
}
