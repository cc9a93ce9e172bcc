use super::*;
use Verdict::{Failed, NotCounted, Succeeded};

/// Makes calls with this outcome, all at one time; returns the last one's record.
fn end(breaker: &Breaker, verdict: Verdict, times: u32, now_ms: u64) -> Option<BreakerOpening> {
    (0..times).filter_map(|_| breaker.admit(now_ms).unwrap().record(verdict, now_ms)).last()
}

fn opened_at(now_ms: u64) -> Breaker {
    let breaker = Breaker::default();
    assert!(end(&breaker, Failed, 20, now_ms).is_some());
    breaker
}

#[test]
fn half_of_at_least_twenty_calls_opens_it() {
    let breaker = Breaker::default();
    assert_eq!(end(&breaker, Failed, 19, 0), None);
    assert_eq!(breaker.state(0), BreakerState::Closed);
    let opening = end(&breaker, Failed, 1, 0).unwrap();
    assert_eq!(opening, BreakerOpening { share: Some((20, 20)), retry_ms: 1000 });
    assert!(opening.to_string().contains("20 of the 20 calls of the last 10 s"), "{opening}");
    assert_eq!(breaker.state(0), BreakerState::Open);

    // Five failures among thousands of calls do not.
    let breaker = Breaker::default();
    end(&breaker, Succeeded, 9000, 0);
    assert_eq!(end(&breaker, Failed, 5, 0), None);
    assert_eq!(breaker.state(0), BreakerState::Closed);

    // Just below a half, and a half.
    let breaker = Breaker::default();
    end(&breaker, Succeeded, 30, 0);
    assert_eq!(end(&breaker, Failed, 29, 0), None);
    assert_eq!(end(&breaker, Failed, 1, 0).unwrap().share, Some((60, 30)));
}

#[test]
fn only_the_last_ten_seconds_count() {
    let breaker = Breaker::default();
    end(&breaker, Succeeded, 1000, 0);
    assert_eq!(end(&breaker, Failed, 19, 9_000), None);
    assert_eq!(end(&breaker, Failed, 1, 9_400), None);
    // The thousand are forgotten, and the twenty are not.
    assert_eq!(end(&breaker, Failed, 1, 10_000).unwrap().share, Some((21, 21)));

    let breaker = Breaker::default();
    end(&breaker, Failed, 19, 0);
    assert_eq!(end(&breaker, Failed, 19, 10_000), None);
    assert_eq!(breaker.state(10_000), BreakerState::Closed);
}

#[test]
fn calls_that_say_nothing_about_the_module_do_not_count() {
    let breaker = Breaker::default();
    end(&breaker, NotCounted, 1000, 0);
    assert_eq!(end(&breaker, Failed, 19, 0), None);
    assert!(end(&breaker, Failed, 1, 0).is_some());
}

#[test]
fn a_single_trial_follows_and_closes_it() {
    let breaker = opened_at(5_000);
    assert!(breaker.admit(5_999).is_none());
    assert_eq!((breaker.state(5_999), breaker.state(6_000)), (BreakerState::Open, BreakerState::HalfOpen));
    let trial = breaker.admit(6_000).unwrap();
    assert!(breaker.admit(6_000).is_none() && breaker.admit(60_000).is_none());
    assert_eq!(breaker.state(6_000), BreakerState::HalfOpen);
    assert_eq!(trial.record(Succeeded, 6_000), None);
    assert_eq!(breaker.state(6_000), BreakerState::Closed);
    // The earlier failures are forgotten, and so is the duration of the last opening.
    assert_eq!(end(&breaker, Failed, 19, 6_000), None);
    assert_eq!(end(&breaker, Failed, 1, 6_000).unwrap().retry_ms, 1000);
}

#[test]
fn each_failed_trial_doubles_the_time_up_to_30_s() {
    let breaker = opened_at(0);
    let (mut now, mut waits) = (1_000, vec![]);
    for _ in 0..7 {
        assert!(breaker.admit(now - 1).is_none());
        let opening = breaker.admit(now).unwrap().record(Failed, now).unwrap();
        assert_eq!(opening.share, None);
        assert_eq!(breaker.state(now), BreakerState::Open);
        waits.push(opening.retry_ms);
        now += opening.retry_ms;
    }
    assert_eq!(waits, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
}

#[test]
fn a_trial_without_a_verdict_is_followed_by_another() {
    let breaker = opened_at(0);
    drop(breaker.admit(1_000).unwrap());
    let late = breaker.admit(1_000).unwrap();
    assert_eq!(late.record(NotCounted, 1_000), None);
    assert_eq!(breaker.state(1_000), BreakerState::HalfOpen);
    breaker.admit(1_000).unwrap().record(Succeeded, 1_000);
    assert_eq!(breaker.state(1_000), BreakerState::Closed);
}

#[test]
fn calls_from_before_it_opened_change_nothing() {
    let breaker = Breaker::default();
    let (succeeds, fails) = (breaker.admit(0).unwrap(), breaker.admit(0).unwrap());
    end(&breaker, Failed, 20, 0);
    assert_eq!((succeeds.record(Succeeded, 10), fails.record(Failed, 10)), (None, None));
    assert_eq!(breaker.state(10), BreakerState::Open);
}

#[test]
fn closing_it_forgets_everything_and_a_trial_of_before() {
    let breaker = opened_at(0);
    let trial = breaker.admit(1_000).unwrap();
    breaker.close();
    assert_eq!(breaker.state(1_000), BreakerState::Closed);
    end(&breaker, Failed, 20, 1_000);
    // It neither closes nor extends the new opening.
    assert_eq!(trial.record(Succeeded, 1_000), None);
    assert_eq!(breaker.state(1_000), BreakerState::Open);
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_it_open() {
    let breaker = opened_at(1_000_000);
    assert!(breaker.admit(5_000).is_none());
    assert!(breaker.admit(6_000).is_some());
}
