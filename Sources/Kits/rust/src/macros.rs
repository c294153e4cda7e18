//! The macro that exports the plugins of a library.

/// Exports the plugins of a library, each with its type, id, version and optional properties:
///
/// ```ignore
/// carabiner::plugin!(
///     First,
///     id: "org.example.first",
///     version: "1.0.0",
///     config_schema: r#"{"type":"object"}"#, // the schema of its configuration, if it has one
///     threads: Serial,                       // or PerCall; the default is Concurrent
///     name: "The first",                     // for people, as are vendor and url
///     vendor: "Example",
///     url: "https://example.org",
///     capabilities: ["varies"];              // declared in the note; only for the first plugin
///     Second, id: "org.example.second", version: "1.0.0"
/// );
/// ```
///
/// Each value is a literal. Properties can be left out, but their order is fixed. The note describes the first plugin. A manifest
/// selects one of several with `interceptor: ID`.
#[macro_export]
macro_rules! plugin {
    ($first:ty, id: $id:literal, version: $version:literal
     $(, config_schema: $schema:literal)? $(, threads: $threads:ident)?
     $(, name: $name:literal)? $(, vendor: $vendor:literal)? $(, url: $url:literal)?
     $(, capabilities: [$capability:literal $(, $more:literal)* $(,)?])? $(,)?
     $(; $plugin:ty, id: $other_id:literal, version: $other_version:literal
        $(, config_schema: $other_schema:literal)? $(, threads: $other_threads:ident)?
        $(, name: $other_name:literal)? $(, vendor: $other_vendor:literal)? $(, url: $other_url:literal)? $(,)?)* $(;)?) => {
        #[used]
        #[link_section = ".note.crb"]
        static CRB_NOTE: $crate::abi::Note = $crate::abi::note(concat!(
            "{\"id\":\"", $id, "\",\"version\":\"", $version, "\",\"abi\":[1,0]",
            $(",\"capabilities\":[\"", $capability, $("\",\"", $more,)* "\"]",)?
            "}"
        ));

        /// The only exported symbol of the contract.
        ///
        /// # Safety
        /// Called by the host with its table.
        #[no_mangle]
        pub unsafe extern "C" fn crb_entry_v1(host: *const $crate::abi::Host) -> *const $crate::abi::Plugin {
            const COUNT: usize = [$id $(, $other_id)*].len();
            static ITEMS: $crate::abi::Shared<[*const $crate::abi::Interceptor; COUNT]> = $crate::abi::Shared([
                $crate::interceptor!(
                    $first, $id, $version, ($($schema)?), ($($threads)?), ($($name)?), ($($vendor)?), ($($url)?)),
                $($crate::interceptor!(
                    $plugin, $other_id, $other_version, ($($other_schema)?), ($($other_threads)?), ($($other_name)?),
                    ($($other_vendor)?), ($($other_url)?)),)*
            ]);
            static PLUGIN: $crate::abi::Shared<$crate::abi::Plugin> = $crate::abi::Shared($crate::abi::Plugin {
                size: std::mem::size_of::<$crate::abi::Plugin>() as u32,
                abi_major: 1,
                abi_minor_built: 0,
                abi_minor_required: 0,
                reserved: 0,
                count: COUNT as u32,
                items: ITEMS.0.as_ptr(),
                init: None,
                deinit: None,
            });
            $crate::export::set_host(host);
            &PLUGIN.0
        }
    };
}

