/// The paths at which a gateway serves operations.
package enum ServePaths {
  /// The path if neither a flag nor the manifest names one.
  package static let usual = "/graphql"
  /// The most paths of a gateway.
  package static let maximum = 64
  /// The paths with other purposes, which cannot be used for operations.
  package static let reserved = ["/healthz", "/readyz", "/metrics"]

  /// Whether a text is a path without a query.
  package static func isPath(_ text: String) -> Bool {
    text.first == "/" && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  }
}
