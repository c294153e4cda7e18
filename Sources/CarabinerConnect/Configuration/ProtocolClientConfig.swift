public import CarabinerCalls
public import FoundationEssentials

/// The settings of a client.
public struct ProtocolClientConfig: Sendable {
  /// When unary calls without side effects use GET. gRPC-Web always uses POST.
  public enum UnaryGET: Sendable, Hashable {
    /// Never.
    case disabled
    /// Always.
    case alwaysEnabled
    /// If the message has at most so many bytes after compression.
    case enabledForLimitedPayloadSizes(maxBytes: Int)
  }

  /// How requests are compressed.
  public struct RequestCompression: Sendable {
    /// The smallest size in bytes of a message that is compressed.
    public let minBytes: Int
    /// The compression.
    public let pool: any CompressionPool

    /// Creates settings.
    public init(minBytes: Int, pool: any CompressionPool) {
      self.minBytes = minBytes
      self.pool = pool
    }

    /// Whether a message is compressed.
    public func shouldCompress(_ data: Data) -> Bool { !data.isEmpty && data.count >= minBytes }
  }

  /// The URL of the server, for example `https://api.example.com`. It may have a path.
  public let host: String
  /// The protocol.
  public let networkProtocol: NetworkProtocol
  /// Encodes and decodes messages.
  public let codec: any Codec
  /// When unary calls use GET.
  public let unaryGET: UnaryGET
  /// The time limit of a call in seconds, interceptors included; nil for none.
  public let timeout: TimeInterval?
  /// How requests are compressed; nil for not at all.
  public let requestCompression: RequestCompression?
  /// The compressions that responses may have.
  public let responseCompressionPools: [any CompressionPool]
  /// Make the interceptors of each call.
  public let interceptors: [InterceptorFactory]
  /// The limits of hooks.
  public var hookLimits = HookLimits()
  /// The largest size in bytes of a message that is received, after decompression; the default is 64 MiB.
  ///
  /// It also limits the messages of a stream that wait to be sent.
  public var maximumMessageBytes = ProtocolOptions.defaultMaximumMessageBytes

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - host: The URL of the server.
  ///   - timeout: The time limit of a call in seconds; nil for none. With 0 or less, calls fail without being sent.
  public init(
    host: String, networkProtocol: NetworkProtocol = .connect, codec: any Codec = JSONCodec(), unaryGET: UnaryGET = .disabled,
    timeout: TimeInterval? = nil, requestCompression: RequestCompression? = nil,
    responseCompressionPools: [any CompressionPool] = [GzipCompressionPool()], interceptors: [InterceptorFactory] = []
  ) {
    self.host = host
    self.networkProtocol = networkProtocol
    self.codec = codec
    self.unaryGET = unaryGET
    self.timeout = timeout
    self.requestCompression = requestCompression
    self.responseCompressionPools = responseCompressionPools
    self.interceptors = interceptors
  }

  /// The names of the compressions that responses may have.
  public func acceptCompressionPoolNames() -> [String] { responseCompressionPools.map { $0.name() } }

  /// The compression with a name; nil if there is none.
  public func responseCompressionPool(forName name: String) -> (any CompressionPool)? {
    responseCompressionPools.first { $0.name() == name }
  }
}
