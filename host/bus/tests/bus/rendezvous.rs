//! Requests find their answers, and nothing stays behind.

use crate::common::now;
use hub_bus::Rendezvous;

#[test]
fn an_answer_reaches_who_waits_for_it() {
    let replies = Rendezvous::<u32>::default();
    let mut one = replies.register("one".to_owned());
    let mut two = replies.register("two".to_owned());
    assert!(replies.complete("two", 2).is_ok());
    assert!(replies.complete("one", 1).is_ok());
    assert_eq!(now(one.wait()), Some(Some(1)));
    assert_eq!(now(two.wait()), Some(Some(2)));
    assert!(replies.is_empty());
}

#[test]
fn an_answer_that_nobody_waits_for_is_refused() {
    let replies = Rendezvous::<u32>::default();
    assert!(replies.complete("never", 1).is_err());
    let mut waiter = replies.register("once".to_owned());
    assert!(replies.complete("once", 1).is_ok());
    assert!(replies.complete("once", 2).is_err());
    assert_eq!(now(waiter.wait()), Some(Some(1)));
    drop(replies.register("gone".to_owned()));
    assert!(replies.complete("gone", 3).is_err());
    assert!(replies.is_empty(), "a dropped waiter leaves nothing");
}

#[test]
fn a_newer_waiter_takes_the_id_and_keeps_it() {
    let replies = Rendezvous::<u32, (u128, u64)>::default();
    let mut old = replies.register((1, 1));
    let mut new = replies.register((1, 1));
    assert_eq!(now(old.wait()), Some(None));
    drop(old);
    assert_eq!(replies.len(), 1, "the older one's end is not the newer one's");
    assert!(replies.complete(&(1, 1), 5).is_ok());
    assert_eq!(now(new.wait()), Some(Some(5)));
}

#[tokio::test(start_paused = true)]
async fn giving_up_forgets_the_request() {
    let replies = Rendezvous::<u32>::default();
    let mut waiter = replies.register("slow".to_owned());
    let waited = tokio::time::timeout(std::time::Duration::from_secs(10), waiter.wait()).await;
    assert!(waited.is_err());
    drop(waiter);
    assert!(replies.is_empty());
}
