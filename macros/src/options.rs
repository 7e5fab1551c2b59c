//! The options in the parentheses of the attribute.

use proc_macro2::TokenStream;
use syn::meta;
use syn::parse::Parser;
use syn::{Ident, LitInt, LitStr};

/// The options of a capability.
#[derive(Default)]
pub struct Options {
    pub name: Option<LitStr>,
    pub title: Option<LitStr>,
    pub description: Option<LitStr>,
    pub concurrency: Option<LitInt>,
}

impl Options {
    pub fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let mut options = Options::default();
        let parser = meta::parser(|option| {
            let name = option.path.get_ident().map(Ident::to_string);
            match name.as_deref() {
                Some("name") => options.name = Some(option.value()?.parse()?),
                Some("title") => options.title = Some(option.value()?.parse()?),
                Some("description") => options.description = Some(option.value()?.parse()?),
                Some("concurrency") => options.concurrency = Some(option.value()?.parse()?),
                _ => {
                    return Err(option.error(
                        "there is no such option: a capability has `name`, `title`, `description` and `concurrency`",
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
