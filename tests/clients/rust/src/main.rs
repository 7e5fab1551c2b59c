//! Tries the published MCP client for Rust at a gateway. Prints the observations as one line of JSON.
//!
//! Arguments: the transport (`http` or `stdio`), the gateway's address, the command line.

use std::{env::args, error::Error, future::Future, time::Duration};

use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{
        CallToolRequest, CallToolRequestParams, ClientConfig, ClientRequest,
        ProgressNotificationParam, ReadResourceRequestParams,
    },
    service::{NotificationContext, Peer, PeerRequestOptions, RequestHandle, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json, to_value};
use tokio::{process::Command, sync::mpsc, time::timeout};

type Tried<T> = Result<T, Box<dyn Error>>;

/// How long any answer takes at most, except that of a long call.
const SOON: Duration = Duration::from_secs(8);

struct Client(mpsc::UnboundedSender<ProgressNotificationParam>);

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }

    fn on_progress(
        &self,
        info: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let _ = self.0.send(info);
        std::future::ready(())
    }
}

async fn connect(client: Client) -> Tried<RunningService<RoleClient, Client>> {
    let [way, url, caphost] = &args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("three arguments are needed".into());
    };
    Ok(match &way[..] {
        "stdio" => {
            let mut command = Command::new(caphost);
            command.args(["mcp", "--gateway", url]);
            client.serve(TokioChildProcess::new(command)?).await?
        }
        _ => {
            let transport = StreamableHttpClientTransport::from_uri(format!("{url}/mcp"));
            client.serve(transport).await?
        }
    })
}

fn params(tool: &str, arguments: Value) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    params
}

/// Calls a tool, and returns the content of the answer, which must arrive soon.
async fn call(peer: &Peer<RoleClient>, tool: &str, arguments: Value) -> Tried<Value> {
    let answer = timeout(SOON, peer.call_tool(params(tool, arguments)));
    let answer = answer.await.map_err(|_| format!("no answer of {tool}"))??;
    Ok(to_value(answer)?["content"].take())
}

/// Starts a long call.
async fn begin(peer: &Peer<RoleClient>, arguments: Value) -> Tried<RequestHandle<RoleClient>> {
    let request = CallToolRequest::new(params("work", arguments));
    let request = ClientRequest::CallToolRequest(request);
    let options = PeerRequestOptions::no_options();
    Ok(peer.send_cancellable_request(request, options).await?)
}

#[tokio::main]
async fn main() -> Tried<()> {
    let (sender, mut infos) = mpsc::unbounded_channel();
    let client = connect(Client(sender)).await?;
    let peer = client.peer();

    let tools = to_value(peer.list_all_tools().await?)?;
    let tools = tools.as_array().ok_or("no list")?;
    let is_picture = |tool: &&Value| tool["description"] == "A picture";
    let picture = tools.iter().find(is_picture).ok_or("no picture")?;
    let count = call(peer, "sums_of", json!({ "list": [1, 2] })).await?;
    let image = call(peer, picture["name"].as_str().ok_or("no name")?, json!({})).await?;
    let large = call(peer, "large", json!({ "megabytes": 3, "of": "abcd" })).await?;
    let link = large[0]["uri"].as_str().ok_or("no link")?;
    let large = timeout(
        SOON,
        peer.read_resource(ReadResourceRequestParams::new(link)),
    )
    .await??;
    let large = to_value(large)?;
    let large: Value =
        serde_json::from_str(large["contents"][0]["text"].as_str().ok_or("no text")?)?;

    let loud = begin(peer, json!({})).await?;
    let first = timeout(SOON, infos.recv()).await?.ok_or("no progress")?;
    loud.cancel(Some("enough".into())).await?;

    let quiet = begin(peer, json!({ "quiet": true })).await?;
    let meanwhile = call(peer, "sums_of", json!({ "text": "abc" })).await?;
    quiet.cancel(Some("enough".into())).await?;
    let after = call(peer, "sums_of", json!({ "text": "ab" })).await?;

    let saw = json!({
        "tools": tools.len(),
        "text": count[0]["text"],
        "picture": [image[1]["type"], image[1]["mimeType"]],
        "large": large["text"].as_str().map(str::len),
        "progress": [first.progress, first.total, first.message],
        "meanwhile": meanwhile[0]["text"],
        "after": after[0]["text"],
    });
    println!("{saw}");
    // The end of the program cancels the call too. The test tells both cancels apart by their time.
    tokio::time::sleep(Duration::from_secs(2)).await;
    client.cancel().await?;
    Ok(())
}
