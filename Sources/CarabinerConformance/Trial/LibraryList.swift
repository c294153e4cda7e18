internal import CTestHost

/// The libraries of this process, by their names in the dynamic linker.
struct LibraryList: Sendable {
  let names: Set<String>
  /// How many were loaded since the start of the process, including those that were closed again.
  let loaded: UInt64

  private static let maximumBytes = 256 << 10

  static var now: LibraryList {
    var bytes = [CChar](repeating: 0, count: maximumBytes)
    let loaded = unsafe bytes.withUnsafeMutableBufferPointer { unsafe CTestHost_libraries($0.baseAddress, $0.count) }
    let text = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return LibraryList(names: Set(text.split(separator: "\n").map(String.init)), loaded: loaded)
  }

  /// The libraries that were loaded since, for messages. Parts of libc that it loads for users, hosts or character sets do not
  /// count.
  func additions(since before: LibraryList) -> [String] {
    let new = names.subtracting(before.names).sorted()
    let isMissing = loaded > before.loaded + UInt64(new.count)
    return new.filter { !Self.isOfLibc($0) } + (isMissing ? ["a library that is closed again"] : [])
  }

  /// The last part of a path.
  static func fileName(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

  private static func isOfLibc(_ path: String) -> Bool {
    let name = fileName(path)
    return path.contains("/gconv/") || ["libnss_", "libgcc_s.", "libresolv."].contains { name.hasPrefix($0) }
  }
}
