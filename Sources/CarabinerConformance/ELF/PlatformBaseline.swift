/// The oldest system on which a plugin must load: Debian 12, with glibc 2.36 and the libraries of GCC 12.
enum PlatformBaseline {
  /// The newest permitted versions of symbols, by the names of their series.
  private static let newest: [String: [Int]] = [
    "GLIBC": [2, 36], "GLIBCXX": [3, 4, 30], "CXXABI": [1, 3, 13], "GCC": [12, 0, 0], "OPENSSL": [3, 0, 9],
  ]

  /// Libraries that every such system or the run time of a language has, without the suffix after `.so`.
  private static let libraries: Set<String> = [
    "libc", "libm", "libpthread", "libdl", "librt", "libutil", "libresolv", "libanl", "ld-linux-x86-64", "ld-linux-aarch64",
    "linux-vdso", "libgcc_s", "libstdc++", "libatomic", "libcrypto", "libssl", "libz", "libdispatch", "libBlocksRuntime",
    "libFoundation", "libFoundationEssentials", "libFoundationInternationalization", "lib_FoundationICU", "lib_FoundationCShims",
    "lib_FoundationCollections",
  ]

  /// Sanitizers that are present only in a process that was started with them. libubsan works in any process, so it is not among
  /// them.
  private static let sanitizers = ["libasan", "libtsan", "liblsan", "libclang_rt"]

  /// Whether the baseline has a library.
  static func knows(library: String) -> Bool {
    let name = library.firstRange(of: ".so").map { String(library[..<$0.lowerBound]) } ?? library
    return libraries.contains(name) || name.hasPrefix("libswift") || sanitizers.contains { name.hasPrefix($0) }
  }

  /// Whether the baseline has a symbol version such as `GLIBC_2.34`; versions of unknown series depend on their library.
  static func has(version: String) -> Bool {
    guard let separator = version.lastIndex(of: "_"), let limit = newest[String(version[..<separator])] else { return true }
    let numbers = version[version.index(after: separator)...].split(separator: ".").map { Int($0) ?? 0 }
    return !limit.lexicographicallyPrecedes(numbers)
  }
}
