internal import FoundationEssentials

/// Decompresses messages that the response declares as compressed.
struct ContentDecoder {
  private let pool: (any CompressionPool)?

  /// A decoder for messages that are not compressed.
  init() { pool = nil }

  /// The decoder for an encoding.
  ///
  /// - Throws: ``ConnectError`` if none of the pools has its name.
  init(encoding values: [String]?, pools: [any CompressionPool]) throws(ConnectError) {
    let name = (values ?? []).joined(separator: ",").lowercased()
    guard !name.isEmpty, name != "identity" else {
      pool = nil
      return
    }
    guard let pool = pools.first(where: { $0.name().lowercased() == name }) else {
      throw ConnectError(
        code: .internalError,
        message: "the response is compressed with \(name.prefix(100).debugDescription), which was not asked for")
    }
    self.pool = pool
  }

  /// Whether messages may be compressed.
  var decompresses: Bool { pool != nil }

  /// The decompressed bytes.
  ///
  /// - Throws: ``ConnectError``: `resourceExhausted` if they are more than `maximumBytes`, otherwise `internalError`.
  func decoded(_ bytes: Data, maximumBytes: Int) throws(ConnectError) -> Data {
    guard let pool, !bytes.isEmpty else { return bytes }
    do {
      return try pool.decompress(data: bytes, maximumBytes: maximumBytes)
    } catch let error as ConnectError where error.code == .resourceExhausted {
      throw error
    } catch {
      throw ConnectError(
        code: .internalError, message: "the response is not valid \(pool.name()): \(error)", exception: error)
    }
  }
}
