//! Counted statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hub_db::{Cell, Column, ColumnType, Error, Table, WholeTable, count_statements};
use uuid::Uuid;

use crate::common::on_both;

const COLUMNS: [Column; 2] = [
    Column { name: "id", column_type: ColumnType::Integer, nullable: true },
    Column { name: "note", column_type: ColumnType::Text, nullable: true },
];
const NOTES: Table = Table { name: "notes", key_columns: 1, columns: &COLUMNS };

fn row(id: i64, note: &str) -> Vec<Cell> {
    vec![Cell::Integer(id), Cell::Text(note.to_owned())]
}

#[tokio::test]
async fn every_kind_of_statement_is_counted_once() {
    on_both(async |fixture| {
        let db = &fixture.db;
        let create = "CREATE TABLE notes (network_id UUID, id BIGINT, note TEXT, PRIMARY KEY (network_id, id))";
        fixture.set_up(&[create]).await;
        let network = Uuid::from_u128(1);
        let (counter, whole) = (Arc::new(AtomicU32::new(0)), WholeTable::from(&NOTES));
        let work = async {
            let changed: Result<(), Error> = db
                .transaction(async |mut tx| {
                    tx.insert_rows(&NOTES, network, &[row(1, "a"), row(2, "b")]).await?;
                    let found = tx.lock_row(&NOTES, network, &[Cell::Integer(1)]).await?;
                    assert_eq!(found, Some(row(1, "a")));
                    assert_eq!(tx.update_row(&NOTES, network, &row(1, "a"), &row(1, "c")).await?, 1);
                    assert_eq!(tx.delete_row(&NOTES, network, &[Cell::Integer(2)]).await?, 1);
                    let whole_row = [vec![Cell::Uuid(network)], row(3, "d")].concat();
                    tx.insert_missing_rows(&whole, &[whole_row]).await?;
                    tx.query("SELECT id FROM notes").all::<(i64,)>().await?;
                    Ok(())
                })
                .await;
            changed.unwrap();
            assert_eq!(db.rows_after(&NOTES, network, None, 9).await.unwrap(), [row(1, "c"), row(3, "d")]);
            db.query("SELECT id FROM notes").all::<(i64,)>().await.unwrap();
            db.write("DELETE FROM notes WHERE id = 3").execute().await.unwrap();
        };
        count_statements(Arc::clone(&counter), work).await;
        assert_eq!(counter.load(Ordering::Relaxed), 9);
    })
    .await;
}
