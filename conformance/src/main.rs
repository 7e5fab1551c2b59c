//! The program `caphost-conformance`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use caphost_conformance::context::Context;
use caphost_conformance::options::Options;
use caphost_conformance::report::{Report, html, junit, text};
use caphost_conformance::requirement::Requirement;
use caphost_conformance::wire::Target;
use caphost_conformance::{app, dialects, expected, requirements, suite};
use clap::Parser;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("caphost-conformance: {why}");
            ExitCode::from(2)
        }
    }
}

/// Whether all that is required holds. `Err` says what is wrong with the command line.
async fn run(options: &Options) -> Result<bool, String> {
    let all = requirements::of(options.dialect);
    if options.list {
        for Requirement {
            id,
            level,
            sentence,
            source,
            ..
        } in all
        {
            say(&format!(
                "{id}  {:<6} {sentence}\n{:18}{source}",
                level.word(),
                ""
            ));
        }
        return Ok(true);
    }
    let known = match &options.expected {
        Some(path) => expected::read(
            &fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?,
        )?,
        None => BTreeMap::new(),
    };
    if let Some(id) = known
        .keys()
        .find(|id| all.iter().all(|it| it.id != id.as_str()))
    {
        return Err(format!(
            "the file of expected failures names {id}, which is no requirement of {}",
            options.dialect.word()
        ));
    }
    let chosen = |it: &&Requirement| {
        options.only.is_empty()
            || options
                .only
                .iter()
                .any(|part| it.id.contains(part.as_str()))
    };
    let chosen = all.iter().filter(chosen).collect::<Vec<_>>();
    if chosen.is_empty() {
        return Err("--only names no requirement".into());
    }
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let app = match &options.bring {
        Some(url) => Some(app::bring(url, options.bring_token.as_deref()).await),
        None => None,
    };
    if let Some(Err(why)) = &app {
        eprintln!("caphost-conformance: {why}");
        return Ok(false);
    }
    let cx = Context::new(dialects::peer(options)?, options.races, options.grace, seed);
    let rows = suite::run(&cx, &chosen, &known, |row| {
        if !options.json {
            say(&text::line(row));
        }
    })
    .await;
    let report = Report {
        dialect: options.dialect.word(),
        title: options.dialect.title(),
        peer: match options.target() {
            Target::Url { url, .. } => url,
            Target::Command { command, .. } => command.join(" "),
        },
        name: cx.peer.name(),
        suite: env!("CARGO_PKG_VERSION"),
        at: OffsetDateTime::now_utc()
            .replace_nanosecond(0)
            .ok()
            .and_then(|it| it.format(&Rfc3339).ok())
            .unwrap_or_default(),
        seed,
        races: options.races,
        require: options.require,
        rows,
    };
    let holds = suite::holds(&report);
    if options.json {
        say(&serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        let verdict = if holds {
            "All that is required holds"
        } else {
            "Not all that is required holds"
        };
        say(&format!(
            "\n{}: {}. {verdict} (seed {seed}).",
            report.name.as_deref().unwrap_or(&report.peer),
            report.summary()
        ));
    }
    save(options.junit.as_deref(), || junit::write(&report))?;
    save(options.html.as_deref(), || html::write(&report, holds))?;
    Ok(holds)
}

/// Writes to standard output. Whoever reads it may have left.
fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

fn save(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), String> {
    match path {
        Some(path) => {
            fs::write(path, text()).map_err(|error| format!("{}: {error}", path.display()))
        }
        None => Ok(()),
    }
}
