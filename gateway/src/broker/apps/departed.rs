//! Apps that were connected and are gone, such as an app whose page is loaded anew. Who calls a tool of such an app
//! at the address of all apps learns that the app is away, and not that there is no such tool.

use std::collections::VecDeque;
use std::sync::Arc;

use super::assortment::without_prefix;
use super::capability_info::plain;
use super::offer::Offer;
use crate::tokens::Identity;

/// How many apps are remembered.
const MOST: usize = 64;
/// How many bytes the names of one app's capabilities take at most. Further names are not remembered.
const MOST_BYTES: usize = 64 << 10;

/// The apps that have left last, the latest at the end.
#[derive(Debug, Default)]
pub(super) struct Departed(VecDeque<Left>);

#[derive(Debug)]
struct Left {
    id: Arc<str>,
    /// The names of its capabilities.
    names: Box<[Box<str>]>,
}

impl Departed {
    /// The last connection of an app is gone.
    pub fn left(&mut self, id: Arc<str>, offer: &Offer) {
        self.came(&id);
        let mut room = MOST_BYTES;
        let names = offer.capabilities.iter().map(|it| &*it.name);
        let names = names.take_while(|name| match room.checked_sub(name.len()) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        });
        let names = names.map(Box::from).collect();
        self.0.push_back(Left { id, names });
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// An app is connected.
    pub fn came(&mut self, id: &str) {
        self.0.retain(|left| *left.id != *id);
    }

    /// The id of the app that has left last, of those that `viewer` may reach and that had a capability or tool of
    /// that name. The name may have the app's id before it.
    pub fn with(&self, name: &str, viewer: &Identity) -> Option<Arc<str>> {
        let mut left = self.0.iter().rev().filter(|it| viewer.may_reach(&it.id));
        let had = left.find(|it| {
            let dotted = name
                .strip_prefix(&*it.id)
                .and_then(|it| it.strip_prefix('.'));
            let said = [Some(name), dotted, without_prefix(&it.id, name)];
            let mut said = said.into_iter().flatten();
            said.any(|said| it.names.iter().any(|name| is_called(name, said)))
        });
        had.map(|it| it.id.clone())
    }
}

/// Whether the capability, or its tool, has the name that was said.
fn is_called(capability: &str, said: &str) -> bool {
    capability == said || plain(capability).eq(said.chars())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offer(id: &str, names: &[String]) -> Offer {
        let app = json!({ "id": id, "name": id, "version": "1" });
        let read = |name: &String| serde_json::from_value(json!({ "name": name })).unwrap();
        let capabilities = names.iter().map(read).collect();
        Offer::new(serde_json::from_value(app).unwrap(), capabilities)
    }

    fn left(departed: &mut Departed, id: &str, names: &[&str]) {
        let names: Vec<_> = names.iter().map(|it| it.to_string()).collect();
        departed.left(id.into(), &offer(id, &names));
    }

    #[test]
    fn an_app_that_is_away_is_known_by_its_tools_until_it_comes_back() {
        let mut departed = Departed::default();
        left(&mut departed, "my app", &["export.pdf", "open"]);
        left(&mut departed, "b", &["open"]);
        let anyone = Identity::anyone();
        let with =
            |departed: &Departed, name| departed.with(name, &anyone).map(|it| it.to_string());
        for name in [
            "export.pdf",
            "export_pdf",
            "my app.export.pdf",
            "my_app_export_pdf",
        ] {
            assert_eq!(with(&departed, name).as_deref(), Some("my app"), "{name}");
        }
        assert_eq!(with(&departed, "open").as_deref(), Some("b"));
        for name in ["", "b", "b_export_pdf", "export"] {
            assert_eq!(with(&departed, name), None, "{name}");
        }
        departed.came("my app");
        assert_eq!(with(&departed, "export.pdf"), None);
    }

    #[test]
    fn few_apps_and_few_bytes_of_each_are_remembered() {
        let mut departed = Departed::default();
        let long = "x".repeat(250);
        let names: Vec<_> = (0..1_000).map(|it| format!("{long}{it}")).collect();
        departed.left("large".into(), &offer("large", &names));
        let bytes: usize = departed.0[0].names.iter().map(|it| it.len()).sum();
        assert!(bytes <= MOST_BYTES && bytes > MOST_BYTES - 300);
        for number in 0..MOST {
            left(&mut departed, &number.to_string(), &["a"]);
        }
        assert_eq!(departed.0.len(), MOST);
        assert_eq!(departed.with(&names[0], &Identity::anyone()), None);
        left(&mut departed, "0", &["a"]);
        assert_eq!(departed.0.len(), MOST, "an app is remembered once");
    }
}
