//! A peer that is a program: messages over its standard input and output.

use std::process::Stdio;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::frames::Frames;
use super::{Ends, Out, Receive, Wire};

/// Starts `command` with its arguments. What the program writes to standard error is shown if `verbose`.
pub fn start(
    command: &[String],
    frames: Frames,
    verbose: bool,
    receive: Receive,
    closed: impl FnOnce(&str) + Send + 'static,
) -> Result<Wire, String> {
    let [program, arguments @ ..] = command else {
        return Err("no command".into());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(if verbose {
            Stdio::inherit()
        } else {
            Stdio::null()
        })
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("no pipes".into());
    };
    let (wire, ends) = Wire::new();
    let Ends {
        out,
        back,
        over,
        cut,
    } = ends;
    tokio::spawn(write(out, frames, input));
    tokio::spawn(async move {
        let reading = async {
            let why = read(output, frames, receive, back).await;
            // The program has closed its output. It has ended when its process has.
            let _ = child.wait().await;
            why
        };
        let why = tokio::select! {
            why = reading => why,
            () = cut.notified() => "cut".to_owned(),
        };
        stop(&mut child).await;
        over.send_replace(true);
        closed(&why);
    });
    Ok(wire)
}

async fn stop(child: &mut Child) {
    let _ = child.start_kill();
    let _ = child.wait().await;
}

async fn write(
    mut out: tokio::sync::mpsc::UnboundedReceiver<Out>,
    frames: Frames,
    mut input: ChildStdin,
) {
    while let Some(first) = out.recv().await {
        let mut bytes = Vec::new();
        let mut ends = false;
        // All that waits leaves in one write.
        for next in std::iter::once(first).chain(std::iter::from_fn(|| out.try_recv().ok())) {
            match next {
                Out::Message(message) => frames.write(&message, &mut bytes),
                Out::End => ends = true,
            }
        }
        if input.write_all(&bytes).await.is_err() || input.flush().await.is_err() || ends {
            return;
        }
    }
}

async fn read(
    output: ChildStdout,
    frames: Frames,
    receive: Receive,
    back: tokio::sync::mpsc::WeakUnboundedSender<Out>,
) -> String {
    let mut output = BufReader::new(output);
    loop {
        match frames.read(&mut output).await {
            Ok(Some(Ok(message))) => {
                if let (Some(reply), Some(back)) = (receive(message), back.upgrade()) {
                    let _ = back.send(Out::Message(reply));
                }
            }
            // Some programs write their greetings to standard output.
            Ok(Some(Err(_))) => {}
            Ok(None) => return "the program has ended".into(),
            Err(error) => return error.to_string(),
        }
    }
}
