//! Command-line options: parsing times, sizes and counts, and the defaults of the structs that hold options.

use std::time::Duration;

use clap::{Args, Command};

/// The options if nobody sets any. Each default is declared only at its option.
///
/// The environment does not count. So a program that builds a gateway gets the same defaults everywhere.
pub(crate) fn defaults<T: Args>() -> T {
    let options = T::augment_args(Command::new("defaults").no_binary_name(true));
    let options = options.mut_args(|option| option.env(None));
    let set = options.try_get_matches_from([""; 0]);
    let read = set.and_then(|matches| T::from_arg_matches(&matches));
    read.unwrap_or_else(|error| unreachable!("every option has a default: {error}"))
}

/// A year in seconds. Longer timers have no meaning, and some timers cannot represent them.
const YEAR: f64 = 31_536_000.0;

/// `500ms`, `15s`, `15` or `2m`. Must be more than zero.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    // A very short time is rounded to zero.
    let read = within_a_year(text)?.filter(|read| !read.is_zero());
    read.ok_or_else(|| "expected more than 0 and at most a year".into())
}

/// A time, or zero.
pub(crate) fn duration_or_none(text: &str) -> Result<Duration, String> {
    within_a_year(text)?.ok_or_else(|| "expected 0, or at most a year".into())
}

fn within_a_year(text: &str) -> Result<Option<Duration>, String> {
    let read = seconds(text)?;
    let fits = (0.0..=YEAR).contains(&read);
    Ok(fits.then(|| Duration::from_secs_f64(read)))
}

fn seconds(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "ms" => Some(0.001),
        "s" | "" => Some(1.0),
        "m" => Some(60.0),
        _ => None,
    };
    let number = number.parse::<f64>().ok();
    let read = number.zip(scale).map(|(number, scale)| number * scale);
    read.ok_or_else(|| "expected a time such as 500ms, 15s or 2m".into())
}

/// `65536`, `64KiB`, `16MiB` or `1GiB`. Must be more than zero.
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
        _ => Err("expected at least 1 byte, and no more than fits in memory addresses".into()),
    }
}

/// A count of at least one.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number of at least 1".into()),
        Ok(number) => Ok(number),
    }
}

/// A number of at least one, per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 1.0 => Ok(number),
        _ => Err("expected a number of at least 1".into()),
    }
}

fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|letter: char| letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    (text[..end].trim(), &text[end..])
}

#[cfg(test)]
mod tests;
