internal import CCurl
internal import Carabiner
internal import FoundationEssentials

/// What libcurl's code for a failure means for a person.
struct CurlFailure {
  /// OpenSSL's results of a verification that have nothing to do with trust.
  private enum Verification {
    static let passed = 0
    /// libcurl looks at the host's name first and leaves its own mark for "not verified yet".
    static let notBegun = 1
    static let notYetValid = 9
    static let expired = 10
  }

  private let code: CURLcode
  private let detail: String
  private let request: URLRequest
  private let isHeadComplete: Bool
  private let verification: Int

  /// - Parameters:
  ///   - isHeadComplete: Whether the head of the response had arrived.
  ///   - easy: The handle that failed, nothing of it reset yet.
  init(_ code: CURLcode, of easy: EasyHandle, request: URLRequest, isHeadComplete: Bool) {
    let detail = easy.errorDetail
    self.code = code
    // libcurl quotes a proxy that it cannot use, with its password.
    self.detail = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : PrintableURL(detail).description
    self.request = request
    self.isHeadComplete = isHeadComplete
    verification = easy.verificationResult
  }

  func error(sent: Bool, began: Bool) -> TransportError {
    let (kind, message) = explanation
    return TransportError(
      kind, message, url: request.url.absoluteString, mayHaveBeenSent: sent,
      // A status line libcurl cannot read is not handed over, but was there.
      responseBegan: began || kind == .invalidResponse)
  }

  private var port: Int { request.url.effectivePort }
  private var place: String { "\(request.url.host() ?? "?"):\(port)" }

  private var explanation: (TransportError.Code, String) {
    switch code {
    case CURLE_URL_MALFORMAT:
      (.unsupportedURL, "this is not an http or https URL: \(detail)")
    case CURLE_COULDNT_RESOLVE_HOST:
      (
        .nameNotResolved,
        "the host \(request.url.host() ?? "") has no address: \(detail); check the endpoint and the name service"
      )
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
      proxyFailed
    case CURLE_RECV_ERROR where detail.contains("CONNECT"):
      proxyFailed
    case CURLE_COULDNT_CONNECT where !detail.contains("port \(port) "):
      // Whoever does not answer listens elsewhere than the server does.
      proxyFailed
    case CURLE_COULDNT_CONNECT:
      (.cannotConnect, "nothing accepts connections at \(place): \(detail); is the server running?")
    case CURLE_OPERATION_TIMEDOUT:
      (.timedOut, "no complete answer from \(place) in time: \(detail); raise the timeout, or look at the server")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
      (.tls, badCertificate)
    case CURLE_SSL_CACERT_BADFILE:
      (.tls, "the certificates to trust cannot be read: \(detail); check that ca-file names a readable file in PEM")
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND:
      (.tls, "no TLS connection to \(place): \(detail)")
    case CURLE_RECV_ERROR where detail.hasPrefix("Too large response headers"), CURLE_OUT_OF_MEMORY where !isHeadComplete:
      // libcurl's own limits, 300 KiB for a head and 100 KiB for one line of it.
      (.headTooLarge, "libcurl refuses the head of the response as too long: \(detail); look at the server's headers")
    case CURLE_RECV_ERROR where detail.hasSuffix("chunked-encoding"):
      invalidResponse
    case CURLE_SEND_FAIL_REWIND:
      (
        .connectionLost,
        "the connection to \(place) ended before an answer; the request is not sent again, for the server may have done what "
          + "it asks: find out before you repeat it"
      )
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
      (.connectionLost, "the connection to \(place) ended in the middle: \(detail); look at the server's log")
    case CURLE_PARTIAL_FILE:
      (.connectionLost, "the body of the response ended before its length: \(detail); look at the server's log")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      // The scheme was checked before: here the unsupported protocol is what the server answered in.
      invalidResponse
    case CURLE_OUT_OF_MEMORY, CURLE_FILESIZE_EXCEEDED:
      (.bodyTooLarge, "the body of the response is longer than libcurl can hold: \(detail); ask for less")
    default:
      (.other, "the request to \(place) failed: \(detail) (libcurl \(code.rawValue))")
    }
  }

  private var proxyFailed: (TransportError.Code, String) {
    (.proxyFailed, "the proxy cannot be used: \(detail); check http_proxy, https_proxy and no_proxy")
  }

  private var invalidResponse: (TransportError.Code, String) { (.invalidResponse, request.url.protocolViolation(detail)) }

  private var badCertificate: String {
    switch verification {
    case Verification.passed, Verification.notBegun:
      "the certificate of \(place) is for another host: \(detail); use a name it is for as the endpoint"
    case Verification.expired, Verification.notYetValid:
      "the certificate of \(place) is not valid at this time: \(detail); renew it, or set this machine's clock"
    default:
      "the certificate of \(place) is not trusted: \(detail); name its authority with ca-file"
    }
  }
}

extension URL {
  /// The port, or the one that belongs to the scheme.
  var effectivePort: Int { port ?? (scheme?.lowercased() == "https" ? 443 : 80) }

  /// Says of the server there that it breaks the rules of HTTP.
  func protocolViolation(_ detail: String) -> String {
    "\(host() ?? "?"):\(effectivePort) does not answer as an HTTP server should: \(detail)"
  }
}
