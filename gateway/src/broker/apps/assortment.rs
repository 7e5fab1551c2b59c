//! The apps behind one address, and the names of their tools. An address may mean one app, or all apps.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::capability_info::{CapabilityInfo, plain};
use super::offer::Offer;
use super::tool_names::tool_names;

/// The offers of the apps behind one address. Of several tabs of an app, the offer of the one that gets new
/// sessions.
#[derive(Debug)]
pub struct Assortment {
    offers: Box<[Arc<Offer>]>,
    fingerprint: OnceLock<u64>,
    /// The names of the tools of several apps, app by app, where they differ from the tools' own names. They
    /// are made once, as an app may have tens of thousands of tools.
    names: OnceLock<Box<[Option<Box<str>>]>>,
}

/// What is found in the offers of the apps.
pub enum Lookup<'a> {
    Nowhere,
    In(&'a Arc<Offer>, &'a CapabilityInfo),
    InSeveral,
}

impl<'a> Lookup<'a> {
    /// The app and the capability, if only one app has what was looked for.
    pub fn only(self) -> Option<(&'a Arc<Offer>, &'a CapabilityInfo)> {
        match self {
            Lookup::In(offer, capability) => Some((offer, capability)),
            Lookup::Nowhere | Lookup::InSeveral => None,
        }
    }
}

/// A tool of one of the apps.
#[derive(Debug)]
pub struct AppTool<'a> {
    /// The offer of its app.
    pub offer: &'a Arc<Offer>,
    /// Its capability.
    pub capability: &'a CapabilityInfo,
    /// Its name as a tool of its app alone.
    pub own_name: &'a str,
    /// Its name at this address, which no other tool has.
    pub name: &'a str,
}

impl Assortment {
    /// The assortment of these offers, each of another app.
    pub fn of(offers: impl IntoIterator<Item = Arc<Offer>>) -> Self {
        Assortment {
            offers: offers.into_iter().collect(),
            fingerprint: OnceLock::new(),
            names: OnceLock::new(),
        }
    }

    /// The offers, in order of the apps' ids.
    pub fn offers(&self) -> &[Arc<Offer>] {
        &self.offers
    }

    /// The offer, if there is one only.
    pub fn only(&self) -> Option<&Arc<Offer>> {
        match &*self.offers {
            [only] => Some(only),
            _ => None,
        }
    }

