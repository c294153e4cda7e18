/// The four lists of a chain.
public enum StageList: String, Sendable, CaseIterable {
  case graphql
  case cache
  case http
  case parsing

  /// The built-in stages of the list, in their default order.
  package var builtIns: [String] {
    switch self {
    case .graphql: ["max-retry", "persisted-queries"]
    case .cache: ["store"]
    case .http: ["response-code"]
    case .parsing: ["json"]
    }
  }

  /// The list of a built-in stage; nil if there is no such stage.
  static func ofBuiltIn(_ name: String) -> StageList? { allCases.first { $0.builtIns.contains(name) } }
}
