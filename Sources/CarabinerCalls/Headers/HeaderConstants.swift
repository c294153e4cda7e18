/// The names of the header fields of the protocols.
public enum HeaderConstants {
  public static let acceptEncoding = "accept-encoding"
  public static let contentEncoding = "content-encoding"
  public static let contentLength = "content-length"
  public static let contentType = "content-type"
  public static let userAgent = "user-agent"
  public static let xUserAgent = "x-user-agent"

  public static let connectProtocolVersion = "connect-protocol-version"
  public static let connectStreamingAcceptEncoding = "connect-accept-encoding"
  public static let connectStreamingContentEncoding = "connect-content-encoding"
  public static let connectTimeoutMs = "connect-timeout-ms"

  public static let grpcAcceptEncoding = "grpc-accept-encoding"
  public static let grpcContentEncoding = "grpc-encoding"
  public static let grpcMessage = "grpc-message"
  public static let grpcStatus = "grpc-status"
  public static let grpcStatusDetails = "grpc-status-details-bin"
  public static let grpcTimeout = "grpc-timeout"
}
