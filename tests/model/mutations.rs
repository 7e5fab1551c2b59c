/// A change of the core that breaks a rule.
pub struct Mutation {
    /// What is wrong then.
    pub says: &'static str,
    /// In `src`.
    pub file: &'static str,
    /// The text that is replaced, which stands once in the file.
    pub from: &'static str,
    /// The replacement. `MUTANT` is true while the mutation is switched on.
    pub to: &'static str,
}

const fn m(
    says: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
) -> Mutation {
    Mutation {
        says,
        file,
        from,
        to,
    }
}

/// At least one for each rule.
pub const MUTATIONS: &[Mutation] = &[
    m(
        "1: a cancelled call is remembered as completed",
        "session/tree.rs",
        "stop.map_or(End::Completed, End::Cancelled)",
        "stop.filter(|_| !MUTANT).map_or(End::Completed, End::Cancelled)",
    ),
    m(
        "1: the confirmation says a stronger grade than the response",
        "session/tree.rs",
        "CancelAnswer::Cancelled { stop, ended, by }\n        });",
        "CancelAnswer::Cancelled { stop: if MUTANT { Stop::NeverStarted } else { stop }, ended, by }\n        });",
    ),
    m(
        "1: an agent settles a refused call as cancelled",
        "agent/cancels.rs",
        "if let Some(grade) = outcome.grade {\n                let confirmation",
        "if let Some(grade) = outcome.grade.or(MUTANT.then(Grade::default)) {\n                let confirmation",
    ),
    m(
        "2: a completed call is unknown to a later cancel",
        "call/ledger.rs",
        "if self.withdraw(id) {",
        "if self.withdraw(id) && !(MUTANT && end == End::Completed) {",
    ),
    m(
        "2: a call that completes while it is stopped is confirmed as cancelled",
        "session/tree.rs",
        "let answer = stop.map_or(CancelAnswer::AlreadyCompleted, |stop| {",
        "let answer = stop.or((MUTANT && call.phase == Phase::Stopping).then_some(Stop::Returned)).map_or(CancelAnswer::AlreadyCompleted, |stop| {",
    ),
    m(
        "3: one more end is forgotten than the session remembers",
        "call/recent.rs",
        "if self.order.len() > self.capacity\n",
        "if self.order.len() + usize::from(MUTANT) > self.capacity\n",
    ),
    m(
        "3: one more end is remembered",
        "call/recent.rs",
        "        self.order.push_back(entry);\n",
        "        self.order.push_back(entry);\n        if MUTANT && self.order.len() == self.capacity + 1 {\n            return;\n        }\n",
    ),
    m(
        "4: a handler is not told",
        "session/stopping.rs",
        "        if began {\n",
        "        if began && !MUTANT {\n",
    ),
    m(
        "4: the grace of a handler has no deadline",
        "session/stopping.rs",
        "            self.deadlines.insert(now + grace, DeadlineOf::Settle(key));\n        }\n        true",
        "            if !MUTANT { self.deadlines.insert(now + grace, DeadlineOf::Settle(key)); }\n        }\n        true",
    ),
    m(
        "4: a told handler is not waited for",
        "session/stopping.rs",
        "Ending::Told { grace } if grace <= 0.0 =>",
        "Ending::Told { grace } if grace <= 0.0 || MUTANT =>",
    ),
    m(
        "5: a call that is cancelled in the tick of its making starts",
        "session/stopping.rs",
        "        if call.phase == Phase::Stopping {\n            return false;\n        }\n        let began",
        "        if call.phase == Phase::Stopping || MUTANT && call.phase == Phase::Ready {\n            return false;\n        }\n        let began",
    ),
    m(
        "a call starts although its parameters do not fit",
        "session/calls.rs",
        "Err(error) => self.end(key, Outcome::Failed(error), now),\n        }\n    }\n\n    /// Tells the agents",
        "Err(error) => if MUTANT { self.line_up(key, now) } else { self.end(key, Outcome::Failed(error), now) },\n        }\n    }\n\n    /// Tells the agents",
    ),
    m(
        "a call starts before its parameters are checked",
        "session/calls.rs",
        "            Some(check) => self.actions.push_back(check),",
        "            Some(check) => { self.actions.push_back(check); if MUTANT { self.line_up(key, now) } }",
    ),
    m(
        "a call starts before a person allows it",
        "session/consent.rs",
        "            self.tell_consent(key, Some(asked));",
        "            self.tell_consent(key, Some(asked)); if MUTANT { self.line_up(key, now) }",
    ),
    m(
        "a call that a person denies starts",
        "session/consent.rs",
        "if waited && allowed == Some(true) {",
        "if waited && (MUTANT || allowed == Some(true)) {",
    ),
    m(
        "5: a call that has ended keeps its slot",
        "session/tree.rs",
        "        if !call.has_slot {\n",
        "        if !call.has_slot || MUTANT {\n",
    ),
    m(
        "5: one more call runs than may run at once",
        "call/queue.rs",
        "self.holders.len() < limit &&",
        "self.holders.len() < limit + usize::from(MUTANT) &&",
    ),
    m(
        "6: the host keeps no timeouts",
        "session/state.rs",
        "DeadlineOf::Call(key) => self.cancel_tree(key, None, now),",
        "DeadlineOf::Call(key) => if !MUTANT { self.cancel_tree(key, None, now) },",
    ),
    m(
        "6: the agent keeps none either, and waits for ever",
        "agent/calls.rs",
        "            if let Some(timeout) = call.timeout {\n                let slack",
        "            if let Some(timeout) = call.timeout.filter(|_| !MUTANT) {\n                let slack",
    ),
    m(
        "7: a handler that rejects after its signal has failed",
        "session/stopping.rs",
        "Ok(data) if !call.stopping.told => self.finish(key, Outcome::Completed(data), now),",
        "Ok(data) if !call.stopping.told => self.finish(key, Outcome::Completed(data), now),\n            Err(error) if MUTANT => self.finish(key, Outcome::Failed(error), now),",
    ),
    m(
        "7: a handler that stops by itself has failed",
        "session/calls.rs",
        "Err(error)) if error.code == Code::CANCELLED =>",
        "Err(error)) if error.code == Code::CANCELLED && !MUTANT =>",
    ),
    m(
        "7: every error of a handler counts as cancelled",
        "session/calls.rs",
        "(Phase::Running, Err(error)) if",
        "(Phase::Running, Err(error)) if MUTANT ||",
    ),
    m(
        "8: a callId is used again while its call is in flight",
        "session/calls.rs",
        "if session.ledger.standing(&request.id) != Standing::Unknown {",
        "if session.ledger.standing(&request.id) != Standing::Unknown && !(MUTANT && matches!(session.ledger.standing(&request.id), Standing::InFlight(_))) {",
    ),
    m(
        "8: a callId is used again after its call has ended",
        "session/calls.rs",
        "            let message = format!(\"The callId",
        "            if MUTANT && matches!(session.ledger.standing(&request.id), Standing::Ended(_)) { return self.registry.get(&request.capability).cloned().ok_or_else(not_initialized); }\n            let message = format!(\"The callId",
    ),
    m(
        "9: a cancel reaches the call of another session",
        "session/cancels.rs",
        "            Some(_) => None,\n            // A shutdown",
        "            Some(_) if MUTANT => self.calls.iter().find(|(_, it)| it.id.as_str() == call).map(|(key, _)| *key),\n            Some(_) => None,\n            // A shutdown",
    ),
    m(
        "10: a cancel of a call leaves those that it made alone",
        "session/tree.rs",
        "                stack.extend(self.children_of(key));",
        "                if !MUTANT { stack.extend(self.children_of(key)); }",
    ),
    m(
        "10: a tree is told from its root",
        "session/tree.rs",
        "        order.reverse();",
        "        if !MUTANT { order.reverse(); }",
    ),
    m(
        "10: a cancel of a child cancels its parent",
        "session/cancels.rs",
        "            return self.cancel_tree(key, reason.as_ref(), now);\n        }\n        let answer",
        "            let above = self.calls.get(&key).and_then(|it| it.parent.as_ref()).map(|it| it.key);\n            return self.cancel_tree(above.filter(|_| MUTANT).unwrap_or(key), reason.as_ref(), now);\n        }\n        let answer",
    ),
    m(
        "10: a call ends and leaves what it made running",
        "session/tree.rs",
        "        for child in self.children_of(key) {\n            self.cancel_tree(child, Some(&PARENT_ENDED.into()), now);\n        }\n        self.finish(key, outcome, now);",
        "        for child in self.children_of(key) {\n            if !MUTANT { self.cancel_tree(child, Some(&PARENT_ENDED.into()), now); }\n        }\n        self.finish(key, outcome, now);",
    ),
    m(
        "10: a call that is stopped may still make calls",
        "session/calls.rs",
        "        if refuses {",
        "        if refuses && !MUTANT {",
    ),
    m(
        "11: a shutdown is answered before its calls",
        "session/connection.rs",
        "closing.position(|it| it.ledger.in_flight() == 0 &&",
        "closing.position(|it| (it.ledger.in_flight() == 0 || MUTANT) &&",
    ),
    m(
        "11: a shutdown cancels nothing",
        "session/connection.rs",
        "            self.cancel_all(connection, reason.as_ref(), now);\n            self.end_session(connection, Some",
        "            if !MUTANT { self.cancel_all(connection, reason.as_ref(), now); }\n            self.end_session(connection, Some",
    ),
    m(
        "11: a lost connection cancels nothing",
        "session/connection.rs",
        "        self.cancel_all(connection, reason.as_ref(), now);\n        self.end_session(connection, None);",
        "        if !MUTANT { self.cancel_all(connection, reason.as_ref(), now); }\n        self.end_session(connection, None);",
    ),
    m(
        "11: a loss counts as a cancel",
        "agent/end.rs",
        "            self.settle(key, Settled::Failed(Error::new(Code::DISCONNECTED, said)));",
        "            if MUTANT { self.settle(key, Settled::Cancelled(crate::call::Stop::Abandoned.into())); }\n            self.settle(key, Settled::Failed(Error::new(Code::DISCONNECTED, said)));",
    ),
    m(
        "11: a cancel is left open by a loss",
        "agent/end.rs",
        "            self.actions.push_back(Action::SettleCancel(key, outcome));\n        }\n        self.cancels",
        "            if !MUTANT { self.actions.push_back(Action::SettleCancel(key, outcome)); }\n        }\n        self.cancels",
    ),
    m(
        "12: a call without a session is refused as a reused one",
        "session/calls.rs",
        "self.session_mut(connection).ok_or_else(not_initialized)?;",
        "self.session_mut(connection).ok_or_else(|| if MUTANT { Error::invalid_params(\"no\") } else { not_initialized() })?;",
    ),
    m(
        "13: a question outlives its call",
        "session/stopping.rs",
        "        for question in in_order(questions.into_iter()) {",
        "        for question in in_order(questions.into_iter()).into_iter().filter(|_| !MUTANT) {",
    ),
    m(
        "13: an agent passes progress on after the end",
        "session/progress.rs",
        "        if !self.takes_progress(key) {\n            return;",
        "        if !self.takes_progress(key) {\n            if MUTANT { let to = *self.connections.keys().next().unwrap(); let id = crate::call::CallId::parse(\"a\").unwrap(); self.actions.push_back(super::action::Action::Progress { to, id, token: None, info }); }\n            return;",
    ),
    m(
        "14: the response comes before the confirmations",
        "session/tree.rs",
        "        for asker in call.take(|it| &mut it.askers) {\n            self.confirm(&call, asker, answer);\n        }",
        "        let last = call.take(|it| &mut it.askers);\n        if !MUTANT { for asker in last { self.confirm(&call, asker, answer); } }",
    ),
    m(
        "15: a cancel that nobody answers counts as confirmed",
        "agent/cancels.rs",
        "known.unwrap_or_else(CancelOutcome::unconfirmed)",
        "known.unwrap_or_else(|| if MUTANT { CancelOutcome::confirmed(Stop::Abandoned) } else { CancelOutcome::unconfirmed() })",
    ),
    m(
        "15: a cancel that nobody answers is waited for",
        "agent/cancels.rs",
        "            .insert(now + self.options.grace, DeadlineOf::Cancel(key));",
        "            .insert(now + if MUTANT { 1e6 } else { self.options.grace }, DeadlineOf::Cancel(key));",
    ),
    m(
        "15: a call that was sent is cancelled by its agent alone",
        "agent/calls.rs",
        "pending.is_some_and(|pending| !pending.sent)",
        "pending.is_some_and(|pending| !pending.sent || MUTANT)",
    ),
    m(
        "16: a deadline outlives its call",
        "session/state.rs",
        "        DeadlineOf::Call(key) | DeadlineOf::Settle(key) | DeadlineOf::Progress(key) => {\n            calls.contains_key(&key)",
        "        DeadlineOf::Call(key) | DeadlineOf::Settle(key) | DeadlineOf::Progress(key) => {\n            MUTANT || calls.contains_key(&key)",
    ),
    m(
        "19: a late confirmation is forgotten",
        "call/ledger.rs",
        "        if let Some((call, end)) = self.ended.given_up(key).zip(end) {",
        "        if let Some((call, end)) = self.ended.given_up(key).zip(end).filter(|_| !MUTANT) {",
    ),
    m(
        "grades: a future that was dropped is never-started",
        "session/stopping.rs",
        "Ending::AtOnce => (Some(Stop::Dropped), 0.0),",
        "Ending::AtOnce => (Some(if MUTANT { Stop::NeverStarted } else { Stop::Dropped }), 0.0),",
    ),
    m(
        "grades: an abandoned handler is returned",
        "session/stopping.rs",
        "call.stopping.own.unwrap_or(Stop::Abandoned)",
        "call.stopping.own.unwrap_or(if MUTANT { Stop::Returned } else { Stop::Abandoned })",
    ),
    m(
        "grades: a worker that was not proven to end is terminated",
        "session/stopping.rs",
        "        call.stopping.own.get_or_insert(stop);\n        if stop == Stop::Abandoned {",
        "        let stop = if MUTANT { Stop::Terminated } else { stop };\n        call.stopping.own.get_or_insert(stop);\n        if stop == Stop::Abandoned {",
    ),
    m(
        "grades: a whole has the grade of its own handler",
        "session/stopping.rs",
        "below.map_or(own, |below| below.max(own)))\n    }\n\n    /// A deadline has passed",
        "below.filter(|_| !MUTANT).map_or(own, |below| below.max(own)))\n    }\n\n    /// A deadline has passed",
    ),
    m(
        "grades: a handler that was told has completed",
        "session/stopping.rs",
        "        call.stopping.told |= told;\n        match result {",
        "        call.stopping.told |= told && !MUTANT;\n        match result {",
    ),
    m(
        "grades: a handler that was not told is returned",
        "session/stopping.rs",
        "told: !questions.is_empty(),",
        "told: !questions.is_empty() || MUTANT,",
    ),
    m(
        "grades: a late end is reported while work below goes on",
        "session/late.rs",
        "if calls.get(&key).is_none_or(|it| it.runs || it.below > 0) {",
        "if calls.get(&key).is_none_or(|it| it.runs || it.below > 0 && !MUTANT) {",
    ),
    m(
        "grades: a late end is not reported",
        "session/late.rs",
        "        if wanted {",
        "        if wanted && !MUTANT {",
    ),
    m(
        "an agent settles a call again when its answer comes twice",
        "agent/replies.rs",
        "            self.ledger.come_late(key, end);\n            return;",
        "            if MUTANT { self.actions.push_back(Action::Settle(key, Settled::Response(response.clone()))); }\n            self.ledger.come_late(key, end);\n            return;",
    ),
];
