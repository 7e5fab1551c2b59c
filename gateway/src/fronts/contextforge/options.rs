//! Whether the API is on.

use clap::ArgAction;
use clap::builder::BoolishValueParser;

/// The options of the cancellation API.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct CancellationOptions {
    /// Whether the cancellation API is served at /cancellation: true or false.
    #[arg(
        id = "tool_cancellation_enabled",
        long = "tool-cancellation-enabled",
        env = "MCPGATEWAY_TOOL_CANCELLATION_ENABLED",
        default_value = "true",
        action = ArgAction::Set,
        value_parser = BoolishValueParser::new(),
        value_name = "BOOL"
    )]
    pub enabled: bool,
}

impl Default for CancellationOptions {
    fn default() -> Self {
        CancellationOptions { enabled: true }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: CancellationOptions,
    }

    #[test]
    fn on_unless_it_is_turned_off() {
        let parse = |given: &[&str]| {
            let line = ["serve"].iter().chain(given);
            Line::try_parse_from(line).map(|line| line.options.enabled)
        };
        assert_eq!(parse(&[]).unwrap(), CancellationOptions::default().enabled);
        for off in ["false", "False", "0", "no", "off"] {
            assert!(
                !parse(&["--tool-cancellation-enabled", off]).unwrap(),
                "{off}"
            );
        }
        for on in ["true", "TRUE", "1", "yes", "on"] {
            assert!(parse(&["--tool-cancellation-enabled", on]).unwrap(), "{on}");
        }
        assert!(parse(&["--tool-cancellation-enabled", "maybe"]).is_err());
    }
}
