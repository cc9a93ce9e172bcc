//! Rows of one network that the database refuses, as a broken disk page or index would.

use hub::values::NetworkId;
use sqlx::Executor as _;

use super::Hub;

impl Hub {
    /// Makes an `INSERT ON table` or `DELETE ON table` of this network's rows fail.
    pub async fn refuse(&self, change: &str, network: NetworkId) {
        let row = if change.starts_with("DELETE") { "OLD" } else { "NEW" };
        let sql = if self.backend.is_postgres() {
            format!(
                "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
                 CREATE TRIGGER refused BEFORE {change} FOR EACH ROW WHEN ({row}.network_id = '{network}')
                 EXECUTE FUNCTION refused()"
            )
        } else {
            let id = network.to_string().replace('-', "");
            format!(
                "CREATE TRIGGER refused BEFORE {change} WHEN {row}.network_id = X'{id}'
                 BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        };
        self.execute(sql).await;
    }

    /// Ends that.
    pub async fn refuse_no_more(&self, table: &str) {
        let of_table = if self.backend.is_postgres() { format!(" ON {table}") } else { String::new() };
        self.execute(format!("DROP TRIGGER refused{of_table}")).await;
    }

    async fn execute(&self, sql: String) {
        let sql: &str = sql.leak();
        if self.backend.is_postgres() {
            self.database().await.execute(sql).await.unwrap();
        } else {
            self.app.db.write(sql).execute().await.unwrap();
        }
    }
}
