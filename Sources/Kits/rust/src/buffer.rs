//! Counted bytes.

use std::ffi::c_void;
use std::ops::Deref;

use crate::failure::{check, Failure};
use crate::host::{self, Host};
use crate::values::bytes;

/// A reference to counted bytes. Sharing and slicing do not copy.
pub struct Buffer(u64);

impl Buffer {
    /// Copies `text`.
    pub fn copying(host: &Host, text: &[u8]) -> Result<Buffer, Failure> {
        let mut target = std::ptr::null_mut();
        // SAFETY: the host points `target` at memory for that many bytes, or returns 0.
        unsafe {
            let handle = (host::table().buf_alloc)(host.self_, text.len(), &mut target);
            if handle == 0 {
                return Err(Failure::new("the host has no memory for a buffer"));
            }
            std::ptr::copy_nonoverlapping(text.as_ptr(), target, text.len());
            Ok(Buffer(handle))
        }
    }

    /// Wraps the bytes of a vector or a string without copying.
    pub fn adopting(host: &Host, bytes: impl Into<Vec<u8>>) -> Result<Buffer, Failure> {
        unsafe extern "C" fn drop_vector(user: *mut c_void) {
            // SAFETY: `user` was made below, and the host calls this once.
            drop(unsafe { Box::from_raw(user as *mut Vec<u8>) });
        }
        let owner = Box::new(bytes.into());
        let (start, count) = (owner.as_ptr(), owner.len());
        let user = Box::into_raw(owner) as *mut c_void;
        // SAFETY: the bytes do not move until `drop_vector` runs. It runs once, or never if the result is 0.
        unsafe {
            let handle = (host::table().buf_adopt)(host.self_, start as *const c_void, count, drop_vector, user);
            if handle == 0 {
                drop_vector(user);
                return Err(Failure::new("the host has no memory for a buffer"));
            }
            Ok(Buffer(handle))
        }
    }

    /// A part of the bytes, without a copy.
    pub fn slice(&self, offset: usize, count: usize) -> Result<Buffer, Failure> {
        // SAFETY: the handle is ours; the host checks the range.
        match unsafe { (host::table().buf_slice)(self.0, offset, count) } {
            0 => Err(Failure::new("the range lies outside of the buffer")),
            handle => Ok(Buffer(handle)),
        }
    }

    /// Another reference to the same bytes.
    pub fn share(&self) -> Result<Buffer, Failure> {
        // SAFETY: the handle is ours.
        check(unsafe { (host::table().buf_retain)(self.0) }, "another reference to a buffer")?;
        Ok(Buffer(self.0))
    }

    /// Passes the reference to a host function that consumes it.
    pub(crate) fn take(self) -> u64 {
        let handle = self.0;
        std::mem::forget(self);
        handle
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are valid as long as this reference.
        unsafe { bytes((host::table().buf_view)(self.0)) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the reference is ours and is released once.
        unsafe { (host::table().buf_release)(self.0) };
    }
}
