internal import CarabinerCalls

extension UnaryForm where Input: ProtobufMessage, Output: ProtobufMessage {
  /// Typed messages, which the codec encodes.
  init(_ codec: any Codec) {
    self.init(
      serialize: { try $1 ? codec.deterministicallySerialize(message: $0) : codec.serialize(message: $0) },
      parse: { try codec.deserialize(source: $0) })
  }
}

extension StreamForm where Input: ProtobufMessage, Output: ProtobufMessage {
  /// Typed messages, which the codec encodes.
  init(_ codec: any Codec) {
    self.init(serialize: { try codec.serialize(message: $0) }, parse: { try codec.deserialize(source: $0) })
  }
}
