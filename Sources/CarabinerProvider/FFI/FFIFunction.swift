internal import CFFI
internal import CLinux
internal import Carabiner
internal import CarabinerBridge
package import CarabinerManifest
package import CarabinerWire
package import FoundationEssentials
internal import Glibc

/// A declared function of a C library, ready to be called.
@safe package final class FFIFunction: @unchecked Sendable {
  // Immutable after `init`; libffi's call interface is only read by calls.

  /// A text result longer than this is truncated.
  static let maximumTextBytes = 4096

  package let declaration: FFIDeclaration
  private let address: UnsafeMutableRawPointer
  private let interface: UnsafeMutablePointer<ffi_cif>
  private let types: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>

  /// Finds the function and prepares the call.
  ///
  /// - Parameters:
  ///   - dependencies: The libraries that a library named by a path may need.
  ///   - directory: The folder that a relative path is relative to.
  /// - Throws: ``ManifestProblem`` if the library or function does not exist, the symbol is not a function, or another user can change
  ///   the library.
  package convenience init(_ declaration: FFIDeclaration, at pointer: JSONPointer, directory: String = ".") throws {
    try self.init(declaration, at: pointer, PluginDependencies(allowed: [], mode: .memfd), directory: directory)
  }

  init(
    _ declaration: FFIDeclaration, at pointer: JSONPointer, _ dependencies: PluginDependencies, directory: String
  ) throws {
    self.declaration = declaration
    let name = try Self.checked(declaration.library, at: pointer.appending("library"), dependencies, directory)
    guard let library = unsafe dlopen(name, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? ""
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("library"),
        "the library cannot be loaded: \(reason); install it, or use a file name that ldconfig -p lists")
    }
    guard let symbol = unsafe dlsym(library, declaration.function) else {
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("function"),
        "\(declaration.library) has no symbol \(declaration.function); nm -D lists its symbols")
    }
    guard unsafe CLinux_isCode(symbol) != 0 else {
      throw ManifestProblem(
        .invalidValue, at: pointer.appending("function"),
        "\(declaration.function) of \(declaration.library) is data and not a function; nm -D lists functions with T, W or i")
    }
    unsafe address = unsafe symbol
    unsafe types = .allocate(capacity: max(declaration.arguments.count, 1))
    unsafe interface = .allocate(capacity: 1)
    unsafe interface.initialize(to: ffi_cif())
    for (index, argument) in declaration.arguments.enumerated() { unsafe types[index] = unsafe argument.type.ffi }
    guard
      unsafe ffi_prep_cif(interface, FFI_DEFAULT_ABI, UInt32(declaration.arguments.count), declaration.returns.ffi, types)
        == FFI_OK
    else {
      throw ManifestProblem(.invalidValue, at: pointer, "libffi cannot prepare a call with these types")
    }
  }

  /// The library as it is passed to the dynamic linker: a name unchanged, a path after its owner and permissions were checked.
  ///
  /// The library is not copied: if the process has loaded it already, the copy would be a second instance with state of its
  /// own.
  private static func checked(
    _ library: String, at pointer: JSONPointer, _ dependencies: PluginDependencies, _ directory: String
  ) throws(ManifestProblem) -> String {
    guard library.contains("/") else { return library }
    let path = library.hasPrefix("/") ? library : "\(directory)/\(library)"
    do throws(HostError) {
      try dependencies.load(for: try PluginFile(opening: path))
    } catch {
      throw ManifestProblem(.pluginRefused, at: pointer, "\(error.path): \(error.message)")
    }
    return path
  }

  deinit {
    unsafe types.deallocate()
    unsafe interface.deallocate()
  }

  /// Calls the function with a body and returns its result as the text of the header.
  package func call(body: Data) -> String {
    unsafe body.withUnsafeBytes { body in
      // ffi_call takes the addresses of the arguments. Each argument has eight bytes.
      unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: max(declaration.arguments.count, 1)) { slots in
        unsafe withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: max(declaration.arguments.count, 1)) {
          addresses in
          var texts: [UnsafeMutablePointer<CChar>?] = unsafe []
          defer { for index in unsafe texts.indices { unsafe free(texts[index]) } }
          for (index, argument) in declaration.arguments.enumerated() {
            unsafe slots[index] = unsafe bits(of: argument, body, &texts)
            unsafe addresses[index] = unsafe slots.baseAddress.map { unsafe UnsafeMutableRawPointer($0 + index) }
          }
          var result: UInt64 = 0
          unsafe ffi_call(interface, unsafeBitCast(address, to: (@convention(c) () -> Void).self), &result, addresses.baseAddress)
          return text(of: result)
        }
      }
    }
  }

  private func bits(
    of argument: FFIDeclaration.Argument, _ body: UnsafeRawBufferPointer, _ texts: inout [UnsafeMutablePointer<CChar>?]
  ) -> UInt64 {
    switch argument {
    case .integer(_, let value): return UInt64(bitPattern: value)
    case .unsigned(_, let value): return value
    case .real(.f32, let value): return UInt64(Float(value).bitPattern)
    case .real(_, let value): return value.bitPattern
    case .text(let text):
      unsafe texts.append(strdup(text))
      return unsafe UInt64(UInt(bitPattern: texts[texts.count - 1]))
    case .body: return UInt64(UInt(bitPattern: body.baseAddress))
    case .bodyLength: return UInt64(body.count)
    }
  }

  /// libffi widens integer results to a word. The declared type determines how many of its bytes are used.
  private func text(of result: UInt64) -> String {
    let radix = declaration.format == .hex ? 16 : 10
    return switch declaration.returns {
    case .i8: String(Int8(truncatingIfNeeded: result), radix: radix)
    case .i16: String(Int16(truncatingIfNeeded: result), radix: radix)
    case .i32: String(Int32(truncatingIfNeeded: result), radix: radix)
    case .i64: String(Int64(bitPattern: result), radix: radix)
    case .u8: String(UInt8(truncatingIfNeeded: result), radix: radix)
    case .u16: String(UInt16(truncatingIfNeeded: result), radix: radix)
    case .u32: String(UInt32(truncatingIfNeeded: result), radix: radix)
    case .u64: String(result, radix: radix)
    case .f32: "\(Float(bitPattern: UInt32(truncatingIfNeeded: result)))"
    case .f64: "\(Double(bitPattern: result))"
    case .string: textResult(result)
    case .pointer, .void: ""
    }
  }

  private func textResult(_ result: UInt64) -> String {
    guard let start = unsafe UnsafePointer<UInt8>(bitPattern: UInt(result)) else { return "" }
    let count = unsafe strnlen(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), Self.maximumTextBytes)
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    return unsafe String(decoding: bytes.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
  }
}

extension FFIDeclaration.Argument {
  fileprivate var type: FFIDeclaration.CType {
    switch self {
    case .integer(let type, _), .unsigned(let type, _), .real(let type, _), .bodyLength(let type): type
    case .text: .string
    case .body: .pointer
    }
  }
}

extension FFIDeclaration.CType {
  fileprivate var ffi: UnsafeMutablePointer<ffi_type> {
    switch self {
    case .i8: unsafe FFITypes.sint8
    case .i16: unsafe FFITypes.sint16
    case .i32: unsafe FFITypes.sint32
    case .i64: unsafe FFITypes.sint64
    case .u8: unsafe FFITypes.uint8
    case .u16: unsafe FFITypes.uint16
    case .u32: unsafe FFITypes.uint32
    case .u64: unsafe FFITypes.uint64
    case .f32: unsafe FFITypes.float
    case .f64: unsafe FFITypes.double
    case .string, .pointer: unsafe FFITypes.pointer
    case .void: unsafe FFITypes.void
    }
  }
}
