//! `caphost types`

mod expression;
mod map;
mod schema;
mod source;
mod text;

use clap::Args;

use super::failure::{Exit, Failure};
use super::gateway_args::GatewayArgs;
use super::terminal::print;
use source::Source;

const EXAMPLES: &str = "\
Examples:
  caphost types > caps.ts
  caphost types --app caphost-demo > caps.ts
  caphost types https://app.example/abp.json > caps.ts
  caphost types 'wss://gateway.example/abp?app=my-app' > caps.ts
  caphost types abp.json --name MyCaps > caps.ts";

/// Prints what an app offers as a TypeScript type: each capability with its parameters and data.
///
/// The same manifest always gives the same text. Schemas become types where TypeScript has them. What
/// it has no type for, such as a pattern, stays in the schema only.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Types {
    /// Where the app is described: the URL of its manifest (http), the URL for its agents (ws), a file, or
    /// `-` for standard input. Default: the app at the gateway.
    #[arg(value_name = "SOURCE", value_parser = Source::parse)]
    source: Option<Source>,
    /// The name of the type.
    #[arg(long, default_value = "Caps", value_parser = type_name)]
    name: String,
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl Types {
    /// Checks that a file can be read.
    pub(super) fn check(&self) -> Result<(), String> {
        self.source.as_ref().map_or(Ok(()), Source::check)
    }

    /// Reads the description, and prints the type.
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        let source = self.source.unwrap_or(Source::Gateway);
        let (app, capabilities) = source.read(&self.gateway).await?;
        let text = map::written(&self.name, &app, &capabilities);
        print(text.trim_end())?;
        Ok(Exit::Done)
    }
}

/// Names that TypeScript reserves in a module, and the one type of its library that the output uses.
const TAKEN: &str = "any as await bigint boolean break case catch class const continue debugger default \
    delete do else enum export extends false finally for function if implements import in instanceof \
    interface let never new null number object package private protected public return static string \
    super switch symbol this throw true try typeof undefined unknown var void while with yield Record";

fn type_name(text: &str) -> Result<String, String> {
    let mut characters = text.chars();
    let starts = characters
        .next()
        .is_some_and(|it| it.is_ascii_alphabetic() || it == '_');
    if !starts || !characters.all(|it| it.is_ascii_alphanumeric() || it == '_') {
        return Err("expected a name of ASCII letters, digits and _, such as Caps".into());
    }
    match TAKEN.split(' ').any(|taken| taken == text) {
        true => Err("TypeScript has this name already; expected another, such as Caps".into()),
        false => Ok(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_a_plain_name() {
        for fine in ["Caps", "_a1", "record", "String", "type"] {
            assert_eq!(type_name(fine).as_deref(), Ok(fine));
        }
        let taken = ["Record", "string", "undefined", "class", "await", "let"];
        for bad in ["", "1a", "a-b", "Caps = any; //"].into_iter().chain(taken) {
            assert!(type_name(bad).is_err(), "{bad}");
        }
    }
}
