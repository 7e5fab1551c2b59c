use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[tokio::test]
async fn a_task_that_panics_or_ends_is_named_while_it_is_down_and_begins_again() {
    let tasks = Tasks {
        first_pause: Duration::from_millis(20),
        ..Tasks::default()
    };
    let begun = AtomicUsize::new(0);
    let task = tasks.keep_going("test", || {
        let time = begun.fetch_add(1, Ordering::Relaxed);
        async move {
            match time {
                0 => panic!("once"),
                1 => ControlFlow::Continue(()),
                _ => std::future::pending().await,
            }
        }
    });
    let look = async {
        let mut was_down = [false; 4];
        loop {
            let begun = begun.load(Ordering::Relaxed);
            let is_down = tasks.down() == ["test"];
            was_down[begun] |= is_down;
            if begun == 3 && !is_down {
                return was_down;
            }
            tokio::task::yield_now().await;
        }
    };
    let was_down = tokio::select! {
        () = task => panic!("it is not over"),
        was_down = look => was_down,
    };
    assert_eq!(
        was_down[..3],
        [false, true, true],
        "after a panic, and after an end"
    );
}

#[tokio::test]
async fn a_task_that_is_over_does_not_begin_again() {
    let tasks = Tasks::default();
    let over = || async { ControlFlow::Break(()) };
    tasks.keep_going("test", over).await;
    assert!(tasks.down().is_empty());
}

#[tokio::test]
async fn a_task_that_cannot_begin_again_stays_down() {
    let tasks = Tasks::default();
    tasks.report("sound", async {}).await;
    tasks.report("test", async { panic!("for good") }).await;
    assert_eq!(tasks.down(), ["test"]);
}
