//! SQL of terms.

/// Statement that sets the ends of live rows that lie between `$2` and `$3` to `$1`: of a table with these keys, an end in
/// this column, and this condition for being live. Rows that another transaction changes, maybe renews, are left out.
#[macro_export]
macro_rules! renew_term {
    ($table:literal, $keys:literal, $end:literal, $live:literal) => {
        $crate::renew_term!($table, $keys, $end, $live, "")
    };
    ($table:literal, $keys:literal, $end:literal, $live:literal, $more:literal) => {
        ::hub_db::Sql {
            sqlite: $crate::renew_term!(@ $table, $keys, $end, $live, $more, ""),
            postgres: $crate::renew_term!(@ $table, $keys, $end, $live, $more, " FOR UPDATE SKIP LOCKED"),
        }
    };
    (@ $table:literal, $keys:literal, $end:literal, $live:literal, $more:literal, $lock:literal) => {
        // Crosses networks: the clock is set for all.
        concat!(
            "UPDATE ", $table, " SET ", $end, " = $1", $more, " WHERE (", $keys, ") IN (SELECT ", $keys, " FROM ", $table,
            " WHERE ", $live, " AND ", $end, " > $2 AND ", $end, " < $3", $lock, ")"
        )
    };
}
pub use renew_term;
