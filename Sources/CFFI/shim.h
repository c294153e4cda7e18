/* libffi's type descriptions are mutable C globals, which Swift 6 refuses to read. These functions return their addresses. */
#pragma once
#include <ffi.h>

static inline ffi_type *CFFI_uint8(void) { return &ffi_type_uint8; }
static inline ffi_type *CFFI_sint8(void) { return &ffi_type_sint8; }
static inline ffi_type *CFFI_uint16(void) { return &ffi_type_uint16; }
static inline ffi_type *CFFI_sint16(void) { return &ffi_type_sint16; }
static inline ffi_type *CFFI_uint32(void) { return &ffi_type_uint32; }
static inline ffi_type *CFFI_sint32(void) { return &ffi_type_sint32; }
static inline ffi_type *CFFI_uint64(void) { return &ffi_type_uint64; }
static inline ffi_type *CFFI_sint64(void) { return &ffi_type_sint64; }
static inline ffi_type *CFFI_float(void) { return &ffi_type_float; }
static inline ffi_type *CFFI_double(void) { return &ffi_type_double; }
static inline ffi_type *CFFI_pointer(void) { return &ffi_type_pointer; }
static inline ffi_type *CFFI_void(void) { return &ffi_type_void; }
