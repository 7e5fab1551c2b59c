use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

fn ledgers(bytes: usize) -> Arc<Ledgers> {
    Arc::new(Ledgers::new(0, bytes))
}

fn open(ledgers: &Arc<Ledgers>, last: u8) -> Watch {
    Watch::new(ledgers.clone(), QuotaKey::Stranger([10, 0, 0, last].into()))
}

#[tokio::test]
async fn only_a_write_that_had_to_wait_is_a_sign_of_life() {
    let (near, mut far) = duplex(100);
    let watch = open(&ledgers(0), 1);
    let opened = watch.last_life();
    let mut near = Watched::new(near, watch.clone(), PATIENCE);
    near.write_all(&[0; 100]).await.unwrap();
    near.flush().await.unwrap();
    assert_eq!(watch.last_life(), opened, "what has room may go to nobody");
    assert_eq!(watch.waits_since(), None);
    assert!(near.write_all(&[0; 40]).now_or_never().is_none());
    assert_eq!(watch.last_life(), opened, "it waits still");
    assert!(watch.waits_since() > Some(opened));
    far.read_exact(&mut [0; 90]).await.unwrap();
    near.write_all(&[0; 40]).await.unwrap();
    let taken = watch.last_life();
    assert!(taken > opened);
    assert_eq!(watch.waits_since(), None);
    near.write_all(&[0; 50]).await.unwrap();
    assert_eq!(watch.last_life(), taken, "there was room again");
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_given_up() {
    let patience = Duration::from_millis(200);
    let (near, mut far) = duplex(100);
    let mut near = Watched::new(near, open(&ledgers(0), 1), patience);
    let began = Instant::now();
    let reading = async {
        sleep(patience / 2).await;
        far.read_exact(&mut [0; 10]).await.unwrap();
    };
    let bytes = [0; 200];
    let (written, ()) = tokio::join!(near.write_all(&bytes), reading);
    assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    // The patience counts from the last progress.
    assert!(began.elapsed() >= patience / 2 + patience);
}