/// The table of one plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! interceptor {
    ($plugin:ty, $id:literal, $version:literal, ($($schema:literal)?), ($($threads:ident)?),
     ($($name:literal)?), ($($vendor:literal)?), ($($url:literal)?)) => {{
        use $crate::export::{create, destroy, on_cancel, Lacks as _};
        // Nothing of the kit is imported by name, because the plugin's type can have the same name.
        type CarabinerProbe = $crate::export::Probe<$plugin>;
        const NONE: (u32, u32) = (0, 0);
        const fn or(parts: Option<(u32, u32)>) -> (u32, u32) {
            match parts {
                Some(parts) => parts,
                None => NONE,
            }
        }
        const _: () = assert!(
            CarabinerProbe::GRAPHQL.is_some()
                || CarabinerProbe::HTTP.is_some()
                || CarabinerProbe::CACHE.is_some()
                || CarabinerProbe::PARSER.is_some(),
            "a plugin implements the Stage of at least one of graphql, http, cache and parser"
        );
        static GRAPHQL: $crate::abi::GraphQlStage = $crate::abi::GraphQlStage {
            size: std::mem::size_of::<$crate::abi::GraphQlStage>() as u32,
            needs: or(CarabinerProbe::GRAPHQL).0,
            mutates: or(CarabinerProbe::GRAPHQL).1,
            reserved: 0,
            on_request: CarabinerProbe::GRAPHQL_ON_REQUEST,
            on_result: CarabinerProbe::GRAPHQL_ON_RESULT,
            on_error: CarabinerProbe::GRAPHQL_ON_ERROR,
            on_end: CarabinerProbe::GRAPHQL_ON_END,
            on_cancel: on_cancel(CarabinerProbe::GRAPHQL_ON_CANCEL),
            release: CarabinerProbe::GRAPHQL_RELEASE,
        };
        static HTTP: $crate::abi::HttpStage = $crate::abi::HttpStage {
            size: std::mem::size_of::<$crate::abi::HttpStage>() as u32,
            needs: or(CarabinerProbe::HTTP).0,
            mutates: or(CarabinerProbe::HTTP).1,
            reserved: 0,
            on_request: CarabinerProbe::HTTP_ON_REQUEST,
            on_head: CarabinerProbe::HTTP_ON_HEAD,
            on_chunk: CarabinerProbe::HTTP_ON_CHUNK,
            on_error: CarabinerProbe::HTTP_ON_ERROR,
            on_end: CarabinerProbe::HTTP_ON_END,
            on_cancel: on_cancel(CarabinerProbe::HTTP_ON_CANCEL),
            release: CarabinerProbe::HTTP_RELEASE,
        };
        static CACHE: $crate::abi::CacheStage = $crate::abi::CacheStage {
            size: std::mem::size_of::<$crate::abi::CacheStage>() as u32,
            needs: or(CarabinerProbe::CACHE).0,
            mutates: or(CarabinerProbe::CACHE).1,
            reserved: 0,
            on_read: CarabinerProbe::CACHE_ON_READ,
            on_write: CarabinerProbe::CACHE_ON_WRITE,
            on_error: None,
            on_end: None,
            on_cancel: on_cancel(CarabinerProbe::CACHE_ON_CANCEL),
            release: CarabinerProbe::CACHE_RELEASE,
        };
        static PARSER: $crate::abi::ParserStage = $crate::abi::ParserStage {
            size: std::mem::size_of::<$crate::abi::ParserStage>() as u32,
            needs: or(CarabinerProbe::PARSER).0,
            mutates: or(CarabinerProbe::PARSER).1,
            reserved: 0,
            on_head: CarabinerProbe::PARSER_ON_HEAD,
            on_chunk: CarabinerProbe::PARSER_ON_CHUNK,
            on_error: CarabinerProbe::PARSER_ON_ERROR,
            on_end: CarabinerProbe::PARSER_ON_END,
            on_cancel: on_cancel(CarabinerProbe::PARSER_ON_CANCEL),
            release: CarabinerProbe::PARSER_RELEASE,
            accept: CarabinerProbe::PARSER_ACCEPT,
        };
        unsafe extern "C" fn extension(
            _: *mut std::ffi::c_void,
            id: *const std::ffi::c_char,
        ) -> *const std::ffi::c_void {
            unsafe { $crate::export::extension(id, CarabinerProbe::STATE, CarabinerProbe::SELF_TESTS) }
        }
        static INTERCEPTOR: $crate::abi::Shared<$crate::abi::Interceptor> = $crate::abi::Shared($crate::abi::Interceptor {
            size: std::mem::size_of::<$crate::abi::Interceptor>() as u32,
            thread_class: $crate::thread_class!($($threads)?),
            id: $crate::text!($id),
            version: $crate::text!($version),
            name: $crate::text!($($name)?),
            vendor: $crate::text!($($vendor)?),
            url: $crate::text!($($url)?),
            config_schema: $crate::text!($($schema)?),
            graphql: if CarabinerProbe::GRAPHQL.is_some() { &GRAPHQL } else { std::ptr::null() },
            http: if CarabinerProbe::HTTP.is_some() { &HTTP } else { std::ptr::null() },
            cache: if CarabinerProbe::CACHE.is_some() { &CACHE } else { std::ptr::null() },
            parser: if CarabinerProbe::PARSER.is_some() { &PARSER } else { std::ptr::null() },
            validate: CarabinerProbe::VALIDATE,
            create: Some(create::<$plugin>),
            drain: CarabinerProbe::DRAIN,
            destroy: Some(destroy::<$plugin>),
            extension: match (CarabinerProbe::STATE, CarabinerProbe::SELF_TESTS) {
                (None, None) => None,
                _ => Some(extension),
            },
        });
        &INTERCEPTOR.0 as *const $crate::abi::Interceptor
    }};
}

/// The number of a thread class.
#[doc(hidden)]
#[macro_export]
macro_rules! thread_class {
    () => {
        $crate::export::Threads::Concurrent as u32
    };
    ($threads:ident) => {
        $crate::export::Threads::$threads as u32
    };
}

/// The pointer to a text, or none.
#[doc(hidden)]
#[macro_export]
macro_rules! text {
    () => {
        std::ptr::null()
    };
    ($text:literal) => {
        concat!($text, "\0").as_ptr() as *const std::ffi::c_char
    };
}
