internal import CCurl
internal import Carabiner
internal import FoundationEssentials

/// The error for a failure code of libcurl.
struct CurlFailure {
  /// The results of OpenSSL's verification that do not concern trust.
  private enum Verification {
    static let passed = 0
    /// libcurl checks the host name first, and leaves its own code for "not verified yet".
    static let notBegun = 1
    static let notYetValid = 9
    static let expired = 10
  }

  private let code: CURLcode
  private let detail: String
  private let request: URLRequest
  private let isHeadComplete: Bool
  private let isUnprocessed: Bool
  private let hasNoDetail: Bool
  private let usedKeptConnection: Bool
  private let verification: Int

  /// - Parameters:
  ///   - isHeadComplete: Whether the head of the response had arrived.
  ///   - isUnprocessed: Whether the server said that it did not process the request.
  ///   - easy: The handle that failed, before its reset.
  init(_ code: CURLcode, of easy: EasyHandle, request: URLRequest, isHeadComplete: Bool, isUnprocessed: Bool = false) {
    let detail = easy.errorDetail
    self.code = code
    hasNoDetail = detail.isEmpty
    usedKeptConnection = easy.usedKeptConnection
    // libcurl quotes a proxy that it cannot use, with its password.
    self.detail = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : PrintableURL(detail).description
    self.request = request
    self.isHeadComplete = isHeadComplete
    self.isUnprocessed = isUnprocessed
    verification = easy.verificationResult
  }

  func error(sent: Bool, began: Bool) -> TransportError {
    let (kind, message) = explanation
    return TransportError(
      kind, message, url: request.url.absoluteString, mayHaveBeenSent: sent,
      // libcurl does not pass on a status line that it cannot parse, but the line was received. A stream may be reset before its head.
      responseBegan: began || (kind == .invalidResponse && code != CURLE_HTTP2_STREAM))
  }

  private var port: Int { request.url.effectivePort }
  private var place: String { "\(request.url.host() ?? "?"):\(port)" }

  private var explanation: (TransportError.Code, String) {
    switch code {
    case _ where isUnprocessed:
      (.connectionLost, "\(place) refused the request before it ran it, over HTTP/2; check the load of the server, and its log")
    case CURLE_URL_MALFORMAT:
      (.unsupportedURL, "the URL is not a valid http or https URL: \(detail); check the endpoint")
    case CURLE_COULDNT_RESOLVE_HOST:
      (
        .nameNotResolved,
        "the host \(request.url.host() ?? "") has no address: \(detail); check the endpoint and DNS"
      )
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
      proxyFailed
    case CURLE_RECV_ERROR where detail.contains("CONNECT"):
      proxyFailed
    case CURLE_COULDNT_CONNECT where !detail.contains("port \(port) "):
      // The unreachable address is not the server's, so it is the proxy's.
      proxyFailed
    case CURLE_COULDNT_CONNECT:
      (.cannotConnect, "nothing accepts connections at \(place): \(detail); is the server running?")
    case CURLE_OPERATION_TIMEDOUT:
      (.timedOut, "no complete response from \(place) in time: \(detail); raise the timeout, or check the server")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
      (.tls, badCertificate)
    case CURLE_SSL_CACERT_BADFILE:
      (.tls, "the certificates to trust cannot be read: \(detail); check that ca-file names a readable file in PEM")
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND:
      (.tls, "no TLS connection to \(place): \(detail); check that the server uses TLS on this port")
    case CURLE_RECV_ERROR where detail.hasPrefix("Too large response headers"), CURLE_OUT_OF_MEMORY where !isHeadComplete:
      // libcurl's own limits: 300 KiB for a head and 100 KiB for one line.
      (.headTooLarge, "the head of the response exceeds a limit of libcurl: \(detail); check the headers of the server")
    case CURLE_RECV_ERROR where detail.hasSuffix("chunked-encoding"):
      invalidResponse
    case CURLE_SEND_FAIL_REWIND:
      (.connectionLost, Self.notSentAgain(to: place))
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
      connectionLost
    case CURLE_PARTIAL_FILE where !isHeadComplete:
      // A stream of HTTP/2 whose connection ended.
      connectionLost
    case CURLE_HTTP2 where hasNoDetail:
      // The server ended an HTTP/2 connection with GOAWAY.
      connectionLost
    case CURLE_PARTIAL_FILE:
      (.connectionLost, "the body of the response ended before its length: \(detail); check the log of the server")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      // The scheme was checked before, so the unsupported protocol is that of the response.
      invalidResponse
    case CURLE_OUT_OF_MEMORY, CURLE_FILESIZE_EXCEEDED:
      (.bodyTooLarge, "the body of the response exceeds a limit of libcurl: \(detail); select fewer fields")
    default:
      (.other, "the request to \(place) failed: \(detail) (libcurl \(code.rawValue))")
    }
  }

  /// The message for a connection that ended before a response, if the request must not be sent again.
  static func notSentAgain(to place: String) -> String {
    "the connection to \(place) ended before a response; the request is not sent again, because the server may have run it; "
      + "check that before you repeat it"
  }

  private var connectionLost: (TransportError.Code, String) {
    guard isHeadComplete || request.isIdempotent || !usedKeptConnection else {
      return (.connectionLost, Self.notSentAgain(to: place))
    }
    return (.connectionLost, "the connection to \(place) ended in the middle: \(detail); check the log of the server")
  }

  private var proxyFailed: (TransportError.Code, String) {
    (.proxyFailed, "the proxy failed: \(detail); check http_proxy, https_proxy and no_proxy")
  }

  private var invalidResponse: (TransportError.Code, String) { (.invalidResponse, request.url.protocolViolation(detail)) }

  private var badCertificate: String {
    switch verification {
    case Verification.passed, Verification.notBegun:
      "the certificate of \(place) is for another host: \(detail); use a host name of the certificate as the endpoint"
    case Verification.expired, Verification.notYetValid:
      "the certificate of \(place) is not valid at this time: \(detail); renew it, or set this machine's clock"
    default:
      "the certificate of \(place) is not trusted: \(detail); set ca-file to its certificate authority"
    }
  }
}

extension URL {
  /// The port, or the default port of the scheme.
  var effectivePort: Int { port ?? (scheme?.lowercased() == "https" ? 443 : 80) }

  /// The message for a response that violates HTTP.
  func protocolViolation(_ detail: String) -> String {
    "\(host() ?? "?"):\(effectivePort) does not answer as an HTTP server should: \(detail)"
  }
}
