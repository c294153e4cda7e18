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

  private let names: Set<String>
  private let prefixes: [String]

  /// Whether no field passes.
  package let isEmpty: Bool

  /// Creates a selection of names. A name that ends with `*` matches all names with this prefix.
  package init(_ patterns: [String]) {
    let lowered = patterns.map { $0.lowercased() }
    names = Set(lowered.filter { !$0.hasSuffix("*") }).subtracting(Self.neverPassed)
    prefixes = lowered.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) }
    isEmpty = patterns.isEmpty
  }

  /// Whether a field of this name passes.
  package func passes(_ name: String) -> Bool {
    if isEmpty { return false }
    let name = name.lowercased()
    if names.contains(name) { return true }
    return prefixes.contains { name.utf8.starts(with: $0.utf8) } && !Self.neverPassed.contains(name)
  }
}
