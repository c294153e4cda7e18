internal import FoundationEssentials

/// The messages of a unary call: how they are encoded, and which hooks see them before.
struct UnaryForm<Input: Sendable, Output: Sendable>: Sendable {
  let serialize: @Sendable (Input, _ deterministically: Bool) throws -> Data
  let parse: @Sendable (Data) throws -> Output
  let request: @Sendable (CallChain<any UnaryInterceptor>) -> [Hook<HTTPRequest<Input>>]
  let response: @Sendable (CallChain<any UnaryInterceptor>) -> [Hook<ResponseMessage<Output>>]
}

extension UnaryForm where Input: ProtobufMessage, Output: ProtobufMessage {
  /// Typed messages, which the codec encodes.
  init(_ codec: any Codec) {
    self.init(
      serialize: { try $1 ? codec.deterministicallySerialize(message: $0) : codec.serialize(message: $0) },
      parse: { try codec.deserialize(source: $0) }, request: { $0.request(Input.self) }, response: { $0.response(Output.self) })
  }
}

extension UnaryForm<Data, Data> {
  /// Messages that are bytes of the codec. Only raw hooks see them.
  init() { self.init(serialize: { bytes, _ in bytes }, parse: { $0 }, request: { _ in [] }, response: { _ in [] }) }
}

/// The messages of a stream: how they are encoded, and which hooks see them before.
struct StreamForm<Input: Sendable, Output: Sendable>: Sendable {
  let serialize: @Sendable (Input) throws -> Data
  let parse: @Sendable (Data) throws -> Output
  let input: @Sendable (CallChain<any StreamInterceptor>) -> [Hook<Input>]
  let result: @Sendable (CallChain<any StreamInterceptor>) -> [Hook<StreamResult<Output>>]
}

extension StreamForm where Input: ProtobufMessage, Output: ProtobufMessage {
  /// Typed messages, which the codec encodes.
  init(_ codec: any Codec) {
    self.init(
      serialize: { try codec.serialize(message: $0) }, parse: { try codec.deserialize(source: $0) },
      input: { $0.input(Input.self) }, result: { $0.result(Output.self) })
  }
}

extension StreamForm<Data, Data> {
  /// Messages that are bytes of the codec. Only raw hooks see them.
  init() { self.init(serialize: { $0 }, parse: { $0 }, input: { _ in [] }, result: { _ in [] }) }
}

extension ConnectError {
  static func unserializable(_ error: any Error) -> ConnectError {
    ConnectError(code: .unknown, message: "request serialization failed", exception: error)
  }

  static func unparsable(_ error: any Error) -> ConnectError {
    ConnectError(code: .internalError, message: "the message of the response cannot be parsed: \(error)", exception: error)
  }
}
