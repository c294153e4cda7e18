/// The four lists of a chain.
package enum StageList: String, Sendable, CaseIterable {
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

/// A value for each of the four lists.
package struct PerList<Value: Sendable>: Sendable {
  private var graphql: Value
  private var cache: Value
  private var http: Value
  private var parsing: Value

  /// What `value` says of each list.
  init(_ value: (StageList) throws -> Value) rethrows {
    graphql = try value(.graphql)
    cache = try value(.cache)
    http = try value(.http)
    parsing = try value(.parsing)
  }

  /// The value of a list.
  package subscript(list: StageList) -> Value {
    get {
      switch list {
      case .graphql: graphql
      case .cache: cache
      case .http: http
      case .parsing: parsing
      }
    }
    set {
      switch list {
      case .graphql: graphql = newValue
      case .cache: cache = newValue
      case .http: http = newValue
      case .parsing: parsing = newValue
      }
    }
  }
}

extension PerList: Equatable where Value: Equatable {}
extension PerList: Hashable where Value: Hashable {}
