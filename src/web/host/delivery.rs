//! The functions through which the connection to a gateway keeps and counts messages.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use super::handle::HostHandle;
use crate::call::Millis;
use crate::dialect::delivery::{Due, IDLE, Received, Sent};
use crate::dialect::pauses::reconnecting;
use crate::web::handles::{Handles, Table};
use crate::web::sys;

/// How many unacknowledged characters are kept. Beyond them, a session cannot be resumed.
const MOST_KEPT: usize = 1 << 26;

/// The lowest number of attempts while a session can be resumed.
const TRIES: f64 = 5.0;

/// The messages of one session that an app has with a gateway.
#[derive(Default)]
struct Delivery {
    sent: Sent<JsValue>,
    received: Received,
}

thread_local! {
    static TABLE: Table<RefCell<Delivery>> = const { Table::new() };
}

static DELIVERIES: Handles<RefCell<Delivery>> = Handles(&TABLE);

/// Works on a delivery that has not ended.
fn with<T>(delivery: u32, work: impl FnOnce(&mut Delivery) -> T) -> Option<T> {
    DELIVERIES
        .get(delivery)
        .map(|it| work(&mut it.borrow_mut()))
}

#[wasm_bindgen]
impl HostHandle {
    /// Begins the delivery of a session's messages, and returns its number.
    #[wasm_bindgen(js_name = beginDelivery)]
    pub fn begin_delivery() -> u32 {
        DELIVERIES.add(|_| RefCell::default())
    }

    /// Forgets all messages: the session is over.
    #[wasm_bindgen(js_name = endDelivery)]
    pub fn end_delivery(delivery: u32) {
        DELIVERIES.remove(delivery);
    }

    /// Keeps a text of `size` characters that is sent. False if there is no room for the text.
    pub fn keep(delivery: u32, text: JsValue, size: f64) -> bool {
        let size = size as usize;
        with(delivery, |Delivery { sent, .. }| {
            let fits = sent.has_room(size, MOST_KEPT);
            if fits {
                sent.keep(text, size);
            }
            fits
        })
        .unwrap_or_default()
    }

    /// The gateway has received so many messages in total. False if that cannot be.
    pub fn acknowledged(delivery: u32, received: f64) -> bool {
        let count = received as u64;
        if count as f64 != received {
            return false;
        }
        with(delivery, |it| it.sent.acknowledge(count).is_ok()).unwrap_or_default()
    }

    /// An array of the texts to send again on a new connection.
    pub fn kept(delivery: u32) -> JsValue {
        let texts = sys::array();
        with(delivery, |it| {
            for text in it.sent.kept() {
                sys::push(&texts, text);
            }
        });
        texts
    }

    /// A message of `size` characters has arrived. In how many milliseconds an acknowledgement is due; NaN
    /// if one is due already.
    pub fn arrived(delivery: u32, size: f64) -> Millis {
        let due = with(delivery, |it| it.received.note(size as usize));
        match due {
            Some(Due::Now) => 0.0,
            Some(Due::Later) => IDLE,
            Some(Due::Pending) | None => f64::NAN,
        }
    }

    /// How many messages have arrived, for the gateway.
    pub fn received(delivery: u32) -> f64 {
        with(delivery, |it| it.received.tell()).unwrap_or_default() as f64
    }

    /// How long to wait before the next attempt to connect. `failed` attempts have failed since the
    /// loss. `grace` is how long a session can be resumed; infinite if there is none. `chance` is a
    /// random number from 0 to 1.
    #[wasm_bindgen(js_name = pauseOf)]
    pub fn pause_of(failed: u32, grace: Millis, chance: f64) -> Millis {
        reconnecting(failed, chance).min(grace / TRIES)
    }
}
