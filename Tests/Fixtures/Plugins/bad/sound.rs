// The rest of a plugin in Rust that calls the host itself, without the kit's checks. A fixture defines its GraphQL stage with one fault
// and takes the rest, which is correct, from here.
//
//     include!("sound.rs");
//     unsafe extern "C" fn on_end(_: *mut c_void, _: u64, _: *mut c_void) -> i32 { 7 }
//     plugin!(GraphQlStage { on_end: Some(on_end), ..SOUND });

#[allow(unused_imports)]
use carabiner::abi::{
    note, CreateInfo, ErrorInfo, GraphQlStage, Host, Interceptor, Note, Plugin, ResultInfo, Shared, View,
};
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

static HOST: AtomicPtr<Host> = AtomicPtr::new(std::ptr::null_mut());

#[allow(dead_code)]
fn host() -> &'static Host {
    // SAFETY: set by the entry function; the host's table lives as long as the process.
    unsafe { &*HOST.load(Ordering::Relaxed) }
}

unsafe extern "C" fn sound_on_request(_: *mut c_void, _: u64, _: *mut *mut c_void) -> i32 {
    0
}
unsafe extern "C" fn sound_create(_: *const Host, _: *const CreateInfo, inst: *mut *mut c_void, _: *mut ErrorInfo) -> i32 {
    *inst = std::ptr::null_mut();
    0
}

const SOUND: GraphQlStage = GraphQlStage {
    size: std::mem::size_of::<GraphQlStage>() as u32,
    needs: 0,
    mutates: 0,
    reserved: 0,
    on_request: Some(sound_on_request),
    on_result: None,
    on_error: None,
    on_end: None,
    on_cancel: None,
    release: None,
};

#[used]
#[link_section = ".note.crb"]
static NOTE: Note = note(r#"{"id":"org.carabiner.test.bad","version":"1.0.0","abi":[1,0]}"#);

macro_rules! plugin {
    ($stage:expr) => {
        static GRAPHQL: GraphQlStage = $stage;
        static INTERCEPTOR: Shared<Interceptor> = Shared(Interceptor {
            size: std::mem::size_of::<Interceptor>() as u32,
            thread_class: 3,
            id: "org.carabiner.test.bad\0".as_ptr() as *const c_char,
            version: "1.0.0\0".as_ptr() as *const c_char,
            name: std::ptr::null(),
            vendor: std::ptr::null(),
            url: std::ptr::null(),
            config_schema: std::ptr::null(),
            graphql: &GRAPHQL,
            http: std::ptr::null(),
            cache: std::ptr::null(),
            parser: std::ptr::null(),
            validate: None,
            create: Some(sound_create),
            drain: None,
            destroy: None,
            extension: None,
        });
        static ITEMS: Shared<[*const Interceptor; 1]> = Shared([&INTERCEPTOR.0]);
        static PLUGIN: Shared<Plugin> = Shared(Plugin {
            size: std::mem::size_of::<Plugin>() as u32,
            abi_major: 1,
            abi_minor_built: 0,
            abi_minor_required: 0,
            reserved: 0,
            count: 1,
            items: ITEMS.0.as_ptr(),
            init: None,
            deinit: None,
        });

        /// The only exported symbol of the contract.
        #[no_mangle]
        pub extern "C" fn crb_entry_v1(host: *const Host) -> *const Plugin {
            HOST.store(host.cast_mut(), Ordering::Relaxed);
            &PLUGIN.0
        }
    };
}
