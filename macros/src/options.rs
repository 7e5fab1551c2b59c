//! The options in the parentheses of the attribute.

use proc_macro2::TokenStream;
use syn::meta;
use syn::parse::Parser;
use syn::{Ident, LitBool, LitInt, LitStr};

/// The options of a capability.
#[derive(Default)]
pub struct Options {
    pub name: Option<LitStr>,
    pub title: Option<LitStr>,
    pub description: Option<LitStr>,
    pub concurrency: Option<LitInt>,
    /// Which calls a person must allow: the name of a variant of `Confirm`.
    pub confirm: Option<Ident>,
    /// The hints that are given, each with the function of `Capability` that takes it.
    pub hints: Vec<(Ident, LitBool)>,
}

const HINTS: [&str; 4] = ["read_only", "destructive", "idempotent", "open_world"];

impl Options {
    pub fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let mut options = Options::default();
        let parser = meta::parser(|option| {
            let ident = option.path.get_ident().cloned();
            let name = ident.as_ref().map(Ident::to_string);
            match name.as_deref() {
                Some("name") => options.name = Some(option.value()?.parse()?),
                Some("title") => options.title = Some(option.value()?.parse()?),
                Some("description") => options.description = Some(option.value()?.parse()?),
                Some("concurrency") => options.concurrency = Some(option.value()?.parse()?),
                Some("confirm") => {
                    let which: LitStr = option.value()?.parse()?;
                    let variant = match &*which.value() {
                        "always" => "Always",
                        "destructive" => "Destructive",
                        _ => {
                            let message = "`confirm` is `always` or `destructive`";
                            return Err(syn::Error::new_spanned(which, message));
                        }
                    };
                    options.confirm = Some(Ident::new(variant, which.span()));
                }
                Some(hint) if HINTS.contains(&hint) => {
                    let hint = option.value()?.parse()?;
                    options.hints.extend(ident.zip(Some(hint)));
                }
                _ => {
                    return Err(option.error(
                        "there is no such option: a capability has `name`, `title`, `description`, `concurrency`, `confirm`, `read_only`, `destructive`, `idempotent` and `open_world`",
                    ));
                }
            }
            Ok(())
        });
        parser.parse2(tokens)?;
        if let Some(name) = options.name.as_ref().filter(|it| it.value().is_empty()) {
            return Err(syn::Error::new_spanned(name, "the name is empty"));
        }
        Ok(options)
    }
}
