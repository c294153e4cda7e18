internal import CarabinerWire
internal import FoundationEssentials

/// The settings of a protocol for the messages of a client.
package struct ProtocolOptions: Sendable {
  /// The default maximum size of a received message, after decompression.
  package static let defaultMaximumMessageBytes = GzipCompressionPool.defaultMaximumBytes
  /// The default maximum size of an error, of the end of a stream and of a block of trailers, after decompression.
  package static let defaultMaximumTrailerBytes = 4 << 20

  /// The name of the codec in content types, for example "json".
  package var codecName: String
  /// Compresses requests; nil if they are sent as they are.
  package var requestPool: (any CompressionPool)?
  /// The size from which requests are compressed.
  package var compressFrom: Int
  /// The compressions of responses that the client reads, best first.
  package var responsePools: [any CompressionPool]
  /// The maximum size of a received message, after decompression.
  package var maximumMessageBytes: Int
  /// The maximum size of an error, of the end of a stream and of a block of trailers, after decompression.
  package var maximumTrailerBytes: Int

  /// Creates options.
  package init(
    codecName: String, requestPool: (any CompressionPool)? = nil, compressFrom: Int = 0,
    responsePools: [any CompressionPool] = [GzipCompressionPool()], maximumMessageBytes: Int = Self.defaultMaximumMessageBytes,
    maximumTrailerBytes: Int = Self.defaultMaximumTrailerBytes
  ) {
    self.codecName = codecName
    self.requestPool = requestPool
    self.compressFrom = compressFrom
    self.responsePools = responsePools
    self.maximumMessageBytes = maximumMessageBytes
    self.maximumTrailerBytes = maximumTrailerBytes
  }

  /// The value of the field for accepted compressions; nil without any.
  var acceptedEncodings: String? {
    responsePools.isEmpty ? nil : responsePools.map { $0.name() }.joined(separator: ",")
  }

  /// A message as it is sent, with the name of its compression if it is compressed.
  func compressed(_ message: Data) -> (bytes: Data, encoding: String?) {
    guard let requestPool, !message.isEmpty, message.count >= compressFrom,
      let bytes = try? requestPool.compress(data: message), !bytes.isEmpty
    else { return (message, nil) }
    return (bytes, requestPool.name())
  }

  /// One message as an envelope, compressed if it is large enough.
  ///
  /// - Throws: ``ConnectError`` if it is too large for an envelope.
  func framed(_ message: Data) throws(ConnectError) -> Data {
    let (bytes, encoding) = compressed(message)
    guard let prefix = Envelope.prefix(flags: encoding == nil ? 0 : Envelope.compressed, length: bytes.count) else {
      throw ConnectError(code: .resourceExhausted, message: "a message of \(bytes.count) bytes is too large for an envelope")
    }
    var frame = Data(capacity: prefix.count + bytes.count)
    frame.append(contentsOf: prefix)
    frame.append(bytes)
    return frame
  }
}
