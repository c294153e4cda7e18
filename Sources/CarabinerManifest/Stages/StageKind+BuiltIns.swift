package import CarabinerABI

extension StageKind {
  /// The built-in stages of the kind, in their default order.
  package var builtIns: [String] {
    switch self {
    case .graphQL: ["max-retry", "persisted-queries"]
    case .cache: ["store"]
    case .http: ["response-code"]
    case .parsing: ["json"]
    }
  }

  /// The kind of a built-in stage; nil if there is no such stage.
  static func ofBuiltIn(_ name: String) -> StageKind? { allCases.first { $0.builtIns.contains(name) } }
}
