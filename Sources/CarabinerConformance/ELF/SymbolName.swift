internal import Glibc

/// The names of functions in the source, from those that compilers give them. The run times of C++ and Swift know how.
enum SymbolName {
  private typealias Decoder =
    @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Int32>?)
    ->
    UnsafeMutablePointer<CChar>?
  private typealias SwiftDecoder =
    @convention(c) (UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32) ->
    UnsafeMutablePointer<
      CChar
    >?

  /// A longer name stays as it is.
  private static let maximumBytes = 2048

  /// The name in the source; the same name if it cannot be decoded.
  static func decoded(_ name: String) -> String {
    guard name.utf8.count <= maximumBytes else { return name }
    var decoded: UnsafeMutablePointer<CChar>?
    if name.hasPrefix("_Z"), let symbol = unsafe dlsym(nil, "__cxa_demangle") {
      unsafe decoded = unsafe unsafeBitCast(symbol, to: Decoder.self)(name, nil, nil, nil)
    } else if name.hasPrefix("$s"), let symbol = unsafe dlsym(nil, "swift_demangle") {
      unsafe decoded = unsafe unsafeBitCast(symbol, to: SwiftDecoder.self)(name, name.utf8.count, nil, nil, 0)
    }
    guard let text = unsafe decoded else { return name }
    defer { unsafe free(text) }
    return withoutHash(unsafe String(cString: text))
  }

  /// Removes the hash that Rust appends: `plugin::Audit::on_request::h0123456789abcdef`.
  private static func withoutHash(_ name: String) -> String {
    let hash = name.suffix(19)
    let isHash = hash.hasPrefix("::h") && hash.utf8.count == 19 && hash.dropFirst(3).allSatisfy(\.isHexDigit)
    return isHash ? String(name.dropLast(19)) : name
  }
}
