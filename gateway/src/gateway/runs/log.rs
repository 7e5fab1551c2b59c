//! Counts and logs the events of runs. The log never contains parameters, results, reasons or secrets.

use smallvec::SmallVec;

use crate::broker::calls::{Calls, Dialect, News, Run, RunId};
use crate::cluster::Notice;
use crate::gateway::hub::Hub;
use crate::gateway::metrics::CancelResult;
use crate::wire::for_log;
use caphost::call::Stop;

impl Hub {
    /// Changes the ledger at the present time, and reports the events.
    pub(crate) fn change_runs<T>(&self, change: impl FnOnce(&mut Calls, u64) -> T) -> T {
        let now = self.now().unix_ms;
        let mut state = self.state();
        let runs = state.broker.runs_mut();
        let result = change(runs, now);
        let news = runs.take_news();
        drop(state);
        self.report(news);
        result
    }

    /// Counts and logs the events without a lock on the ledger.
    pub(crate) fn report(&self, news: SmallVec<[News; 2]>) {
        for event in news {
            match event {
                News::Registered(run, dialect) => {
                    self.metrics.run_started(dialect);
                    if tracing::enabled!(tracing::Level::DEBUG) {
                        self.log_start(run, dialect);
                    }
                }
                News::CancelRequested(run) => tracing::info!(%run, "cancel requested"),
                News::CancelRefused(run, dialect) => {
                    let result = CancelResult::Refused;
                    self.metrics.cancel_answered(dialect, result);
                    tracing::info!(%run, "cancel refused: the run goes on");
                }
                News::Ended(run) => {
                    self.metrics.run_ended(&run);
                    log_end(&run, "run ended");
                }
                News::Settled(run) => {
                    self.metrics.run_settled(&run);
                    log_end(&run, "run settled: its app has told the outcome late");
                }
                News::EndedLate(run, dialect, ended) => {
                    self.metrics.run_ended_late(dialect);
                    let (success, after_ms) = (ended.success, ended.after);
                    tracing::info!(%run, success, after_ms, "abandoned work has ended");
                }
                News::EarlyTaken(early) => {
                    if let Some(cluster) = self.cluster() {
                        // A worker that does not hear this forgets the cancel when the cancel expires.
                        let _ = cluster.tell_all(Notice::EarlyTaken(*early));
                    }
                }
            }
        }
    }

    fn log_start(&self, run: RunId, dialect: Dialect) {
        let known = self.state().broker.runs().shared(run);
        let known = known.as_deref();
        tracing::debug!(
            %run,
            dialect = dialect.as_str(),
            call_id = known.map(|it| for_log(&it.call_id)),
            owner = known.map(|it| &*it.owner.name),
            agent = known.and_then(|it| it.agent.as_deref()).map(for_log),
            app = known.and_then(|it| it.app.as_deref()).map(for_log),
            capability = known.map(|it| for_log(&it.capability)),
            "run started"
        );
    }
}

fn log_end(run: &Run, message: &str) {
    tracing::info!(
        run = %run.id,
        dialect = run.dialect.as_str(),
        call_id = for_log(&run.call_id),
        owner = &*run.owner.name,
        agent = run.agent.as_deref().map(for_log),
        app = run.app.as_deref().map(for_log),
        capability = for_log(&run.capability),
        outcome = run.state.as_str(),
        error = run.error.as_deref().map(for_log),
        duration_ms = run.duration(),
        cancel = CancelResult::of(run).map(CancelResult::as_str),
        stop = run.stop().map(Stop::as_str),
        step = run.by.map(|by| by.step.as_str()),
        took_ms = run.by.map(|by| by.took),
        "{message}"
    );
}
