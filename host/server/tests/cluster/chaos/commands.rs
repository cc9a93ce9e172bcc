//! Console commands: each answer is that of its own command, and none is run twice.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use super::client::{At, Client, Effect};
use super::report::{Check, Checked, Violation};
use super::run::Stop;
use super::stream::Reader;

pub const LOAD: &str = "commands";

#[derive(Clone, Debug)]
struct Command {
    line: String,
    sent: At,
    effect: Effect,
    output: Option<String>,
}

/// Sends commands to the reader's server, and answers them there.
pub async fn run(client: Client, connector: Reader, stop: Stop) -> Check {
    let answering = tokio::spawn(answer(client.clone(), connector.clone()));
    let mut commands = vec![];
    while !stop.is_set() {
        let line = format!("say {}", commands.len());
        let body = json!({"command": line, "timeoutMs": 3_000});
        let reply = client.post("/api/manage/servers/isle/command", &body).await;
        let output = reply.body["output"].as_str().map(str::to_owned);
        commands.push(Command { line, sent: reply.sent, effect: reply.effect(), output });
        tokio::time::sleep(Duration::from_millis(800)).await;
    }
    Box::pin(async move {
        answering.abort();
        let runs = connector.seen();
        let runs = runs.iter().filter(|seen| seen.name == "EXECUTE_COMMAND" || seen.name == "RESYNC");
        let runs: Vec<_> = runs.map(|seen| seen.data["command"].as_str().map(str::to_owned)).collect();
        let done = commands.iter().filter(|command| command.effect == Effect::Done).map(|command| command.sent);
        let (size, violations) = (commands.len() + runs.len(), check(client.network, &commands, &runs));
        Checked { size, done: done.collect(), violations, ..Checked::default() }
    })
}

async fn answer(client: Client, connector: Reader) {
    let mut live = connector.listen();
    loop {
        let seen = match live.recv().await {
            Ok(seen) if seen.name == "EXECUTE_COMMAND" => seen,
            Ok(_) | Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let output = output(seen.data["command"].as_str().unwrap());
        let result = json!({"requestId": seen.data["requestId"], "success": true, "output": output});
        let client = client.clone();
        tokio::spawn(async move {
            // A game server repeats it until the hub has it, while a caller waits.
            for _ in 0..5 {
                if client.post("/api/plugin/servers/command-result", &result).await.is_success() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        });
    }
}

fn output(line: &str) -> String {
    format!("ran {line}")
}

/// `runs` are the commands received by the server, and `None` for each RESYNC.
fn check(network: usize, commands: &[Command], runs: &[Option<String>]) -> Vec<Violation> {
    let mut violations = vec![];
    let mut violate = |at: At, what: String| violations.push(Violation { network, load: LOAD, at, what });
    let mut times = HashMap::<&str, usize>::new();
    for run in runs.iter().flatten() {
        *times.entry(run).or_default() += 1;
    }
    for Command { line, sent, effect, output: got } in commands {
        let times = times.get(line.as_str()).copied().unwrap_or_default();
        match effect {
            Effect::Done if got.as_deref() != Some(&output(line)) => {
                violate(*sent, format!("A command has another's answer: {line}, {got:?}"));
            }
            Effect::Done if times == 0 => violate(*sent, format!("A command was answered and not run: {line}")),
            Effect::None if times > 0 => violate(*sent, format!("A refused command was run: {line}")),
            _ => {}
        }
        if times > 1 {
            violate(*sent, format!("A command was run {times} times: {line}"));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_commands_are_noticed() {
        let command = |effect, output: &str| Command {
            line: "say 1".to_owned(),
            sent: At::ZERO,
            effect,
            output: Some(output.to_owned()),
        };
        let found = |command: Command, times| {
            let violations = check(0, &[command], &vec![Some("say 1".to_owned()); times]).into_iter();
            violations.map(|violation| violation.what.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(found(command(Effect::Done, "ran say 1"), 1).is_empty());
        assert!(found(command(Effect::Unknown, ""), 1).is_empty());
        assert_eq!(found(command(Effect::Done, "ran say 2"), 1), ["A command has another's answer"]);
        assert_eq!(found(command(Effect::Done, "ran say 1"), 0), ["A command was answered and not run"]);
        assert_eq!(found(command(Effect::None, ""), 1), ["A refused command was run"]);
        assert_eq!(found(command(Effect::Unknown, ""), 2), ["A command was run 2 times"]);
    }
}
