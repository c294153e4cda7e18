extension CurlTransport {
  /// Limits, timeouts and settings of connections.
  public struct Configuration: Sendable, Hashable {
    /// The proxy for requests.
    public enum Proxy: Sendable, Hashable {
      /// The proxy in `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, which are read when the transport is created.
      case environment
      /// No proxy.
      case none
      /// This proxy.
      case url(String)
    }

    /// The code that sends a request.
    public enum Engine: String, Sendable, Hashable, CaseIterable {
      /// Carabiner's own code for HTTP/1.1, over connections that libcurl opens. libcurl sends what that code does not: HTTP/2, requests
      /// over a proxy, and bodies that are files or streams.
      case auto
      /// Always libcurl.
      case libcurl
    }

    /// The code that sends a request; the default is ``Engine/auto``.
    public var engine = Engine.auto
    /// The timeout for opening a connection, in seconds.
    public var connectTimeout = 10.0
    /// The timeout for a whole exchange in seconds, if the request sets none; infinite for no timeout.
    public var totalTimeout = 30.0
    /// The maximal size of the head of a response in bytes; the default is 256 KiB.
    public var maximumHeadBytes = 256 * 1024
    /// The maximal size of the decompressed body of a response in bytes; the default is 64 MiB. It does not apply to multipart bodies
    /// that the parser reads part by part.
    public var maximumBodyBytes = 64 * 1024 * 1024
    /// The number of bytes of a body that are buffered for a slow consumer before reading is paused; the default is 256 KiB.
    public var bufferedBodyBytes = 256 * 1024
    /// The maximal number of redirects that are followed.
    public var maximumRedirects = 5
    /// Whether a redirect is returned as the response, for callers with rules of their own.
    package var returnsRedirects = false
    /// The headers of a request that are sent again after a redirect to another origin, in addition to those that describe the body.
    ///
    /// Each entry is a name, or a prefix and a star. All other headers are dropped, because the caller did not choose that origin.
    public var redirectHeaders: [String] = []
    /// The maximal number of connections to one host; 0 for no limit. Each engine counts its own.
    public var maximumConnectionsPerHost = 0
    /// The maximum number of libcurl handles that are kept for later requests.
    public var maximumIdleHandles = 256
    /// Whether HTTP/2 is used if a TLS server offers it.
    public var allowsHTTP2 = true
    /// Whether compressed responses are requested, unless ``Carabiner/URLRequest/decodesContent`` of a request is false.
    public var acceptsCompression = true
    /// The path of a PEM file with the certificate authorities to trust; nil for those of the system.
    public var certificateAuthorityFile: String?
    /// The path of a PEM file with the certificate of the client; nil for none.
    public var clientCertificateFile: String?
    /// The path of a PEM file with the private key of the client; nil for none.
    public var clientKeyFile: String?
    /// The proxy for requests.
    public var proxy = Proxy.environment
    /// The path of a Unix socket for all requests, independent of the host in their URLs; nil for TCP.
    public var unixSocket: String?
    /// The header `User-Agent`.
    public var userAgent = "carabiner/1.0"

    /// Creates the default configuration.
    public init() {}
  }
}
