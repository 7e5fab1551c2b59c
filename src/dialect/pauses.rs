//! Growing pauses between attempts.

use crate::call::Millis;

/// The pause before another attempt, after `failed` failed attempts with a pause before each. Each pause is
/// twice as long as the one before, up to a longest pause. Each pause varies by a quarter, by a `chance` from 0
/// to 1, so that several parties that failed together do not retry together.
pub fn pause(failed: u32, first: Millis, longest: Millis, chance: f64) -> Millis {
    let mut pause = first;
    for _ in 0..failed {
        if pause >= longest {
            break;
        }
        pause *= 2.0;
    }
    pause.min(longest) * (0.75 + chance / 2.0)
}

/// The longest wait before the first attempt to connect again. It varies, so that not all come at once.
const AT_ONCE: Millis = 100.0;
/// The pauses between further attempts.
const FIRST: Millis = 250.0;
const LONGEST: Millis = 10_000.0;

/// The pause of an app or agent before its next attempt to connect again, after `failed` failed attempts.
pub fn reconnecting(failed: u32, chance: f64) -> Millis {
    match failed.checked_sub(1) {
        None => AT_ONCE * chance,
        Some(failed) => pause(failed, FIRST, LONGEST, chance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let pauses = [0, 1, 2, 3, 4, u32::MAX].map(|failed| pause(failed, 100.0, 700.0, 0.5));
        assert_eq!(pauses, [100.0, 200.0, 400.0, 700.0, 700.0, 700.0]);
    }

    #[test]
    fn a_pause_varies_by_a_quarter() {
        let varied = [0.0, 0.5, 1.0].map(|chance| pause(1, 100.0, 300.0, chance));
        assert_eq!(varied, [150.0, 200.0, 250.0]);
    }
}
