//! The turns and the progress of a capability, by its call's context.

use crate::pace::Pace;
use crate::stages::{Stages, Weights};
use caphost::{CallContext, Progress};

/// The pace of one call.
pub struct Turns {
    context: CallContext,
    stages: Stages,
}

impl Turns {
    pub fn new(context: CallContext, weights: Weights) -> Self {
        Self {
            context,
            stages: Stages::new(weights),
        }
    }
}

impl Pace for Turns {
    async fn checkpoint(&self) {
        self.context.checkpoint().await;
    }

    fn progress(&self, done: usize, total: usize, stage: &str) {
        if let Some(percent) = self.stages.percent(stage, done, total) {
            let progress = Progress::new(f64::from(percent), 100.0).stage(stage);
            let status = match total {
                0 | 1 => stage.to_owned(),
                _ => format!("{stage}: {done} of {total}"),
            };
            self.context.progress(progress.status(&status));
        }
    }
}
