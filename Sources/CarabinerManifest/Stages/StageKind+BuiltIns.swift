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

  /// The name of the stage that marks the place of a delegate.
  package static let delegate = "delegate"

  /// The built-in stages of the kind that run only where a list names them.
  package var optionalBuiltIns: [String] { self == .http ? [Self.delegate] : [] }

  /// The built-in stages that a list of the kind may name.
  package var knownBuiltIns: [String] { builtIns + optionalBuiltIns }

  /// The kind of a built-in stage; nil if there is no such stage.
  static func ofBuiltIn(_ name: String) -> StageKind? { allCases.first { $0.knownBuiltIns.contains(name) } }
}
