public import Carabiner
internal import CarabinerWire
public import FoundationEssentials

/// The error of a call.
public struct ConnectError: DescribedError, Sendable {
  /// A detail of an error: a message of any type.
  public struct Detail: DescribedError, Sendable, Equatable {
    /// The full name of the message's type, perhaps after a prefix that ends with a slash.
    public let type: String
    /// The serialised message; nil if the server sent something else than base64.
    public let payload: Data?

    /// Creates a detail.
    public init(type: String, payload: Data?) {
      self.type = type
      self.payload = payload
    }

    public var description: String { "a detail of the type \(type)" }
  }

  /// The code.
  public let code: Code
  /// The message for people; nil if there is none.
  public let message: String?
  /// The error that caused this one, if it is not an error of the server.
  public let exception: (any Error)?
  /// The details, in order.
  public let details: [Detail]
  /// The headers and trailers of the response, with names in lower case.
  public var metadata: Headers

  /// Creates an error.
  public init(
    code: Code, message: String?, exception: (any Error)? = nil, details: [Detail] = [], metadata: Headers = [:]
  ) {
    self.code = code
    self.message = message
    self.exception = exception
    self.details = details
    self.metadata = metadata
  }

  /// The error of a call that the client cancelled.
  public static func canceled() -> Self { Self(code: .canceled, message: "request canceled by client") }

  /// The error of a call that took longer than its timeout.
  package static func deadlineExceeded() -> Self { Self(code: .deadlineExceeded, message: "request exceeded allowed timeout") }

  /// Returns the error of a response.
  ///
  /// - Parameters:
  ///   - code: The code, unless the body has a valid one.
  ///   - headers: The headers; nil for none.
  ///   - trailers: The trailers; nil for none.
  ///   - source: The body, as JSON; anything else is ignored.
  public static func from(code: Code, headers: Headers?, trailers: Trailers?, source: Data?) -> Self {
    let body = source.flatMap { ConnectErrorBody(parsing: [UInt8]($0)) }
    return Self(
      code: body.flatMap { Self.code(of: $0) } ?? code, message: body?.message, details: (body?.details ?? []).map { Detail($0) },
      metadata: HeaderFields.merged(headers ?? [:]).merging(HeaderFields.merged(trailers ?? [:])) { $1 })
  }

  /// The code of a server's error; nil if it has none, or one that is unknown or `ok`.
  static func code(of body: ConnectErrorBody) -> Code? {
    body.code.flatMap { name in Code.allCases.first { $0 != .ok && $0.name == name } }
  }
}

extension ConnectError.Detail {
  init(_ detail: ConnectErrorBody.Detail) { self.init(type: detail.type, payload: detail.payload.map { Data($0) }) }
}

extension ConnectError {
  /// The message; the name of the code if there is none.
  public var errorDescription: String? {
    guard let message, !message.isEmpty else { return code.name }
    return message
  }

  /// The message, and the name of the code in brackets.
  public var description: String {
    guard let message, !message.isEmpty else { return "[\(code.name)]" }
    return "\(message) [\(code.name)]"
  }
}
