internal import CarabinerWire

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
    let text: String
    /// The names with this beginning that are never passed.
    let exceptions: [String]
  }

  private let names: [String]
  private let prefixes: [Prefix]

  /// Whether no field passes.
  package let isEmpty: Bool

  /// Creates a selection of names. A name that ends with `*` matches all names with this prefix.
  package init(_ patterns: [String]) {
    let lowered = patterns.map { $0.lowercased() }
    names = Set(lowered.filter { !$0.hasSuffix("*") }).subtracting(Self.neverPassed).sorted()
    prefixes = Set(lowered.filter { $0.hasSuffix("*") }).sorted().map { pattern in
      let text = String(pattern.dropLast())
      return Prefix(text: text, exceptions: Self.neverPassed.filter { $0.hasPrefix(text) }.sorted())
    }
    isEmpty = patterns.isEmpty
  }

  /// Whether a field of this name passes.
  package func passes(_ name: String) -> Bool {
    if isEmpty { return false }
    return names.contains { name.isField($0) }
      || prefixes.contains { prefix in
        name.utf8Span.span.hasPrefixIgnoringCase(prefix.text.utf8Span.span) && !prefix.exceptions.contains { name.isField($0) }
      }
  }
}
