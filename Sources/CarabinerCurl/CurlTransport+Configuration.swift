extension CurlTransport {
  /// Limits, timeouts and what the connections are like.
  public struct Configuration: Sendable, Hashable {
    /// Where requests go first.
    public enum Proxy: Sendable, Hashable {
      /// Where `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say; a transport that begins without any keeps none.
      case environment
      /// Straight to the server.
      case none
      /// To this proxy.
      case url(String)
    }

    /// Seconds a connection may take.
    public var connectTimeout = 10.0
    /// Seconds a whole exchange may take if the request says nothing; infinite for no limit.
    public var totalTimeout = 30.0
    /// Bytes the head of a response may have, 256 KiB.
    public var maximumHeadBytes = 256 * 1024
    /// Bytes the body of a response may have once decompressed, 64 MiB.
    public var maximumBodyBytes = 64 * 1024 * 1024
    /// Bytes of a body that may wait for a slow consumer before the server is made to wait, 256 KiB.
    public var bufferedBodyBytes = 256 * 1024
    /// How many redirects are followed.
    public var maximumRedirects = 5
    /// The headers of a request that follow a redirect to another origin, beside those that describe the body.
    ///
    /// Each is a name, or the beginning of names and a star. An origin that the caller did not choose gets no other header.
    public var redirectHeaders: [String] = []
    /// How many connections one host may have; 0 for no limit.
    public var maximumConnectionsPerHost = 0
    /// How many of libcurl's handles are kept for the next requests.
    public var maximumIdleHandles = 256
    /// Whether HTTP/2 is spoken where a TLS server offers it.
    public var allowsHTTP2 = true
    /// Whether servers may compress their answers.
    public var acceptsCompression = true
    /// A file of certificates to trust in place of the system's.
    public var certificateAuthorityFile: String?
    /// A file with the client's certificate, in PEM.
    public var clientCertificateFile: String?
    /// A file with the key of the client's certificate, in PEM.
    public var clientKeyFile: String?
    /// Where requests go first.
    public var proxy = Proxy.environment
    /// A socket in the file system through which all requests go, whatever host their URLs name.
    public var unixSocket: String?
    /// What the client calls itself.
    public var userAgent = "carabiner/1.0"

    /// The defaults.
    public init() {}
  }
}
