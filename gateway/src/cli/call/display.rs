//! Shows the progress of a call: a bar on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

use console::{Term, is_dumb};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::cli::terminal::{one_line, say};

/// The time between two plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// The time between two frames of the bar.
const FRAME: Duration = Duration::from_millis(100);

/// The template while no progress is known.
const WAITING: &str = "{spinner:.cyan} {prefix}  {elapsed}  {wide_msg}";

/// The template once progress is known.
const GOING: &str =
    "{spinner:.cyan} {prefix}  {bar:24.cyan}  {percent:>3} %  {elapsed}  {wide_msg}";

/// Writes to standard error only. Dropping the display removes the bar.
pub(super) enum Display {
    Bar(ProgressBar),
    Lines { name: String, next: Instant },
    Silent,
}

impl Display {
    /// `lines` is whether to write plain lines without a terminal.
    pub fn new(capability: &str, quiet: bool, lines: bool) -> Self {
        let name = one_line(capability);
        let terminal = Term::stderr().is_term() && !is_dumb();
        if quiet {
            Display::Silent
        } else if terminal {
            let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
            bar.set_style(style(WAITING));
            bar.set_prefix(name);
            bar.enable_steady_tick(FRAME);
            Display::Bar(bar)
        } else if lines {
            let next = Instant::now();
            Display::Lines { name, next }
        } else {
            Display::Silent
        }
    }

    /// The call waits for something without progress.
    pub fn waiting(&self, what: &str) {
        if let Display::Bar(bar) = self {
            bar.set_message(what.to_string());
        }
    }

    /// The call is being cancelled.
    pub fn cancelling(&self) {
        let what = "Cancelling; Ctrl-C again leaves at once";
        match self {
            Display::Bar(bar) => {
                bar.set_style(style(WAITING));
                bar.set_message(what);
            }
            Display::Lines { .. } => say(what),
            Display::Silent => {}
        }
    }

    /// Shows an ABP `ProgressInfo`. The app may have written anything into it.
    pub fn progress(&mut self, info: &Value) {
        let percentage = percentage(info);
        let stage = stage(info);
        match self {
            Display::Bar(bar) => {
                if let Some(percentage) = percentage {
                    bar.set_style(style(GOING));
                    bar.set_position(percentage as u64);
                }
                bar.set_message(stage);
            }
            Display::Lines { name, next } => {
                let now = Instant::now();
                if now < *next {
                    return;
                }
                *next = now + LINE_INTERVAL;
                let amount = match (percentage, info["progress"].as_f64()) {
                    (Some(percentage), _) => format!("{percentage:.0} %"),
                    (None, Some(amount)) => amount.to_string(),
                    (None, None) => "working".to_string(),
                };
                say(format!("{name}: {amount} {stage}").trim_end());
            }
            Display::Silent => {}
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Display::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}

fn percentage(info: &Value) -> Option<f64> {
    let of_total = || Some(info["progress"].as_f64()? / info["total"].as_f64()? * 100.0);
    let percentage = info["percentage"].as_f64().or_else(of_total)?;
    percentage.is_finite().then(|| percentage.clamp(0.0, 100.0))
}

fn stage(info: &Value) -> String {
    let text = |field: &str| info[field].as_str().map(one_line);
    let mut stage = text("stage").or(text("status")).unwrap_or_default();
    if let Some(left) = info["estimatedRemaining"]
        .as_f64()
        .filter(|it| *it >= 1_000.0)
    {
        stage.push_str(&format!(" (about {:.0} s left)", left / 1_000.0));
    }
    stage
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_percentage_is_one() {
        assert_eq!(percentage(&json!({ "percentage": 40 })), Some(40.0));
        assert_eq!(percentage(&json!({ "percentage": 4e9 })), Some(100.0));
        assert_eq!(
            percentage(&json!({ "progress": 1, "total": 4 })),
            Some(25.0)
        );
        for none in [
            json!({}),
            json!({ "progress": 0, "total": 0 }),
            json!({ "percentage": "9" }),
        ] {
            assert_eq!(percentage(&none), None, "{none}");
        }
    }

    #[test]
    fn a_stage_is_a_line() {
        let info =
            json!({ "stage": "ren\x1bder\ning", "status": "s", "estimatedRemaining": 2_400 });
        assert_eq!(stage(&info), "ren\u{fffd}der ing (about 2 s left)");
        assert_eq!(stage(&json!({ "status": "in_progress" })), "in_progress");
    }

    #[test]
    fn every_template_is_one() {
        for template in [WAITING, GOING] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
