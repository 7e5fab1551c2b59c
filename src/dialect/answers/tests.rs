use super::*;
use crate::call::Stop;

const TRUE: Option<bool> = Some(true);
const FALSE: Option<bool> = Some(false);

fn returned() -> Grade {
    Stop::Returned.into()
}

#[test]
fn what_an_answer_to_a_call_counts_as() {
    let abandoned = Answer::Cancelled(Stop::Abandoned.into());
    for (success, cancelled, code, answer) in [
        (TRUE, None, None, Answer::Succeeded),
        (TRUE, TRUE, Some("CANCELLED"), Answer::Succeeded),
        (TRUE, FALSE, Some("TIMEOUT"), Answer::Succeeded),
        (FALSE, TRUE, None, Answer::Cancelled(returned())),
        (FALSE, TRUE, Some("TIMEOUT"), Answer::Cancelled(returned())),
        (FALSE, None, Some("CANCELLED"), abandoned),
        (FALSE, FALSE, Some("CANCELLED"), abandoned),
        (FALSE, None, None, Answer::Failed),
        (FALSE, FALSE, Some("MINE"), Answer::Failed),
        (FALSE, None, Some("TIMEOUT"), Answer::Undecided),
        (FALSE, None, Some("TRANSPORT_ERROR"), Answer::Undecided),
        (FALSE, FALSE, Some("DISCONNECTED"), Answer::Undecided),
        (None, None, None, Answer::Unreadable),
        (None, TRUE, Some("CANCELLED"), Answer::Unreadable),
    ] {
        let read = Answer::of(success, cancelled, code, returned());
        assert_eq!(read, answer, "{success:?} {cancelled:?} {code:?}");
    }
}

#[test]
fn what_an_answer_to_a_cancel_counts_as() {
    let refused = |lost_session| Confirmation::Refused { lost_session };
    for (cancelled, error, code, confirmation) in [
        (TRUE, false, None, Confirmation::Cancelled(returned())),
        (TRUE, true, Some("MINE"), Confirmation::Unreadable),
        (TRUE, true, None, Confirmation::Unreadable),
        (FALSE, false, None, refused(false)),
        (FALSE, true, Some("MINE"), refused(false)),
        (None, true, None, refused(false)),
        (None, true, Some("NOT_INITIALIZED"), refused(true)),
        (FALSE, true, Some("SESSION_EXPIRED"), refused(true)),
        (FALSE, true, Some("SESSION_INVALID"), refused(true)),
        (None, false, None, Confirmation::Unreadable),
    ] {
        let read = Confirmation::of(cancelled, error, code, returned());
        assert_eq!(read, confirmation, "{cancelled:?} {error} {code:?}");
    }
}
