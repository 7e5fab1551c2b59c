//! A gateway beside the routes of a program of your own:
//!
//! ```sh
//! cargo run -p caphost-gateway --example beside_own_routes
//! ```
//!
//! `http://127.0.0.1:8080/` is the program's own page. Apps connect to `ws://127.0.0.1:8080/abp/app`, and MCP
//! clients to `http://127.0.0.1:8080/mcp`. Ctrl-C cancels the calls in flight, and ends the program.

use std::error::Error;
use std::net::SocketAddr;

use axum::Router;
use axum::routing::get;
use caphost_gateway::{Config, Gateway};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    let address = listener.local_addr()?;
    let gateway = Gateway::new(Config::default(), address)?;
    let routes = Router::new()
        .route("/", get(async || "The program's own page\n"))
        .merge(gateway.router());

    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            asked.cancel();
        }
    });
    println!("http://{address}/");
    // The gateway shares its bounds out by the address of each client.
    let service = routes.into_make_service_with_connect_info::<SocketAddr>();
    let serving =
        axum::serve(listener, service).with_graceful_shutdown(stop.clone().cancelled_owned());
    let (served, ended) = tokio::join!(serving, gateway.run(stop.cancelled()));
    served?;
    ended?;
    Ok(())
}
