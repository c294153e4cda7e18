/// A list of header fields that are passed on. All others are removed.
package struct HeaderSelection: Sendable, Hashable {
  /// Fields of a single connection or body, which are never passed on.
  package static let neverPassed: Set<String> = [
    "connection", "content-length", "content-encoding", "content-type", "date", "expect", "host", "keep-alive",
    "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "accept", "accept-encoding",
    "via", "sec-websocket-accept", "sec-websocket-extensions", "sec-websocket-key", "sec-websocket-protocol",
    "sec-websocket-version",
  ]

  /// The beginning of names that pass.
  private struct Prefix: Hashable {
    let text: [UInt8]
    /// The names with this beginning that are never passed.
    let exceptions: [[UInt8]]
  }

  private let names: [[UInt8]]
  private let prefixes: [Prefix]

  /// Whether no field passes.
  package let isEmpty: Bool
  /// Whether cookies of clients pass.
  package private(set) var passesCookies = false

  /// Creates a selection of names. A name that ends with `*` matches all names with this prefix.
  ///
  /// - Parameter excluded: Names that do not pass, in any case.
  package init(_ patterns: [String], except excluded: [String] = []) {
    let refused = Self.neverPassed.union(excluded.map { $0.lowercased() })
    let lowered = patterns.map { $0.lowercased() }
    names = Set(lowered.filter { !$0.hasSuffix("*") }).subtracting(refused).sorted().map { Array($0.utf8) }
    prefixes = Set(lowered.filter { $0.hasSuffix("*") }).sorted().map { pattern in
      let text = String(pattern.dropLast())
      let exceptions = refused.filter { $0.hasPrefix(text) }.sorted()
      return Prefix(text: Array(text.utf8), exceptions: exceptions.map { Array($0.utf8) })
    }
    isEmpty = names.isEmpty && prefixes.isEmpty
    passesCookies = passes("cookie")
  }

  /// Whether a field of this name passes.
  package func passes(_ name: String) -> Bool { passes(name.utf8Span.span) }

  /// Whether a field of this name passes.
  package func passes(_ name: Span<UInt8>) -> Bool {
    if isEmpty { return false }
    for known in names where name.isEqualIgnoringCase(known.span) { return true }
    for prefix in prefixes where name.hasPrefixIgnoringCase(prefix.text.span) {
      return !prefix.exceptions.contains { name.isEqualIgnoringCase($0.span) }
    }
    return false
  }
}
