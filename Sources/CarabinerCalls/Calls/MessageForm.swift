package import FoundationEssentials

/// How the messages of a unary call are encoded.
package struct UnaryForm<Input: Sendable, Output: Sendable>: Sendable {
  let serialize: @Sendable (Input, _ deterministically: Bool) throws -> Data
  let parse: @Sendable (Data) throws -> Output

  package init(
    serialize: @escaping @Sendable (Input, _ deterministically: Bool) throws -> Data,
    parse: @escaping @Sendable (Data) throws -> Output
  ) {
    self.serialize = serialize
    self.parse = parse
  }
}

extension UnaryForm<Data, Data> {
  /// Messages that are bytes of the codec.
  init() { self.init(serialize: { bytes, _ in bytes }, parse: { $0 }) }
}

/// How the messages of a stream are encoded.
package struct StreamForm<Input: Sendable, Output: Sendable>: Sendable {
  let serialize: @Sendable (Input) throws -> Data
  let parse: @Sendable (Data) throws -> Output

  package init(serialize: @escaping @Sendable (Input) throws -> Data, parse: @escaping @Sendable (Data) throws -> Output) {
    self.serialize = serialize
    self.parse = parse
  }
}

extension StreamForm<Data, Data> {
  /// Messages that are bytes of the codec.
  init() { self.init(serialize: { $0 }, parse: { $0 }) }
}

extension ConnectError {
  static func unserializable(_ error: any Error) -> ConnectError {
    ConnectError(code: .unknown, message: "request serialization failed", exception: error)
  }

  static func unparsable(_ error: any Error) -> ConnectError {
    ConnectError(code: .internalError, message: "the message of the response cannot be parsed: \(error)", exception: error)
  }
}
