public import CarabinerABI

/// A value for each of the four lists.
///
/// It is public, like ``StageKind``, so that the compiler can specialise it for the types of the host, because each request reads
/// it.
public struct StageMap<Value: Sendable>: Sendable {
  private var graphql: Value
  private var cache: Value
  private var http: Value
  private var parsing: Value

  /// Calls `value` once for each list.
  public init(_ value: (StageKind) throws -> Value) rethrows {
    graphql = try value(.graphQL)
    cache = try value(.cache)
    http = try value(.http)
    parsing = try value(.parsing)
  }

  /// The value of a list.
  public subscript(list: StageKind) -> Value {
    get {
      switch list {
      case .graphQL: graphql
      case .cache: cache
      case .http: http
      case .parsing: parsing
      }
    }
    set {
      switch list {
      case .graphQL: graphql = newValue
      case .cache: cache = newValue
      case .http: http = newValue
      case .parsing: parsing = newValue
      }
    }
  }
}

extension StageMap: Equatable where Value: Equatable {}
extension StageMap: Hashable where Value: Hashable {}
