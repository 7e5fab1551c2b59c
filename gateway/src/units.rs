//! Durations and sizes as they are written on a command line.

use std::time::Duration;

use clap::{Args, Command};

use crate::limits::MAX_DEPTH;

/// `500ms`, `15s`, `15`, `2m`: more than nothing.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        _ => return Err("expected a time such as 500ms, 15s or 2m".into()),
    };
    let seconds = number.parse::<f64>().map_err(|error| error.to_string())? * scale;
    // Past a year timers lose their meaning, and some their range.
    if seconds > 0.0 && seconds <= 31_536_000.0 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected a time between 0 and a year".into())
    }
}

/// A time, or none at all.
pub(crate) fn duration_or_none(text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" | "0ms" => Ok(Duration::ZERO),
        text => duration(text),
    }
}

/// `65536`, `64KiB`, `16MiB`, `1GiB`: more than nothing.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let scale: usize = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("expected a size such as 65536, 64KiB or 16MiB".into()),
    };
    let number: usize = number
        .parse()
        .map_err(|_| "expected a whole number of bytes")?;
    match number.checked_mul(scale) {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => Err("out of range".into()),
    }
}

/// A count of at least one.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number of at least 1".into()),
        Ok(number) => Ok(number),
    }
}

/// A count of levels that JSON can be read with.
pub(crate) fn depth(text: &str) -> Result<usize, String> {
    let levels = count(text)?;
    if levels <= MAX_DEPTH {
        Ok(levels)
    } else {
        Err(format!("expected at most {MAX_DEPTH}: more cannot be read"))
    }
}

/// A number of at least one, per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 1.0 => Ok(number),
        _ => Err("expected a number of at least 1".into()),
    }
}

/// Options as they are when none is given, neither as an argument nor in the environment.
pub(crate) fn defaults<A: Args>() -> A {
    let command = A::augment_args(Command::new("defaults")).no_binary_name(true);
    // No variable has an empty name.
    let command = command.mut_args(|arg| arg.env(""));
    let options = command.try_get_matches_from([""; 0]);
    let options = options.and_then(|matches| A::from_arg_matches(&matches));
    options.expect("every option is optional")
}

fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|letter: char| letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    (text[..end].trim(), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("15"), Ok(Duration::from_secs(15)));
        assert_eq!(duration("1.5 s"), Ok(Duration::from_millis(1500)));
        for bad in ["", "0", "-1s", "5h", "1e9s", "NaN", "inf", "s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("16MiB"), Ok(16 << 20));
        assert_eq!(bytes("7"), Ok(7));
        for bad in ["", "0", "-1", "1.5MiB", "16MB", "99999999999GiB"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_and_rates_start_at_one() {
        assert!(count("1").is_ok() && rate("0.5").is_err() && rate("1.5").is_ok());
        assert!(count("0").is_err() && count("-3").is_err() && rate("inf").is_err());
    }
}
