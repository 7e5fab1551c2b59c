//! What is no request and no answer, both ways.

use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use tokio::time::sleep;

use super::bridge::{Bridge, lock};
use super::link::Incoming;
use super::message::{Message, one_line};

/// Between two attempts to listen, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));

impl Bridge {
    /// Sends what is no request, after what came before it.
    pub(super) fn pass_on(self: &Arc<Self>, text: String) {
        let _ = self.post.send(text);
        let Some(mut posting) = lock(&self.posting).take() else {
            return;
        };
        let bridge = self.clone();
        let task = tokio::spawn(async move {
            while let Some(text) = posting.recv().await {
                let listens = matches!(
                    Message::read(&text),
                    Ok(Message::Other(Some(method))) if method == "notifications/initialized"
                );
                bridge.deliver(text).await;
                if listens && bridge.session.initialized() {
                    let listener = bridge.clone();
                    bridge.keep(tokio::spawn(async move { listener.listen().await }));
                }
            }
        });
        self.keep(task);
    }

    pub(super) async fn deliver(&self, text: String) {
        let membership = self.session.membership();
        match self.link.post(text, &membership).await {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => tracing::warn!(status = %response.status(), "a message was refused"),
            Err(error) => tracing::warn!(%error, "a message was not delivered"),
        }
    }

    /// Passes on what the gateway says on its own.
    async fn listen(&self) {
        let mut pause = PAUSE.0;
        loop {
            let membership = self.session.membership();
            match self.link.listen(&membership).await {
                Ok(response) if response.status().is_success() => {
                    pause = PAUSE.0;
                    let mut incoming = Incoming::new(response);
                    while let Some(message) = incoming.next().await {
                        if let Some(line) = one_line(message) {
                            self.say(line).await;
                        }
                    }
                }
                Ok(response) if response.status() == StatusCode::NOT_FOUND => {
                    if self.session.renew(&membership, &self.link).await {
                        continue;
                    }
                }
                Ok(response) => {
                    tracing::debug!(status = %response.status(), "no stream to listen to");
                }
                Err(error) => tracing::debug!(%error, "no stream to listen to"),
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }
}
