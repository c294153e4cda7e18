public import FoundationEssentials

/// Compresses requests and decompresses responses.
public protocol CompressionPool: Sendable {
  /// The name of the compression in header fields, for example "gzip".
  func name() -> String

  /// Compresses a message. If it throws or returns nothing, the message is sent as it is.
  func compress(data: Data) throws -> Data

  /// Decompresses a message.
  func decompress(data: Data) throws -> Data

  /// Decompresses a message of limited size.
  ///
  /// The default implementation decompresses the whole message and then compares its size.
  ///
  /// - Throws: ``ConnectError`` with the code `resourceExhausted` if the result has more than `maximumBytes`.
  func decompress(data: Data, maximumBytes: Int) throws -> Data
}

extension CompressionPool {
  public func decompress(data: Data, maximumBytes: Int) throws -> Data {
    let result = try decompress(data: data)
    guard result.count <= maximumBytes else { throw ConnectError.tooLargeDecompressed(maximumBytes) }
    return result
  }
}

extension ConnectError {
  static func tooLargeDecompressed(_ limit: Int) -> ConnectError {
    ConnectError(code: .resourceExhausted, message: "a message has more than \(limit) bytes after decompression")
  }
}
