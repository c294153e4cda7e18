internal import CarabinerWire
public import FoundationEssentials
public import SwiftProtobuf

/// Messages as JSON. Members that a message does not have are ignored.
public struct JSONCodec: Codec {
  private let encoding: JSONEncodingOptions

  /// Creates a codec.
  ///
  /// - Parameters:
  ///   - alwaysEncodeEnumsAsInts: Whether the values of enumerations are numbers and not names.
  ///   - preserveProtobufFieldNames: Whether members have the names of the definition, in snake case.
  public init(alwaysEncodeEnumsAsInts: Bool = false, preserveProtobufFieldNames: Bool = false) {
    var encoding = JSONEncodingOptions()
    encoding.alwaysPrintEnumsAsInts = alwaysEncodeEnumsAsInts
    encoding.preserveProtoFieldNames = preserveProtobufFieldNames
    self.encoding = encoding
  }

  public func name() -> String { "json" }

  public func serialize<Input: ProtobufMessage>(message: Input) throws -> Data {
    Data(try message.jsonUTF8Bytes(options: encoding) as [UInt8])
  }

  public func deterministicallySerialize<Input: ProtobufMessage>(message: Input) throws -> Data {
    var encoding = encoding
    encoding.useDeterministicOrdering = true
    let bytes = try message.jsonUTF8Bytes(options: encoding) as [UInt8]
    // The option has no effect on the members of a `google.protobuf.Struct`.
    guard let value = try? JSONValue(parsing: bytes, limits: .highest) else { return Data(bytes) }
    return Data(value.serialized(sortedKeys: true))
  }

  public func deserialize<Output: ProtobufMessage>(source: Data) throws -> Output {
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = true
    return try Output(jsonUTF8Bytes: Array(source), options: options)
  }
}
