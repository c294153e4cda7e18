// Takes scratch memory for a Box, which Rust frees with its own allocator.
include!("sound.rs");

extern "C" fn on_end(_: *mut c_void, call: u64, _: *mut c_void) -> i32 {
    // SAFETY: there is none; the memory is the host's.
    unsafe { drop(Box::from_raw((host().scratch)(call, 16, 8) as *mut [u64; 2])) };
    0
}

plugin!(GraphQlStage { on_end: Some(on_end), ..SOUND });
