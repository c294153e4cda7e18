internal import CFFI

/// libffi's descriptions of the C types. They are C globals, which Swift treats as mutable shared state; libffi only reads
/// them.
enum FFITypes {
  static var uint8: UnsafeMutablePointer<ffi_type> { unsafe CFFI_uint8() }
  static var sint8: UnsafeMutablePointer<ffi_type> { unsafe CFFI_sint8() }
  static var uint16: UnsafeMutablePointer<ffi_type> { unsafe CFFI_uint16() }
  static var sint16: UnsafeMutablePointer<ffi_type> { unsafe CFFI_sint16() }
  static var uint32: UnsafeMutablePointer<ffi_type> { unsafe CFFI_uint32() }
  static var sint32: UnsafeMutablePointer<ffi_type> { unsafe CFFI_sint32() }
  static var uint64: UnsafeMutablePointer<ffi_type> { unsafe CFFI_uint64() }
  static var sint64: UnsafeMutablePointer<ffi_type> { unsafe CFFI_sint64() }
  static var float: UnsafeMutablePointer<ffi_type> { unsafe CFFI_float() }
  static var double: UnsafeMutablePointer<ffi_type> { unsafe CFFI_double() }
  static var pointer: UnsafeMutablePointer<ffi_type> { unsafe CFFI_pointer() }
  static var void: UnsafeMutablePointer<ffi_type> { unsafe CFFI_void() }
}
