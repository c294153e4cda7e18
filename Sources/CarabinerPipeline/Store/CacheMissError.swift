public import Carabiner

/// The store does not have a result, and the server may not be asked.
public struct CacheMissError: DescribedError, Sendable, Hashable {
  /// The name of the operation; nil for an anonymous one.
  public let operationName: String?

  /// A miss of this operation.
  public init(operationName: String?) { self.operationName = operationName }

  public var description: String {
    "the store does not have the result of \(operationName ?? "an anonymous operation"); fetch it with another cache policy"
  }
}
