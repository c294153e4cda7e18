/// The parts that a stage reads and changes.
public struct StageParts: Sendable {
  /// The parts that the stage reads.
  public var needs: Parts
  /// The parts that the stage may change.
  public var mutates: Parts

  /// Creates a set of parts.
  public init(needs: Parts = [], mutates: Parts = []) {
    self.needs = needs
    self.mutates = mutates
  }
}

/// Parts of a message.
public struct Parts: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The header fields.
  public static let headers = Parts(rawValue: 1 << 0)
  /// The body of the HTTP request.
  public static let body = Parts(rawValue: 1 << 1)
  /// The URL of the HTTP request.
  public static let url = Parts(rawValue: 1 << 2)
  /// The method of the HTTP request.
  public static let method = Parts(rawValue: 1 << 3)
  /// The GraphQL document.
  public static let document = Parts(rawValue: 1 << 4)
  /// The variables, a JSON object.
  public static let variables = Parts(rawValue: 1 << 5)
  /// The extensions, a JSON object.
  public static let extensions = Parts(rawValue: 1 << 6)
  /// The operation's name.
  public static let operationName = Parts(rawValue: 1 << 7)
  /// A result: the whole response object.
  public static let json = Parts(rawValue: 1 << 8)
  /// A result's data.
  public static let data = Parts(rawValue: 1 << 9)
  /// A result's errors.
  public static let errors = Parts(rawValue: 1 << 10)
  /// The bytes of the response's body.
  public static let chunk = Parts(rawValue: 1 << 11)
}
