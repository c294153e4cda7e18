//! The state of a repeating timer.

use std::sync::Mutex;

use carabiner::{graphql, Later, Verdict};

/// The third tick resumes a call.
#[derive(Default)]
pub struct Ticks {
    pub count: Mutex<u32>,
    pub waiting: Mutex<Option<Later<graphql::GraphQl>>>,
}

impl Ticks {
    pub fn tick(&self) {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        let waiting = self.waiting.lock().unwrap().take_if(|_| *count >= 3);
        if let Some(later) = waiting {
            later.finish(|call| {
                call.set_header("X-Kit-Ticks", "3")?;
                Ok(Verdict::CONTINUE)
            });
        }
    }
}
