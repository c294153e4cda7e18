public import FoundationEssentials

/// Encodes and decodes messages.
public protocol Codec: Sendable {
  /// The name in content types, for example `json`.
  func name() -> String

  /// Encodes a message.
  func serialize<Input: ProtobufMessage>(message: Input) throws -> Data

  /// Encodes a message so that equal messages have equal bytes.
  func deterministicallySerialize<Input: ProtobufMessage>(message: Input) throws -> Data

  /// Decodes a message.
  func deserialize<Output: ProtobufMessage>(source: Data) throws -> Output
}
