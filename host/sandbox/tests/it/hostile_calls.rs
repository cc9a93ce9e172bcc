//! The hostile set, one by one.

use crate::hostile_set::{Hostile, LINE, hostile_set};
use crate::support::{StoreHost, TestSandbox, line, servers};
use hub_sandbox::contract::Point;
use hub_sandbox::{CallFailure, CallReport, FilterChat, Limits, RankServers};
use std::sync::Arc;
use std::time::Duration;

fn code<T>(report: &CallReport<T>) -> Option<&'static str> {
    report.result.as_ref().err().map(CallFailure::code)
}

async fn failure(test: &TestSandbox, hostile: &Hostile) -> Option<&'static str> {
    let module = test.module(hostile.upload.clone()).await;
    // Fuel enough that time ends an endless module; time enough for a busy machine to finish all others.
    let compute =
        if hostile.failure == Some("timed_out") { Duration::from_millis(200) } else { Duration::from_secs(20) };
    let wait = Duration::from_secs(200);
    let limits = Limits { compute, wait, fuel: u64::MAX / 2, ..Limits::of(hostile.point) };
    let host = Arc::new(StoreHost::default());
    if hostile.point == Point::Chat {
        code(&test.call_with::<FilterChat>(&module, limits, host, "{}", line(LINE)).await)
    } else {
        code(&test.call_with::<RankServers>(&module, limits, host, "{}", servers(&[0, 1, 2])).await)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_hostile_set_ends_in_its_stated_failure() {
    let test = TestSandbox::new();
    for hostile in hostile_set() {
        assert_eq!(failure(&test, &hostile).await, hostile.failure, "{}", hostile.name);
    }
    // The sandbox itself is unaffected.
    let report = test.call::<FilterChat>(crate::wat::allowing("after"), line("hello")).await;
    assert!(report.result.is_ok(), "{report:?}");
}
