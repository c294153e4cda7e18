public import FoundationEssentials
public import SwiftProtobuf

/// Messages in the binary format of Protocol Buffers.
public struct ProtoCodec: Codec {
  /// Creates a codec.
  public init() {}

  public func name() -> String { "proto" }

  public func serialize<Input: ProtobufMessage>(message: Input) throws -> Data {
    Data(try message.serializedBytes() as [UInt8])
  }

  public func deterministicallySerialize<Input: ProtobufMessage>(message: Input) throws -> Data {
    var options = BinaryEncodingOptions()
    options.useDeterministicOrdering = true
    return Data(try message.serializedBytes(options: options) as [UInt8])
  }

  public func deserialize<Output: ProtobufMessage>(source: Data) throws -> Output {
    try Output(serializedBytes: Array(source))
  }
}
