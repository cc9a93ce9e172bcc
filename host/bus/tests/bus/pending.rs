//! Requests get their replies, and nothing is left behind.

use crate::common::now;
use hub_bus::PendingReplies;

#[test]
fn a_reply_reaches_its_request() {
    let replies = PendingReplies::<u32>::default();
    let mut one = replies.register("one".to_owned());
    let mut two = replies.register("two".to_owned());
    assert!(replies.complete("two", 2).is_ok());
    assert!(replies.complete("one", 1).is_ok());
    assert_eq!(now(one.wait()), Some(Some(1)));
    assert_eq!(now(two.wait()), Some(Some(2)));
    assert!(replies.is_empty());
}

#[test]
fn an_unexpected_reply_is_refused() {
    let replies = PendingReplies::<u32>::default();
    assert!(replies.complete("never", 1).is_err());
    let mut request = replies.register("once".to_owned());
    assert!(replies.complete("once", 1).is_ok());
    assert!(replies.complete("once", 2).is_err());
    assert_eq!(now(request.wait()), Some(Some(1)));
    drop(replies.register("gone".to_owned()));
    assert!(replies.complete("gone", 3).is_err());
    assert!(replies.is_empty(), "a dropped request leaves nothing");
}

#[test]
fn a_newer_request_takes_the_id_and_keeps_it() {
    let replies = PendingReplies::<u32, (u128, u64)>::default();
    let mut old = replies.register((1, 1));
    let mut new = replies.register((1, 1));
    assert_eq!(now(old.wait()), Some(None));
    drop(old);
    assert_eq!(replies.len(), 1, "dropping the older one leaves the newer one");
    assert!(replies.complete(&(1, 1), 5).is_ok());
    assert_eq!(now(new.wait()), Some(Some(5)));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_timed_out_is_removed() {
    let replies = PendingReplies::<u32>::default();
    let mut request = replies.register("slow".to_owned());
    let waited = tokio::time::timeout(std::time::Duration::from_secs(10), request.wait()).await;
    assert!(waited.is_err());
    drop(request);
    assert!(replies.is_empty());
}
