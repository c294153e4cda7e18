internal import CCurl
internal import Carabiner
internal import FoundationEssentials

/// What libcurl's code for a failure means for a person.
struct CurlFailure {
  private let code: CURLcode
  private let detail: String
  private let request: URLRequest

  init(_ code: CURLcode, detail: String, request: URLRequest) {
    self.code = code
    self.detail = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
    self.request = request
  }

  func error(sent: Bool, began: Bool) -> TransportError {
    let (kind, message) = explanation
    return TransportError(
      kind, message, url: request.url.absoluteString, mayHaveBeenSent: sent, responseBegan: began)
  }

  private var place: String { "\(request.url.host() ?? "?"):\(request.url.port ?? (request.url.scheme == "https" ? 443 : 80))" }

  private var explanation: (TransportError.Code, String) {
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
      (.unsupportedURL, "this is not an http or https URL: \(detail)")
    case CURLE_COULDNT_RESOLVE_HOST:
      (
        .nameNotResolved,
        "the host \(request.url.host() ?? "") has no address: \(detail); check the endpoint and the name service"
      )
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
      (.proxyFailed, "the proxy cannot be used: \(detail); check http_proxy, https_proxy and no_proxy")
    case CURLE_COULDNT_CONNECT:
      (.cannotConnect, "nothing accepts connections at \(place): \(detail); is the server running?")
    case CURLE_OPERATION_TIMEDOUT:
      (.timedOut, "no complete answer from \(place) in time: \(detail); raise the timeout, or look at the server")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
      (.tls, "the certificate of \(place) is not trusted: \(detail); name its authority with ca-file")
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND:
      (.tls, "no TLS connection to \(place): \(detail)")
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
      (.connectionLost, "the connection to \(place) ended in the middle: \(detail); look at the server's log")
    case CURLE_PARTIAL_FILE:
      (.connectionLost, "the body of the response ended before its length: \(detail); look at the server's log")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_FILESIZE_EXCEEDED:
      (.invalidResponse, "\(place) does not answer as an HTTP server should: \(detail)")
    case CURLE_OUT_OF_MEMORY:
      // libcurl's own limit for one header line shows itself as this.
      (.headTooLarge, "libcurl refuses the response: \(detail); most often a header of more than 100 KiB")
    default:
      (.other, "the request to \(place) failed: \(detail) (libcurl \(code.rawValue))")
    }
  }
}
