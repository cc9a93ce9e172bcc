//! Answers out of bounds.

use crate::support::{TestSandbox, line, proposal, servers};
use crate::wat::{chat_module, ranking, ranks, reviewing, verdict};
use hub_sandbox::contract::PunishmentKind;
use hub_sandbox::contract::chat::{Decision, Mute};
use hub_sandbox::{CallFailure, FilterChat, RankServers, ReviewPunishment};

fn reason<T: std::fmt::Debug>(result: Result<T, CallFailure>) -> String {
    match result {
        Err(CallFailure::InvalidAnswer { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

/// Reason for refusing an answer of `rank-servers`, by the trial call, which has two candidates.
async fn refused(upload: Vec<u8>) -> String {
    TestSandbox::new().refusal(upload).await
}

#[tokio::test]
async fn unknown_or_repeated_candidates_are_an_invalid_answer() {
    let why = refused(ranks(&[0, 2])).await;
    assert!(why.contains("there is no candidate 2 among 2"), "{why}");
    let why = refused(ranks(&[1, 1])).await;
    assert!(why.contains("candidate 1 is listed twice"), "{why}");
}

#[tokio::test]
async fn a_list_with_a_false_length_is_an_invalid_answer() {
    // A billion elements at address 512, and then as many as fit the memory but not the host.
    for length in [r"\00\ca\9a\3b", r"\00\00\00\40", r"\ff\ff\ff\ff"] {
        let data = format!(r#"(data (i32.const 64) "\00\00\00\00\00\02\00\00{length}")"#);
        let why = refused(ranking(&data, "")).await;
        assert!(why.contains("the answer is invalid"), "{why}");
    }
}

#[tokio::test]
async fn a_huge_list_is_an_invalid_answer() {
    let data = r#"(data (i32.const 64) "\00\00\00\00\00\02\00\00\80\84\1e\00")"#; // 2,000,000 elements
    let why = refused(ranking(data, "(drop (memory.grow (i32.const 200)))")).await;
    assert!(why.contains("too much data"), "{why}");
}

#[tokio::test]
async fn a_valid_ranking_is_an_answer() {
    let test = TestSandbox::new();
    let report = test.call::<RankServers>(ranks(&[1, 0]), servers(&[0, 1, 2])).await;
    assert_eq!(report.result, Ok(Ok(vec![1, 0])));
    assert!(report.fuel > 0 && report.memory_bytes == 65536, "{report:?}");
}

async fn filtered(data: &str) -> Result<hub_sandbox::contract::chat::Verdict, String> {
    let test = TestSandbox::new();
    match test.sandbox.prepare(chat_module("", data)).await {
        Err(why) => Err(why.to_string()),
        Ok(_) => Ok(test.call::<FilterChat>(chat_module("", data), line("hello")).await.result.unwrap()),
    }
}

#[tokio::test]
async fn a_rewritten_line_and_a_reason_have_bounds() {
    let (rewrite, refuse) = (1, 2);
    let verdict_of = |decision, length| filtered_owned(verdict(decision, length, None));
    assert_eq!(verdict_of(rewrite, 1024).await.unwrap().decision, Decision::Rewrite("x".repeat(1024)));
    assert!(verdict_of(rewrite, 1025).await.unwrap_err().contains("1 to 1024 characters"));
    assert!(verdict_of(rewrite, 0).await.unwrap_err().contains("1 to 1024 characters"));
    assert_eq!(verdict_of(refuse, 256).await.unwrap().decision, Decision::Refuse("x".repeat(256)));
    assert!(verdict_of(refuse, 257).await.unwrap_err().contains("at most 256 characters"));
    assert!(verdict_of(refuse, 0).await.unwrap_err().contains("needs a reason"));
    assert!(verdict_of(7, 1).await.unwrap_err().contains("the answer is invalid"));
}

async fn filtered_owned(data: String) -> Result<hub_sandbox::contract::chat::Verdict, String> {
    filtered(&data).await
}

#[tokio::test]
async fn a_mute_lasts_up_to_ten_years() {
    let ten_years = 10 * 365 * 24 * 60 * 60 * 1000;
    let muted = filtered(&verdict(0, 0, Some(ten_years))).await.unwrap();
    assert_eq!(muted.mute, Some(Mute { duration_ms: ten_years, reason: "rude".into() }));
    for wrong in [0, ten_years + 1, u64::MAX] {
        let why = filtered(&verdict(0, 0, Some(wrong))).await.unwrap_err();
        assert!(why.contains("between 1 ms and 10 years"), "{why}");
    }
}

#[tokio::test]
async fn a_review_asks_for_at_most_eight_follow_ups() {
    let test = TestSandbox::new();
    let report = test.call::<ReviewPunishment>(reviewing(0, 8), proposal(PunishmentKind::Mute)).await;
    let follow_ups = report.result.unwrap().follow_ups;
    assert_eq!(follow_ups.len(), 8);
    assert_eq!(follow_ups[7].kind, PunishmentKind::Warn);
    let why = test.refusal(reviewing(0, 9)).await;
    assert!(why.contains("9 follow-ups are more than 8"), "{why}");
}

#[tokio::test]
async fn an_answer_is_checked_against_the_calls_own_candidates() {
    let test = TestSandbox::new();
    let report = test.call::<RankServers>(ranks(&[1, 0]), servers(&[0])).await;
    let why = reason(report.result);
    assert_eq!(why, "there is no candidate 1 among 1");
}
