// Gives a view the lifetime 'static, and reads it in a later hook.
include!("sound.rs");

unsafe extern "C" fn on_request(_: *mut c_void, _: u64, state: *mut *mut c_void) -> i32 {
    if (*state).is_null() {
        *state = Box::into_raw(Box::<&'static [u8]>::default()).cast();
    }
    0
}
unsafe extern "C" fn on_result(_: *mut c_void, _: u64, state: *mut c_void, result: *const ResultInfo) -> i32 {
    let data = (*result).data;
    // Large ones go back to the system when they are freed.
    if !data.ptr.is_null() && data.len < 1024 {
        *state.cast::<&'static [u8]>() = std::slice::from_raw_parts(data.ptr, data.len);
    }
    0
}
unsafe extern "C" fn on_end(_: *mut c_void, _: u64, state: *mut c_void) -> i32 {
    let data = *state.cast::<&'static [u8]>();
    // The value is read but not used in an answer, because the memory may have any content by then.
    std::hint::black_box(data.first().copied());
    0
}
unsafe extern "C" fn release(_: *mut c_void, state: *mut c_void) {
    drop(Box::from_raw(state.cast::<&'static [u8]>()));
}

plugin!(GraphQlStage {
    needs: 1 << 9,
    on_request: Some(on_request),
    on_result: Some(on_result),
    on_end: Some(on_end),
    release: Some(release),
    ..SOUND
});
