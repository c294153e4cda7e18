/// The roles of a listener: the kinds of requests that it serves.
package struct ListenerRoles: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// GraphQL operations, and the query page.
  package static let operations = ListenerRoles(rawValue: 1)
  /// `/healthz` and `/readyz`.
  package static let health = ListenerRoles(rawValue: 2)
  /// `/metrics`.
  package static let metrics = ListenerRoles(rawValue: 4)
  /// The roles of a listener if the manifest names none.
  package static let usual: ListenerRoles = [.operations, .health]

  /// All roles by their names.
  package static let names: [(name: String, role: ListenerRoles)] = [
    ("operations", .operations), ("health", .health), ("metrics", .metrics),
  ]

  /// The names of these roles.
  package var names: [String] { Self.names.filter { contains($0.role) }.map(\.name) }

  /// The fixed paths of these roles.
  package var paths: [String] { (contains(.health) ? ["/healthz", "/readyz"] : []) + (contains(.metrics) ? ["/metrics"] : []) }
}
