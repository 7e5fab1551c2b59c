//! A Redis that is reached by TLS.

use rcgen::{CertifiedKey, generate_simple_self_signed};

use super::*;
use crate::binary::{caphost, port_of, serve};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_reaches_redis_by_tls_if_it_trusts_its_certificate() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let redis = Redis::start_with_tls(&cert.pem(), &signing_key.serialize_pem());
    for (trusted, state) in [(true, "connected"), (false, "unreachable")] {
        let url = format!("rediss://localhost:{}", redis.address().port());
        let mut command = caphost(&["serve", "--port", "0", "--redis", &url]);
        if trusted {
            command.env("SSL_CERT_FILE", redis.certificate());
        }
        let (_child, line) = serve(command).await;
        let ready = format!("http://127.0.0.1:{}/readyz", port_of(&line));
        let client = http_within(Duration::from_secs(10));
        let asked = async || {
            let answer = client.get(&ready).send().await.unwrap();
            let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
            answer["redis"].clone()
        };
        // It connects in the background.
        let reached = async {
            while asked().await != state {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon(state, reached).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(asked().await, state);
    }
}
