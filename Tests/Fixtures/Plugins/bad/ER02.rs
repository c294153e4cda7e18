// Looks at the first letter of an error's text, and panics into the host when there is none.
// STATUS: CRASH
include!("sound.rs");

extern "C" fn on_error(_: *mut c_void, _: u64, _: *mut c_void, error: *const ErrorInfo) -> i32 {
    // SAFETY: the host lends both for the length of the hook.
    let text: &[u8] = unsafe {
        match (*error).message {
            View { ptr, .. } if ptr.is_null() => &[],
            View { ptr, len } => std::slice::from_raw_parts(ptr, len),
        }
    };
    if text[0] == b'#' {
        3
    } else {
        0
    }
}

plugin!(GraphQlStage { on_error: Some(on_error), ..SOUND });
