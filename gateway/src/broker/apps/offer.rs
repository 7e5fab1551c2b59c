//! What an app offers. Many requests look up capabilities, and an app may have many. So an index of them is
//! made once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::capability_info::{CapabilityInfo, plain};
use super::tool_names::{name_bytes, tool_names};

/// Length of an app's id and of a capability's name, in characters: as long as a page allows.
pub const MAX_NAME_CHARS: usize = 256;

/// The description of an app.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct AppInfo {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The app's own version.
    pub version: String,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Bytes kept of a capability beside its texts, with the allocator's part of a short name. That is many times
/// more than the thirteen bytes of the smallest capability as JSON.
const AROUND_TEXTS: usize = size_of::<CapabilityInfo>() + 32 + Index::EACH;

/// What an app has registered.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Offer {
    /// The app.
    pub app: AppInfo,
    /// Its capabilities.
    pub capabilities: Vec<CapabilityInfo>,
    #[serde(skip)]
    index: Index,
}

impl Offer {
    /// The offer of that app.
    pub fn new(app: AppInfo, capabilities: Vec<CapabilityInfo>) -> Self {
        let index = Index::default();
        Offer {
            app,
            capabilities,
            index,
        }
    }

    /// The size of the offer in memory, in bytes.
    pub(in crate::broker) fn bytes(&self) -> usize {
        let AppInfo {
            id,
            name,
            version,
            description,
        } = &self.app;
        let about = id.len() + name.len() + version.len();
        let each = |it: &CapabilityInfo| it.texts() + name_bytes(&it.name) + AROUND_TEXTS;
        let capabilities = self.capabilities.iter().map(each);
        about + description.as_ref().map_or(0, String::len) + capabilities.sum::<usize>()
    }

    /// The app's `/abp.json`.
    pub fn manifest(&self) -> String {
        #[derive(Serialize)]
        struct Manifest<'a> {
            abp: &'static str,
            #[serde(flatten)]
            registration: &'a Offer,
        }
        serde_json::to_string(&Manifest {
            abp: "0.1",
            registration: self,
        })
        .unwrap_or_default()
    }

    /// The capability of that name.
    pub fn named(&self, name: &str) -> Option<&CapabilityInfo> {
        self.capabilities.get(self.place_of(name)?)
    }

    /// The capabilities whose plain name is `name`, in order. If `name` has more than `most` characters, a
    /// plain name that begins with it counts too.
    pub fn plainly_named(&self, name: &str, most: usize) -> impl Iterator<Item = &CapabilityInfo> {
        let order = &self.order().by_plain_name;
        let before = |it: &CapabilityInfo| it.plain_name().take(most).lt(name.chars());
        let first = order.partition_point(|it| self.at(it).is_some_and(before));
        let alike = order.get(first..).unwrap_or_default().iter();
        let alike = alike.filter_map(|it| self.at(it));
        alike.take_while(move |it| it.plain_name().take(most).eq(name.chars()))
    }

    /// The capabilities in order of their plain names.
    pub fn by_plain_name(&self) -> impl Iterator<Item = &CapabilityInfo> {
        let order = self.order().by_plain_name.iter();
        order.filter_map(|it| self.at(it))
    }

    /// The tool names of the capabilities, in order.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        let order = self.order();
        let all = self.capabilities.iter().enumerate();
        all.map(|(place, it)| order.tool_name(place).unwrap_or(&it.name))
    }

    /// The capability of the tool with that name.
    pub fn tool(&self, name: &str) -> Option<&CapabilityInfo> {
        let order = self.order();
        let tool_name = |place: &u32| {
            let own = self.at(place).map_or("", |it| &*it.name);
            order.tool_name(*place as usize).unwrap_or(own)
        };
        let by_tool_name = &order.by_tool_name;
        let found = by_tool_name.binary_search_by(|place| tool_name(place).cmp(name));
        self.at(by_tool_name.get(found.ok()?)?)
    }

    /// Whether the capability of that name makes a promise. `promises` decides that, once for all
    /// capabilities.
    pub fn keeps_promise(&self, name: &str, promises: impl Fn(&CapabilityInfo) -> bool) -> bool {
        let kept = self.index.promises.get_or_init(|| {
            let all = self.capabilities.iter().map(promises);
            all.collect()
        });
        let place = self.place_of(name);
        place.is_some_and(|place| kept.get(place).is_some_and(|it| *it))
    }

    /// A number that changes with the capabilities.
    pub fn fingerprint(&self) -> u64 {
        *self.index.fingerprint.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            for it in &self.capabilities {
                let schemas = [&it.input_schema, &it.output_schema];
                let schemas = schemas.map(|schema| schema.as_deref().map(|it| it.get()));
                let said = (&it.name, &it.title, &it.description, it.annotations);
                let said = (said, &it.confirm);
                (said, schemas).hash(&mut hasher);
            }
            hasher.finish()
        })
    }

    /// The place of the capability of that name in the list.
    fn place_of(&self, name: &str) -> Option<usize> {
        let order = &self.order().by_name;
        let name_at = |place: &u32| self.at(place).map_or("", |it| &*it.name);
        let found = order.binary_search_by(|place| name_at(place).cmp(name));
        Some(*order.get(found.ok()?)? as usize)
    }

    fn order(&self) -> &Order {
        self.index.order(&self.capabilities)
    }

    fn at(&self, place: &u32) -> Option<&CapabilityInfo> {
        self.capabilities.get(*place as usize)
    }
}

/// Made on first use. A copy makes its own index, because its offer may change.
#[derive(Debug, Default)]
pub(in crate::broker) struct Index {
    order: OnceLock<Order>,
    promises: OnceLock<Box<[bool]>>,
    fingerprint: OnceLock<u64>,
}

/// Places of capabilities in their list.
#[derive(Debug)]
struct Order {
    by_name: Box<[u32]>,
    by_plain_name: Box<[u32]>,
    by_tool_name: Box<[u32]>,
    /// The name of the tool, where it is not the capability's own name.
    tool_names: Box<[Option<Box<str>>]>,
}

impl Order {
    fn tool_name(&self, place: usize) -> Option<&str> {
        self.tool_names.get(place)?.as_deref()
    }
}

impl Clone for Index {
    fn clone(&self) -> Self {
        Index::default()
    }
}

impl PartialEq for Index {
    /// The index says nothing that the capabilities do not say.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Index {
    /// Bytes of the index for each capability.
    pub const EACH: usize = 3 * size_of::<u32>() + size_of::<Box<str>>() + 1;

    fn order(&self, all: &[CapabilityInfo]) -> &Order {
        self.order.get_or_init(|| {
            // There are never as many as `u32::MAX`.
            let places = 0..u32::try_from(all.len()).unwrap_or(u32::MAX);
            let name = |place: u32| all.get(place as usize).map_or("", |it| &*it.name);
            let mut by_name: Box<[u32]> = places.collect();
            let mut by_plain_name = by_name.clone();
            by_name.sort_by(|one, other| name(*one).cmp(name(*other)));
            by_plain_name.sort_by(|one, other| plain(name(*one)).cmp(plain(name(*other))));
            let names: Vec<_> = all.iter().map(|it| &*it.name).collect();
            let tool_names = tool_names(&names);
            let mut by_tool_name = by_plain_name.clone();
            by_tool_name.sort_by_key(|place| {
                let tool_name = tool_names.get(*place as usize)?.as_deref();
                Some(tool_name.unwrap_or_else(|| name(*place)))
            });
            Order {
                by_name,
                by_plain_name,
                by_tool_name,
                tool_names,
            }
        })
    }
}
