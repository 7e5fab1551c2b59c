use caphost::{Agent, Host};
use serde::Deserialize;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use crate::app::Props;
use crate::hooks::{Stage, use_action};

/// An agent in the page of the app. In a page around the app it would come from `Agent::to_window`.
#[component]
pub fn Assistant(Props { host }: &Props) -> Html {
    let agent = use_state(|| None::<Agent>);
    let (host, connected): (Host, _) = (host.clone(), agent.setter());
    use_effect_with((), move |()| {
        spawn_local(async move {
            let agent = Agent::in_page(&host).await;
            connected.set(Some(agent.expect("the host is open")));
        });
    });
    match &*agent {
        Some(agent) => html! { <Calls agent={agent.clone()} /> },
        None => html! { <p>{ "Connecting…" }</p> },
    }
}

#[derive(Properties, PartialEq)]
struct CallsProps {
    agent: Agent,
}

#[derive(Clone, Deserialize)]
struct Exported {
    pages: u32,
}

#[component]
fn Calls(CallsProps { agent }: &CallsProps) -> Html {
    let export = use_action::<Exported>(agent, "notes.export");
    let running = matches!(export.stage, Stage::Running(_));
    let add = {
        let agent = agent.clone();
        Callback::from(move |_| {
            let note = serde_json::json!({ "text": "From the assistant" });
            let call = agent.call::<usize>("notes.add", &note).start();
            spawn_local(async move {
                call.await.expect("a note can be added");
            });
        })
    };
    html! {
        <section>
            <button id="add" onclick={add}>{ "Add a note" }</button>
            <button id="export" onclick={export.start.reform(|_| ())} disabled={running}>{ "Export" }</button>
            <button id="stop" onclick={export.stop.reform(|_| ())} disabled={!running}>{ "Stop" }</button>
            <p><output id="said">{ said(&export.stage) }</output></p>
        </section>
    }
}

fn said(stage: &Stage<Exported>) -> String {
    match stage {
        Stage::Idle => String::new(),
        Stage::Running(info) => format!("{} %", info.percentage.unwrap_or(0.0).round()),
        Stage::Over(result) => match &**result {
            Ok(exported) => format!("{} pages", exported.pages),
            Err(error) => error.stop().map_or_else(|| error.to_string(), |stop| format!("Stopped: {stop}")),
        },
    }
}
