use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

fn ledgers(bytes: usize) -> Arc<Ledgers> {
    Arc::new(Ledgers::new(0, bytes))
}

fn open(ledgers: &Arc<Ledgers>, last: u8) -> Watch {
    Watch::new(ledgers.clone(), Party::Stranger([10, 0, 0, last].into()))
}

#[tokio::test]
async fn only_a_write_that_had_to_wait_is_a_sign_of_life() {
    let (near, mut far) = duplex(100);
    let watch = open(&ledgers(0), 1);
    let opened = watch.last_taken();
    let mut near = Watched::new(near, watch.clone(), PATIENCE);
    near.write_all(&[0; 100]).await.unwrap();
    near.flush().await.unwrap();
    assert_eq!(watch.last_taken(), opened, "what has room may go to nobody");
    assert_eq!(watch.waits_since(), None);
    assert!(near.write_all(&[0; 40]).now_or_never().is_none());
    assert_eq!(watch.last_taken(), opened, "it waits still");
    assert!(watch.waits_since() > Some(opened));
    far.read_exact(&mut [0; 90]).await.unwrap();
    near.write_all(&[0; 40]).await.unwrap();
    let taken = watch.last_taken();
    assert!(taken > opened);
    assert_eq!(watch.waits_since(), None);
    near.write_all(&[0; 50]).await.unwrap();
    assert_eq!(watch.last_taken(), taken, "there was room again");
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
    // From the last progress on.
    assert!(began.elapsed() >= patience / 2 + patience);
}

#[tokio::test]
async fn unfinished_messages_are_bounded_each_and_together() {
    let all = ledgers(4 * FREE + 10);
    let open = |last, most| {
        let (near, far) = duplex(1 << 20);
        let watch = open(&all, last);
        watch.is_socket(most);
        let stream = Watched::new(near, watch.clone(), PATIENCE);
        (stream, far, watch)
    };
    let excess = |error: io::Error| *error.get_ref().unwrap().downcast_ref::<Excess>().unwrap();
    let large = vec![0; 5 * FREE];
    let mut taken = vec![0; 2 * FREE];
    let (mut one, mut far_one, first) = open(1, FREE);
    far_one.write_all(&large).await.unwrap();
    one.read_exact(&mut taken).await.unwrap();
    let error = one.read_u8().await.unwrap_err();
    assert_eq!(excess(error), Excess::Message(FREE));
    let (mut two, mut far_two, _watch) = open(1, usize::MAX);
    far_two.write_all(&large).await.unwrap();
    two.read_exact(&mut taken[..=FREE]).await.unwrap();
    let (mut three, mut far_three, _watch) = open(2, usize::MAX);
    far_three.write_all(&large).await.unwrap();
    three.read_exact(&mut taken[..=FREE]).await.unwrap();
    assert!(first.evicted().now_or_never().is_none());
    // Of the party that has most, what has most makes room.
    three.read_exact(&mut taken[..=FREE]).await.unwrap();
    first.evicted().await;
    let error = two.read_exact(&mut taken).await.unwrap_err();
    assert_eq!(excess(error), Excess::Budget);
    three.read_exact(&mut taken).await.unwrap();
}

#[tokio::test]
async fn a_message_that_drips_is_not_waited_for() {
    let (near, mut far) = duplex(1 << 20);
    let watch = open(&ledgers(1 << 20), 1);
    watch.is_socket(1 << 20);
    let mut near = Watched::new(near, watch.clone(), PATIENCE);
    far.write_all(&vec![0; 3 * FREE]).await.unwrap();
    near.read_exact(&mut vec![0; 2 * FREE]).await.unwrap();
    watch.0.account.lock().as_mut().unwrap().1 -= UNFINISHED_TIME;
    let error = near.read_u8().await.unwrap_err();
    assert_eq!(error.to_string(), Excess::Late.to_string());
    watch.finished();
    near.read_u8().await.unwrap();
}

#[tokio::test]
async fn pings_and_pongs_are_no_part_of_a_message() {
    let (near, mut far) = duplex(1 << 20);
    let watch = open(&ledgers(1 << 20), 1);
    watch.is_socket(1 << 20);
    let mut near = Watched::new(near, watch.clone(), PATIENCE);
    far.write_all(&vec![0; 4 * FREE]).await.unwrap();
    // Half of what comes is a message that goes on.
    const TIMES: usize = FREE / 50 - 2;
    for _ in 0..TIMES {
        near.read_exact(&mut [0; 100]).await.unwrap();
        watch.control_frame(44);
    }
    let left = watch.0.unfinished.load(Relaxed);
    assert_eq!(left, TIMES * 50);
    assert_eq!(watch.0.charged.load(Relaxed), 0);
    near.read_exact(&mut [0; 300]).await.unwrap();
    assert!(watch.0.charged.load(Relaxed) > 0);
    watch.control_frame(FREE * 2);
    assert_eq!(watch.0.charged.load(Relaxed), 0);
    assert!(watch.0.account.lock().is_none());
}
