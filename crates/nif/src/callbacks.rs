//! The thread that runs destructors and `down` functions of resources: where they become due, a library could do nothing (collections,
//! ends of processes).

use crate::monitor;
use crate::resource::Object;
use heddle_runtime::RefId;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, Once};

pub enum Due {
    Destroy(*mut Object),
    /// The process of this number, which the object monitored, has ended. The object is kept for the call.
    Down(*mut Object, RefId, u64),
}

// SAFETY: objects may be used by all threads.
unsafe impl Send for Due {}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Due>,
    is_busy: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { waiting: VecDeque::new(), is_busy: false });
static MORE: Condvar = Condvar::new();
static START: Once = Once::new();

pub fn add(due: Due) {
    QUEUE.lock().unwrap().waiting.push_back(due);
    MORE.notify_one();
    START.call_once(|| {
        std::thread::Builder::new().name("nif_callbacks".into()).spawn(run).expect("a thread for the call-backs of resources");
    });
}

/// The object has no references any more.
pub fn destroy(object: *mut Object) {
    add(Due::Destroy(object));
}

/// True if something waits, or a call-back runs.
pub fn are_due() -> bool {
    let queue = QUEUE.lock().unwrap();
    !queue.waiting.is_empty() || queue.is_busy
}

fn run() {
    let mut queue = QUEUE.lock().unwrap();
    loop {
        match queue.waiting.pop_front() {
            Some(due) => {
                queue.is_busy = true;
                drop(queue);
                match due {
                    // SAFETY: `Object::release` handed it over once.
                    Due::Destroy(object) => unsafe { Object::destroy(object) },
                    // SAFETY: `monitor::fired` kept the object.
                    Due::Down(object, reference, pid) => unsafe { monitor::down(object, reference, pid) },
                }
                queue = QUEUE.lock().unwrap();
                queue.is_busy = false;
            }
            None => queue = MORE.wait(queue).unwrap(),
        }
    }
}
