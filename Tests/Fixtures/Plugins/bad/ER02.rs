// Negates the code of an error, and panics into the host when that overflows.
// STATUS: CRASH
include!("sound.rs");

extern "C" fn on_error(_: *mut c_void, _: u64, _: *mut c_void, error: *const ErrorInfo) -> i32 {
    // SAFETY: the host lends it for the length of the hook.
    let code = unsafe { (*error).code };
    let positive = code.checked_neg().expect("a code that can be negated");
    if positive == -404 {
        3
    } else {
        0
    }
}

plugin!(GraphQlStage { on_error: Some(on_error), ..SOUND });
