//! What becomes of each message.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, sleep_until, timeout};

use super::lines::Line;
use super::link::{Incoming, Link, failure};
use super::message::{self, Message, Request, answers, one_line};
use super::session::Session;

/// For the gateway to be told that the client is gone.
const LEAVE: Duration = Duration::from_secs(2);
/// Between the progress of a request and its answer. Clients read what comes together at once, and
/// some hear of the answer first: the progress is then that of a request they do not know any more.
const BREATH: Duration = Duration::from_millis(10);
/// Between one client and one gateway.
pub struct Bridge {
    pub(super) link: Link,
    pub(super) session: Session,
    out: mpsc::Sender<String>,
    /// What is no request, sent in the order it came.
    pub(super) post: UnboundedSender<String>,
    pub(super) posting: Mutex<Option<UnboundedReceiver<String>>>,
    exchanges: Mutex<HashMap<String, Exchange>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A request in flight.
struct Exchange {
    task: AbortHandle,
    /// It belongs to no session: it is cancelled by closing its stream.
    alone: bool,
    /// The gateway has it.
    arrived: watch::Receiver<bool>,
    /// The client waits for no answer any more.
    cancelled: Arc<AtomicBool>,
}

impl Bridge {
    /// One that has not heard anything yet; what it has to say goes into `out`.
    pub fn new(link: Link, out: mpsc::Sender<String>) -> Self {
        let (post, posting) = mpsc::unbounded_channel();
        Bridge {
            link,
            session: Session::default(),
            out,
            post,
            posting: Mutex::new(Some(posting)),
            exchanges: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    /// Takes a line of the client's.
    pub async fn take(self: Arc<Self>, line: Line) {
        let Line::Text(text) = line else {
            let what = "A line too long, or not UTF-8";
            return self
                .say(message::error(&json!(null), -32700, what, None))
                .await;
        };
        match Message::read(&text) {
            Err(answer) => self.say(answer).await,
            Ok(Message::Request(request)) => self.request(text, request).await,
            Ok(Message::Cancelled(id)) => self.cancel(&id, text),
            Ok(Message::Other(_)) => self.pass_on(text),
        }
    }

    /// The client is gone: what is in flight is cancelled, the session ended.
    pub async fn end(&self) {
        for (_, exchange) in self.exchanges().drain() {
            exchange.task.abort();
        }
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        for task in &tasks {
            task.abort();
        }
        let membership = self.session.membership();
        if membership.session.is_some() {
            let _ = timeout(LEAVE, self.link.leave(&membership)).await;
        }
        // Their connections are closed when they have ended.
        for task in tasks {
            let _ = task.await;
        }
    }

    async fn request(self: &Arc<Self>, text: String, request: Request) {
        let key = message::key(&request.id);
        if self.exchanges().contains_key(&key) {
            let what = "A request with this id is in flight";
            return self
                .say(message::error(&request.id, -32600, what, None))
                .await;
        }
        let (arriving, arrived) = watch::channel(false);
        let cancelled = Arc::new(AtomicBool::new(false));
        let alone = request.version.is_some();
        // Entered before the task can end.
        let mut exchanges = self.exchanges();
        let task = tokio::spawn({
            let (bridge, cancelled, key) = (self.clone(), cancelled.clone(), key.clone());
            async move {
                let said = bridge.exchange(text, &request, &arriving, &cancelled).await;
                bridge.forget(&key, &cancelled);
                if let Some(answer) = said.filter(|_| !cancelled.load(Ordering::Relaxed)) {
                    bridge.say(answer).await;
                }
            }
        });
        let exchange = Exchange {
            task: task.abort_handle(),
            alone,
            arrived,
            cancelled,
        };
        exchanges.insert(key, exchange);
        drop(exchanges);
        self.keep(task);
    }

    /// Sends a request and passes on what comes for it. Returns what is to be said instead if no
    /// answer came.
    async fn exchange(
        &self,
        text: String,
        request: &Request,
        arriving: &watch::Sender<bool>,
        cancelled: &Arc<AtomicBool>,
    ) -> Option<String> {
        let begins = request.method == "initialize";
        let mut renewed = false;
        let response = loop {
            let membership = match begins {
                true => Default::default(),
                false => self.session.membership(),
            };
            let sent = match request.version {
                Some(_) => self.link.post_alone(text.clone(), request).await,
                None => self.link.post(text.clone(), &membership).await,
            };
            let response = match sent {
                Ok(response) => response,
                Err(error) => return Some(self.link.unreachable(&request.id, &error)),
            };
            let lost = response.status() == StatusCode::NOT_FOUND
                && request.version.is_none()
                && membership.session.is_some();
            if lost && !renewed && self.session.renew(&membership, &self.link).await {
                renewed = true;
                continue;
            }
            break response;
        };
        arriving.send_replace(true);
        if !response.status().is_success() {
            return Some(failure(response, &request.id).await);
        }
        if begins {
            self.session.begun(text, request.id.clone(), &response);
        }
        let mut incoming = Incoming::new(response);
        let mut told = None;
        while let Some(message) = incoming.next().await {
            let answered = answers(&message, &request.id);
            match told {
                Some(at) if answered => sleep_until(at + BREATH).await,
                _ => told = Some(Instant::now()),
            }
            if answered && begins {
                self.session.answered(&message);
            }
            if answered {
                // The id may be used again as soon as the client has read this.
                self.forget(&message::key(&request.id), cancelled);
            }
            let line = one_line(message).filter(|_| !cancelled.load(Ordering::Relaxed));
            if let Some(line) = line {
                self.say(line).await;
            }
            if answered {
                return None;
            }
        }
        let what = "The gateway closed the stream before it answered";
        let data = json!({ "code": "DISCONNECTED", "retryable": true });
        Some(message::error(&request.id, -32000, what, Some(data)))
    }

    fn cancel(self: &Arc<Self>, id: &str, text: String) {
        let (mut arrived, alone) = {
            let exchanges = self.exchanges();
            let Some(exchange) = exchanges.get(id) else {
                return;
            };
            exchange.cancelled.store(true, Ordering::Relaxed);
            (exchange.arrived.clone(), exchange.alone)
        };
        if alone {
            if let Some(exchange) = self.exchanges().remove(id) {
                exchange.task.abort();
            }
            return;
        }
        // A cancel must not overtake its request, which is another connection.
        let bridge = self.clone();
        let task = tokio::spawn(async move {
            if arrived.wait_for(|arrived| *arrived).await.is_ok() {
                bridge.deliver(text).await;
            }
        });
        self.keep(task);
    }

    /// A request is over. Its id may be another's by now.
    fn forget(&self, key: &str, cancelled: &Arc<AtomicBool>) {
        let mut exchanges = self.exchanges();
        let same = |it: &Exchange| Arc::ptr_eq(&it.cancelled, cancelled);
        if exchanges.get(key).is_some_and(same) {
            exchanges.remove(key);
        }
    }

    pub(super) async fn say(&self, line: String) {
        let _ = self.out.send(line).await;
    }

    pub(super) fn keep(&self, task: JoinHandle<()>) {
        let mut tasks = lock(&self.tasks);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    fn exchanges(&self) -> MutexGuard<'_, HashMap<String, Exchange>> {
        lock(&self.exchanges)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
