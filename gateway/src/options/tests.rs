use super::*;

#[test]
fn durations_have_units() {
    assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
    assert_eq!(duration("15"), Ok(Duration::from_secs(15)));
    assert_eq!(duration("1.5 s"), Ok(Duration::from_millis(1500)));
    for bad in [
        "",
        "0",
        "0.0000000001s",
        "-1s",
        "5h",
        "1e9s",
        "NaN",
        "inf",
        "s",
    ] {
        assert!(duration(bad).is_err(), "{bad}");
    }
}

#[test]
fn no_time_at_all_is_0_in_any_unit() {
    for none in ["0", "0ms", "0s", "0m", "0.0 s"] {
        assert_eq!(duration_or_none(none), Ok(Duration::ZERO), "{none}");
        assert!(duration(none).is_err(), "{none}");
    }
    assert_eq!(duration_or_none("2m"), Ok(Duration::from_secs(120)));
    for bad in ["", "-1s", "0h", "NaN", "m"] {
        assert!(duration_or_none(bad).is_err(), "{bad}");
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
