//! A peer on a WebSocket: one message per text frame.

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;

use super::{Ends, Out, Receive, Wire};

/// Connects to `url`, with a bearer token if there is one.
pub async fn connect(
    url: &str,
    token: Option<&str>,
    receive: Receive,
    closed: impl FnOnce(&str) + Send + 'static,
) -> Result<Wire, String> {
    let mut request = url
        .into_client_request()
        .map_err(|error| format!("{url}: {error}"))?;
    if let Some(token) = token {
        let value = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| "the token is no header's value")?;
        request.headers_mut().insert("authorization", value);
    }
    let (socket, _) = connect_async(request)
        .await
        .map_err(|error| format!("{url}: {error}"))?;
    let (mut sink, mut stream) = socket.split();
    let (wire, ends) = Wire::new();
    let Ends {
        mut out,
        back,
        over,
        cut,
    } = ends;
    tokio::spawn(async move {
        let why = loop {
            tokio::select! {
                next = out.recv() => {
                    let Some(next) = next else { break "the suite has ended".to_owned() };
                    let mut broken = None;
                    for it in std::iter::once(next).chain(std::iter::from_fn(|| out.try_recv().ok())) {
                        let frame = match it {
                            Out::Message(message) => Message::text(message.to_string()),
                            Out::End => Message::Close(None),
                        };
                        broken = sink.feed(frame).await.err().or(broken);
                    }
                    // After a goodbye the frames of the peer are still read, up to the peer's own goodbye.
                    if let Some(error) = sink.flush().await.err().or(broken) && sink.flush().await.is_err() {
                        break error.to_string();
                    }
                }
                frame = stream.next() => match frame {
                    Some(Ok(Message::Text(text))) => {
                        let Ok(message) = serde_json::from_str(&text) else { continue };
                        if let (Some(reply), Some(back)) = (receive(message), back.upgrade()) {
                            let _ = back.send(Out::Message(reply));
                        }
                    }
                    Some(Ok(Message::Close(frame))) => break frame.map_or("the peer said goodbye".into(), |it| format!("the peer closed with {}: {}", it.code, it.reason)),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => break error.to_string(),
                    None => break "the socket has ended".into(),
                },
                () = cut.notified() => break "cut".into(),
            }
        };
        drop((sink, stream));
        over.send_replace(true);
        closed(&why);
    });
    Ok(wire)
}
