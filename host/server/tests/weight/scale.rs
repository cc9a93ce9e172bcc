//! The scale: does one piece of work after the other, each beside requests of another network.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::counting::Count;
use crate::support::{Client, Hub};

/// Most memory that a piece of work may take.
const MEMORY: usize = 64 << 20;
/// Most pieces of memory that it may ask for, a tenth of a second of a processor for each million.
const STEPS: u64 = 8_000_000;
/// With this variable times are asserted, too; needs an optimised build and an idle machine.
const TIMES: &str = "HUB_WEIGH_TIMES";
/// Longest answer to one request, and the other network's answers.
pub const LONGEST: Duration = Duration::from_secs(1);
const OTHERS: Duration = Duration::from_millis(50);
const OTHERS_PATH: &str = "/api/plugin/players/00000000-0000-4000-8000-000000000001/data/global/inventory";
/// Requests at once while a network is filled.
const FILLING: usize = 8;

pub struct Scale {
    pub hub: Hub,
    other: Client,
    covered: BTreeSet<String>,
    problems: Mutex<BTreeSet<String>>,
}

impl Scale {
    pub async fn new(hub: Hub) -> Self {
        let other = hub.network().await;
        other.put(OTHERS_PATH, json!({"data": "{}"})).await.expect(200);
        println!("| work | memory (MiB) | steps | took (ms) | p99 of the other's GET (ms) |");
        println!("|---|---:|---:|---:|---:|");
        Self { hub, other, covered: BTreeSet::new(), problems: Mutex::default() }
    }

    /// Fills a network until all is there, or a limit refuses more. Returns the number accepted.
    pub async fn fill(&self, client: &Client, all: impl IntoIterator<Item = (Method, String, Value)>) -> usize {
        let answers = stream::iter(all.into_iter().map(|(method, path, body)| async move {
            loop {
                let answer = client.request(method.clone(), &path).json(&body).send().await.unwrap();
                let status = answer.status().as_u16();
                let text = answer.text().await.unwrap();
                match status {
                    200..300 => return 1,
                    403 if text.contains("quota_exceeded") => return 0,
                    429 => self.hub.advance_ms(1_000),
                    _ => {
                        self.check(false, format!("{method} {path}: {status} {text}"));
                        return 0;
                    }
                }
            }
        }));
        answers.buffer_unordered(FILLING).collect::<Vec<usize>>().await.into_iter().sum()
    }

    /// Does a piece of work of one request and reads its answer; returns its size. The request covers its operation.
    pub async fn request(&mut self, client: &Client, method: Method, path: &str, body: Value) -> usize {
        let name = format!("{method} {}", path.chars().take(70).collect::<String>());
        let request = client.request(method.clone(), path);
        self.send(&name, if body.is_null() { request } else { request.json(&body) }).await
    }

    pub async fn get(&mut self, client: &Client, path: &str) -> usize {
        self.request(client, Method::GET, path, Value::Null).await
    }

    /// The same for any request.
    pub async fn send(&mut self, name: &str, request: RequestBuilder) -> usize {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        self.covered.insert(format!("{} {}", request.method(), request.url().path()));
        let answer = async move {
            let answer = client.execute(request).await.unwrap();
            (answer.status().as_u16(), size(answer).await)
        };
        let (status, size) = self.weigh(name, Some(LONGEST), answer).await;
        // An answer that is too large may be refused.
        self.check((200..300).contains(&status) || status == 400, format!("{name}: {status}"));
        size
    }

    /// Notes what does not hold.
    pub fn check(&self, holds: bool, problem: String) {
        if !holds {
            self.problems.lock().unwrap().insert(problem);
        }
    }

    /// Does a piece of work while another network is served. One that may take so long is done at once; steps of
    /// others, which pause, are not counted.
    pub async fn weigh<T>(&mut self, name: &str, longest: Option<Duration>, work: impl Future<Output = T>) -> T {
        let (other, is_over) = (self.other.clone(), Arc::new(AtomicBool::new(false)));
        let ends = Arc::clone(&is_over);
        let (sent, mut first) = tokio::sync::oneshot::channel();
        let others = tokio::spawn(async move {
            let (mut took, mut sent) = (vec![], Some(sent));
            while !ends.load(Ordering::Relaxed) || took.len() < 2 {
                let began = Instant::now();
                let answer = other.request(Method::GET, OTHERS_PATH).send().await.unwrap();
                assert_eq!(answer.status(), 200);
                size(answer).await;
                took.push(began.elapsed());
                if let Some(sent) = sent.take() {
                    sent.send(()).unwrap();
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            took
        });
        // The other's own connection is no part of the work.
        (&mut first).await.unwrap();
        let (count, began) = (Count::begin(), Instant::now());
        let done = work.await;
        let (took, bytes, steps) = (began.elapsed(), count.most_bytes(), count.steps());
        is_over.store(true, Ordering::Relaxed);
        let mut others = others.await.unwrap();
        others.sort_unstable();
        let p99 = others[others.len() * 99 / 100];
        let mib = bytes as f64 / f64::from(1 << 20);
        println!("| {name} | {mib:.1} | {steps} | {} | {:.1} |", took.as_millis(), p99.as_secs_f64() * 1_000.0);
        let check = |holds: bool, what: String| self.check(holds, format!("{name}: {what}"));
        check(bytes <= MEMORY, format!("{mib:.1} MiB"));
        check(longest.is_none() || steps <= STEPS, format!("{steps} steps"));
        if std::env::var_os(TIMES).is_some() {
            check(longest.is_none_or(|longest| took <= longest), format!("{took:?}"));
            check(p99 <= OTHERS, format!("others wait {p99:?}"));
        }
        done
    }

    /// Ends the weighing: nothing was too heavy, and no operation that answers something was left out, but for those.
    pub async fn finish(self, small: &[&str]) {
        let document = self.hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let (mut left, mut unused) = (vec![], small.to_vec());
        for path in document["paths"].as_object().unwrap().iter().filter(|(_, item)| item.get("get").is_some()) {
            let template: Vec<_> = path.0.split('/').collect();
            let fits = |covered: &String| {
                let parts: Vec<_> = covered.trim_start_matches("GET ").split('/').collect();
                let is_equal = |(name, part): (&&str, &&str)| name == part || name.starts_with('{');
                parts.len() == template.len() && template.iter().zip(&parts).all(is_equal)
            };
            let operation = format!("GET {}", path.0);
            if let Some(at) = unused.iter().position(|small| *small == operation) {
                unused.remove(at);
            } else if !self.covered.iter().filter(|it| it.starts_with("GET ")).any(fits) {
                left.push(operation);
            }
        }
        assert!(unused.is_empty(), "these do not exist: {unused:#?}");
        let problems = self.problems.into_inner().unwrap();
        assert!(left.is_empty() && problems.is_empty(), "not weighed: {left:#?}; too heavy, or refused: {problems:#?}");
    }
}

/// Reads an answer to its end without keeping it; returns its size.
pub async fn size(mut answer: Response) -> usize {
    let mut bytes = 0;
    while let Some(chunk) = answer.chunk().await.unwrap() {
        bytes += chunk.len();
    }
    bytes
}
