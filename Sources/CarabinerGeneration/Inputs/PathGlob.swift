internal import Glibc

/// A pattern of paths: `**` matches any folders, `*` any text of a name, `?` one character, and `[a-z]` a range.
///
/// Names that begin with a dot match only if the pattern has the dot.
struct PathGlob: Sendable, Hashable {
  /// A name of the pattern.
  enum Part: Sendable, Hashable {
    /// Any number of folders.
    case folders
    /// One name.
    case name(String)
  }

  /// The folder or file before the first wildcard; empty for the folder of the configuration.
  let base: String
  /// The parts from the first wildcard; none if the pattern is the path of one file.
  let parts: [Part]

  /// Reads a pattern. Every text is a valid pattern.
  init(_ pattern: String) {
    let names = pattern.split(separator: "/").filter { $0 != "." }
    let first = names.firstIndex { $0.contains { "*?[".contains($0) } } ?? names.endIndex
    base = (pattern.hasPrefix("/") ? "/" : "") + names[..<first].joined(separator: "/")
    var parts: [Part] = []
    for name in names[first...] {
      if name != "**" { parts.append(.name(String(name))) } else if parts.last != .folders { parts.append(.folders) }
    }
    // Two stars at the end are the files in all folders.
    if parts.last == .folders { parts.append(.name("*")) }
    self.parts = parts
  }

  /// Whether a name matches a name of the pattern.
  static func matches(_ name: String, _ pattern: String) -> Bool { unsafe fnmatch(pattern, name, FNM_PERIOD) == 0 }
}