    /// All tools, app by app. A name that several apps have stays with none of them: each of these tools has
    /// the app's id before its name. The same offers always give the same names.
    pub fn tools(&self) -> impl Iterator<Item = AppTool<'_>> {
        let own = || self.offers.iter().flat_map(of_offer);
        let names = self.names.get_or_init(|| match &*self.offers {
            [] | [_] => Box::default(),
            _ => told_apart(&own().collect::<Vec<_>>()),
        });
        own().enumerate().map(|(at, tool)| match names.get(at) {
            Some(Some(name)) => AppTool { name, ..tool },
            _ => tool,
        })
    }

    /// The tool that a caller means: by its name at this address, by the capability's own name if no other
    /// app has that name, or by its name with the app's id before it.
    pub fn tool(&self, name: &str) -> Option<(&Arc<Offer>, &CapabilityInfo)> {
        match self.find(|offer| offer.named(name).or_else(|| offer.tool(name))) {
            Lookup::Nowhere => {}
            found => return found.only(),
        }
        let prefixed = self.find(|offer| offer.tool(without_prefix(&offer.app.id, name)?));
        prefixed.only().or_else(|| {
            // The tools of one app have their own names. With several, a name may have a hash.
            let mut tools = self.only().is_none().then(|| self.tools())?;
            let found = tools.find(|it| it.name == name)?;
            Some((found.offer, found.capability))
        })
    }

    /// What `find` finds in the offer of each app.
    pub fn find<'a>(
        &'a self,
        find: impl Fn(&'a Offer) -> Option<&'a CapabilityInfo>,
    ) -> Lookup<'a> {
        let mut all = self.offers.iter().filter_map(|it| Some((it, find(it)?)));
        match (all.next(), all.next()) {
            (None, _) => Lookup::Nowhere,
            (Some((offer, capability)), None) => Lookup::In(offer, capability),
            (Some(_), Some(_)) => Lookup::InSeveral,
        }
    }

    /// The capabilities of that name, of each app that has one.
    pub fn named(&self, name: &str) -> impl Iterator<Item = (&Arc<Offer>, &CapabilityInfo)> {
        let offers = self.offers.iter();
        offers.filter_map(move |offer| {
            let found = offer.named(name).or_else(|| offer.tool(name));
            Some((offer, found?))
        })
    }

    /// All capabilities under their own names, app by app. A name that several apps have has the app's id and
    /// a dot before it. A capability whose name is taken even so is left out.
    pub fn capabilities(&self) -> Vec<(Cow<'_, str>, &CapabilityInfo)> {
        let offers = self.offers.iter();
        let all = offers.flat_map(|offer| offer.capabilities.iter().map(move |it| (offer, it)));
        let all: Vec<_> = all.collect();
        let mut alike: HashMap<&str, usize> = HashMap::new();
        for (_, it) in &all {
            *alike.entry(&it.name).or_default() += 1;
        }
        let named = all.into_iter().filter_map(|(offer, it)| {
            if alike[&*it.name] == 1 {
                return Some((Cow::from(&*it.name), it));
            }
            let name = format!("{}.{}", offer.app.id, it.name);
            let (found, _) = self.capability(&name)?;
            Arc::ptr_eq(found, offer).then_some((name.into(), it))
        });
        named.collect()
    }

    /// The capability that a caller means by its own name, if one app has it, or with the app's id and a dot
    /// before it.
    pub fn capability(&self, name: &str) -> Option<(&Arc<Offer>, &CapabilityInfo)> {
        let own_name = |offer: &Offer| name.strip_prefix(&*offer.app.id)?.strip_prefix('.');
        match self.find(|offer| offer.named(name)) {
            Lookup::Nowhere => self.find(|offer| offer.named(own_name(offer)?)).only(),
            found => found.only(),
        }
    }

    /// A number that changes with the apps and with their capabilities.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            for offer in &self.offers {
                (&offer.app.id, offer.fingerprint()).hash(&mut hasher);
            }
            hasher.finish()
        })
    }
}

fn of_offer(offer: &Arc<Offer>) -> impl Iterator<Item = AppTool<'_>> {
    let all = offer.capabilities.iter().zip(offer.tool_names());
    all.map(move |(capability, own_name)| AppTool {
        offer,
        capability,
        own_name,
        name: own_name,
    })
}

