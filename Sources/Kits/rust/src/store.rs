//! Operations on the host's store.

use std::ffi::c_void;

use crate::abi::{self, Status, View};
use crate::events::ErrorEvent;
use crate::failure::{check, Failure};
use crate::host::{Host, Lent};
use crate::values::{bytes, view};

/// The result of a store operation; borrowed while `done` runs.
pub struct StoreAnswer<'a> {
    /// The number of records found, fields changed, or records removed.
    pub count: u64,
    /// The loaded records, a JSON object in the format of [`StoreRequest::Publish`]; empty for other operations.
    pub records: &'a str,
}

/// An operation on the store; each is one transaction.
#[derive(Clone, Debug)]
pub enum StoreRequest {
    /// Reads the records with these keys.
    Load(Vec<String>),
    /// Writes records, a JSON object by key: `{"Book:1": {"title": "Solaris"}}`.
    Publish(String),
    /// Removes the records with these keys.
    Remove(Vec<String>),
    /// Removes the records whose keys match a pattern in which `*` matches any text.
    RemoveMatching(String),
}

impl StoreRequest {
    /// Reads the records with these keys.
    pub fn load(keys: impl IntoIterator<Item = impl Into<String>>) -> StoreRequest {
        StoreRequest::Load(keys.into_iter().map(Into::into).collect())
    }

    /// Writes records.
    pub fn publish(records: impl Into<String>) -> StoreRequest {
        StoreRequest::Publish(records.into())
    }

    /// Removes the records with these keys.
    pub fn remove(keys: impl IntoIterator<Item = impl Into<String>>) -> StoreRequest {
        StoreRequest::Remove(keys.into_iter().map(Into::into).collect())
    }

    /// # Safety
    /// `user` must be of the type that `done` expects.
    unsafe fn start(&self, service: &abi::StoreService, who: u64, done: abi::StoreDone, user: *mut c_void) -> Status {
        let views = |keys: &[String]| keys.iter().map(|key| view(key.as_bytes())).collect::<Vec<View>>();
        match self {
            StoreRequest::Load(keys) => {
                let keys = views(keys);
                (service.load)(who, keys.as_ptr(), keys.len(), done, user)
            }
            StoreRequest::Publish(records) => (service.publish)(who, view(records.as_bytes()), done, user),
            StoreRequest::Remove(keys) => {
                let keys = views(keys);
                (service.remove)(who, keys.as_ptr(), keys.len(), done, user)
            }
            StoreRequest::RemoveMatching(pattern) => (service.remove_matching)(who, view(pattern.as_bytes()), done, user),
        }
    }
}

impl Host {
    /// Starts an operation on the store and calls `done` on a host thread. The manifest must grant `store`.
    pub fn store<Done>(&self, request: &StoreRequest, done: Done) -> Result<(), Failure>
    where
        Done: FnOnce(Result<StoreAnswer, Failure>) + Send + 'static,
    {
        self.try_store(request, done).map_err(|(failure, _)| failure)
    }

    /// Like [`Host::store`]. If the operation could not be started, `done` is returned.
    pub(crate) fn try_store<Done>(&self, request: &StoreRequest, done: Done) -> Result<(), (Failure, Option<Done>)>
    where
        Done: FnOnce(Result<StoreAnswer, Failure>) + Send + 'static,
    {
        unsafe extern "C" fn came<Done: FnOnce(Result<StoreAnswer, Failure>) + 'static>(
            user: *mut c_void,
            answer: *const abi::StoreAnswer,
            error: *const abi::ErrorInfo,
        ) {
            // SAFETY: `user` was made below, and this runs once. The views are valid until it returns.
            unsafe {
                let lent = Box::from_raw(user as *mut Lent);
                let Some((waiting, _running)) = lent.ticket.tasks.begin(lent.ticket.task) else { return };
                let Ok(done) = waiting.code.downcast::<Done>() else { return };
                lent.host.contained(move || match (answer.as_ref(), error.as_ref()) {
                    (Some(answer), _) => match std::str::from_utf8(bytes(answer.records)) {
                        Ok(records) => done(Ok(StoreAnswer { count: answer.count, records })),
                        Err(_) => done(Err("the store returned text that is not UTF-8".into())),
                    },
                    (None, Some(error)) => {
                        let event = ErrorEvent(error);
                        done(Err(Failure { code: event.code(), flags: event.flags(), ..event.message().to_string().into() }))
                    }
                    (None, None) => done(Err("the operation on the store failed".into())),
                });
            }
        }
        let Some(service) = self.store_service() else {
            return Err(("the manifest does not grant this plugin the service store; add grants: [store]".into(), Some(done)));
        };
        // SAFETY: the host copies its arguments. It calls `came` if and only if it returns OK.
        self.lend(done, |user| unsafe {
            let status = request.start(service, self.self_, came::<Done>, user);
            check(status, "the operation on the store; look at its keys and JSON")
        })
    }
}
