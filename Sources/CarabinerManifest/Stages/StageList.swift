/// The four lists of a chain.
public enum StageList: String, Sendable, CaseIterable {
  case graphql
  case cache
  case http
  case parsing

  /// The built-in stages such a list may name, in the order they stand in unless a manifest says otherwise.
  package var builtIns: [String] {
    switch self {
    case .graphql: ["max-retry", "persisted-queries"]
    case .cache: ["store"]
    case .http: ["response-code"]
    case .parsing: ["json"]
    }
  }

  /// The list a built-in stage belongs to; nil if there is no such stage.
  static func ofBuiltIn(_ name: String) -> StageList? { allCases.first { $0.builtIns.contains(name) } }
}