/// Names for the tools of several apps that differ, where they are not the tools' own names.
fn told_apart(tools: &[AppTool<'_>]) -> Box<[Option<Box<str>>]> {
    let mut alike: HashMap<&str, usize> = HashMap::new();
    for tool in tools {
        *alike.entry(tool.own_name).or_default() += 1;
    }
    let wanted = tools.iter().map(|tool| match alike[tool.own_name] {
        1 => Cow::from(tool.own_name),
        // No tool name has a dot, so no two tools want the same.
        _ => format!("{}.{}", tool.offer.app.id, tool.own_name).into(),
    });
    let wanted: Vec<_> = wanted.collect();
    // Names that several apps have are taken, so that no tool gets one of them.
    let shared = alike.iter().filter(|(_, tools)| **tools > 1);
    let names = wanted.iter().map(|it| &**it);
    let names: Vec<_> = names.chain(shared.map(|(name, _)| *name)).collect();
    let given = tool_names(&names);
    let given = given.into_iter().map(|given| given.map(String::from));
    let names = wanted.iter().zip(given).zip(tools);
    let names = names.map(|((wanted, given), tool)| {
        let name = given.map_or_else(|| wanted.clone(), Cow::from);
        (name != tool.own_name).then(|| name.into())
    });
    names.collect()
}

/// The rest of a tool's name, if the name begins with the app's id.
pub fn without_prefix<'a>(app: &str, name: &'a str) -> Option<&'a str> {
    let mut rest = name.chars();
    plain(app)
        .all(|it| rest.next() == Some(it))
        .then(|| rest.as_str().strip_prefix('_'))?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn assortment(apps: &[(&str, &[&str])]) -> Assortment {
        let offer = |(id, names): &(&str, &[&str])| {
            let app = json!({ "id": id, "name": id, "version": "1" });
            let capability = |name: &&str| serde_json::from_value(json!({ "name": name })).unwrap();
            let capabilities = names.iter().map(capability).collect();
            Arc::new(Offer::new(
                serde_json::from_value(app).unwrap(),
                capabilities,
            ))
        };
        Assortment::of(apps.iter().map(offer))
    }

    fn names(all: &Assortment) -> Vec<String> {
        all.tools().map(|it| it.name.to_string()).collect()
    }

    fn found(all: &Assortment, name: &str) -> Option<String> {
        let (offer, capability) = all.tool(name)?;
        Some(format!("{} {}", offer.app.id, capability.name))
    }

    #[test]
    fn a_name_that_two_apps_have_stays_with_neither() {
        let all = assortment(&[
            ("a", &["export.pdf", "open"]),
            ("my app", &["export_pdf", "close"]),
        ]);
        assert_eq!(
            names(&all),
            ["a_export_pdf", "open", "my_app_export_pdf", "close"]
        );
        for (name, it) in [
            ("export_pdf", None),
            ("a_export_pdf", Some("a export.pdf")),
            ("my_app_export_pdf", Some("my app export_pdf")),
            ("export.pdf", Some("a export.pdf")),
            ("open", Some("a open")),
            ("a_open", Some("a open")),
            ("b_open", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(found(&all, name).as_deref(), it, "{name}");
        }
        let one = assortment(&[("a", &["export.pdf", "open"])]);
        assert_eq!(names(&one), ["export_pdf", "open"]);
        assert_eq!(found(&one, "a_open").as_deref(), Some("a open"));
    }

    #[test]
    fn every_tool_is_found_by_its_name_whatever_the_apps_are_called() {
        let long = "x".repeat(250);
        let all = assortment(&[
            ("a", &["c_x", "b_d", "e"]),
            ("b", &["c_x", "d"]),
            ("c", &["x", "y.z", "e"]),
            ("d", &["x", "y z", "y_z", "d"]),
            (&long, &["x"]),
            ("x", &["y_z"]),
            ("x_y", &["z"]),
            ("画像", &["z", "画像"]),
            ("文書", &["画像"]),
        ]);
        let given = names(&all);
        let unique: std::collections::HashSet<_> = given.iter().collect();
        assert_eq!(unique.len(), given.len(), "{given:?}");
        for tool in all.tools() {
            assert!((1..=64).contains(&tool.name.len()), "{}", tool.name);
            let (offer, capability) = all.tool(tool.name).expect(tool.name);
            assert!(Arc::ptr_eq(offer, tool.offer), "{}", tool.name);
            assert_eq!(capability.name, tool.capability.name);
        }
        assert_eq!(found(&all, "c_x"), None, "two apps have it");
    }

    #[test]
    fn a_capability_that_two_apps_have_has_the_app_before_its_name() {
        let all = assortment(&[
            ("a", &["export.pdf", "open", "b.x"]),
            ("b", &["export.pdf", "x"]),
            ("c", &["x"]),
        ]);
        let named = all.capabilities();
        let names: Vec<_> = named.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            ["a.export.pdf", "open", "b.x", "b.export.pdf", "c.x"]
        );
        for (name, it) in &named {
            assert!(std::ptr::eq(all.capability(name).unwrap().1, *it), "{name}");
        }
        for none in ["export.pdf", "x", "d.x", "a.", ""] {
            assert!(all.capability(none).is_none(), "{none}");
        }
    }

    #[test]
    fn the_fingerprint_changes_with_the_apps() {
        let [one, two] = [("a", &["x"][..]), ("b", &["x"])];
        let fingerprint = |apps: &[_]| assortment(apps).fingerprint();
        assert_eq!(fingerprint(&[one, two]), fingerprint(&[one, two]));
        assert_ne!(fingerprint(&[one, two]), fingerprint(&[one]));
        assert_ne!(fingerprint(&[two]), fingerprint(&[one]));
    }
}
