use caphost::Host;
use yew::prelude::*;

use crate::assistant::Assistant;
use crate::notes::Notes;

#[derive(Properties, PartialEq)]
pub struct Props {
    pub host: Host,
}

#[component]
pub fn Page(Props { host }: &Props) -> Html {
    html! {
        <main>
            <h1>{ "Notes" }</h1>
            <Notes host={host.clone()} />
            <Assistant host={host.clone()} />
        </main>
    }
}
