/// The name of a method, and its kind.
public struct MethodSpec: Equatable, Codable, Sendable {
  /// The kind of a method.
  public enum MethodType: Equatable, Codable, Sendable {
    case unary
    case clientStream
    case serverStream
    case bidirectionalStream
  }

  /// The name of the method.
  public let name: String
  /// The name of its service, with the package.
  public let service: String
  /// The kind of the method.
  public let type: MethodType

  /// The path of calls, for example `shop.v1.Shop/Buy`.
  public var path: String { "\(service)/\(name)" }

  /// Creates the description of a method.
  public init(name: String, service: String, type: MethodType) {
    self.name = name
    self.service = service
    self.type = type
  }
}
