//! Objects that note their end and their thread: a host thread or the plugin's own.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::mpsc::{channel, Sender};
use std::sync::Mutex;
use std::thread::JoinHandle;

thread_local! {
    static ON_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Notes the end of an object in a file.
pub fn note_end(journal: &str, what: &str) {
    if journal.is_empty() {
        return;
    }
    let place = if ON_WORKER.get() { " on its own worker" } else { "" };
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(journal) {
        let _ = file.write_all(format!("{what}{place}\n").as_bytes());
    }
}

/// Notes its own end.
pub struct Witness {
    journal: String,
    name: &'static str,
}

impl Witness {
    pub fn new(journal: &str, name: &'static str) -> Witness {
        Witness { journal: journal.to_owned(), name }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        note_end(&self.journal, self.name);
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs jobs; its end waits for them.
pub struct Worker {
    _witness: Witness,
    jobs: Mutex<Option<Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    pub fn new(journal: &str) -> Worker {
        let (jobs, queue) = channel::<Job>();
        let thread = std::thread::spawn(move || {
            ON_WORKER.set(true);
            queue.into_iter().for_each(|job| job());
        });
        Worker {
            _witness: Witness::new(journal, "worker"),
            jobs: Mutex::new(Some(jobs)),
            thread: Mutex::new(Some(thread)),
        }
    }

    pub fn push(&self, job: impl FnOnce() + Send + 'static) {
        if let Some(jobs) = &*self.jobs.lock().unwrap() {
            let _ = jobs.send(Box::new(job));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs.lock().unwrap().take();
        let thread = self.thread.lock().unwrap().take();
        if let Some(thread) = thread.filter(|_| !ON_WORKER.get()) {
            let _ = thread.join();
        }
    }
}
