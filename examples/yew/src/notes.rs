use caphost::{Error, Progress};
use gloo_timers::future::TimeoutFuture;
use serde::{Deserialize, Serialize};
use yew::prelude::*;

use crate::app::Props;
use crate::hooks::use_capability;

#[derive(Deserialize)]
struct Note {
    text: String,
}

#[derive(Serialize)]
struct Exported {
    pages: u32,
}

/// The list of notes. People write notes here, and agents may write notes too.
#[component]
pub fn Notes(Props { host }: &Props) -> Html {
    let notes = use_state(|| vec![AttrValue::from("Buy milk")]);

    let add = notes.clone();
    use_capability(
        host,
        "notes.add",
        |capability| {
            capability.description("Adds a note").input_schema(
                r#"{ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }"#,
            )
        },
        move |Note { text }, _| {
            let mut longer = (*add).clone();
            longer.push(text.into());
            let count = longer.len();
            add.set(longer);
            async move { Ok(count) }
        },
    );

    use_capability(
        host,
        "notes.export",
        |capability| capability.description("Exports the notes, slowly"),
        // When the call is cancelled, this future is dropped at the await where it waits.
        |_: serde_json::Value, context| async move {
            for page in 1..=100 {
                context.progress(Progress::new(page, 100));
                TimeoutFuture::new(100).await;
            }
            Ok::<_, Error>(Exported { pages: 100 })
        },
    );

    html! { <ul id="notes">{ for notes.iter().map(|text| html! { <li>{ text }</li> }) }</ul> }
}
