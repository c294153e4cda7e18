package import Carabiner
package import FoundationEssentials

/// Whether a call has one request and one response, or is a stream in at least one direction.
package enum CallKind: Sendable, Hashable, CaseIterable {
  case unary
  case stream
}

/// A protocol between client and server: it makes requests, and readers of responses.
package protocol CallProtocol: Sendable {
  /// The settings for messages.
  var options: ProtocolOptions { get }

  /// The content type of requests.
  ///
  /// It is set before the hooks, which see it, and again when the request is made.
  func contentType(of kind: CallKind) -> String

  /// The request of a unary call, after all hooks.
  ///
  /// - Parameters:
  ///   - timeout: The timeout of the call in seconds; no field if it is nil or not finite.
  ///   - getLimit: The largest message, as it is sent, for which the method is GET; nil for POST. gRPC-Web has no GET.
  /// - Throws: ``ConnectError`` if a header or the URL cannot be sent.
  func unaryRequest(
    to url: URL, headers: Headers, message: Data, timeout: TimeInterval?, getLimit: Int?
  ) throws(ConnectError) -> URLRequest

  /// The request of a stream without its body, after all hooks.
  ///
  /// - Throws: ``ConnectError`` if a header cannot be sent.
  func streamRequest(to url: URL, headers: Headers, timeout: TimeInterval?) throws(ConnectError) -> URLRequest

  /// One message of a stream as an envelope, compressed if the options say so.
  ///
  /// - Throws: ``ConnectError`` if the message is too large for an envelope.
  func frame(_ message: Data) throws(ConnectError) -> Data

  /// A reader of one response.
  func reader(of kind: CallKind) -> any ResponseReader
}

extension CallProtocol {
  package func frame(_ message: Data) throws(ConnectError) -> Data { try options.framed(message) }

  /// A request with these fields. The protocols decompress bodies themselves, so the transport does not.
  func request(to url: URL, method: String = "POST", _ fields: OutgoingFields, body: Data? = nil) throws(ConnectError)
    -> URLRequest
  {
    var request = URLRequest(url: url, httpMethod: method, headers: try fields.headers(), httpBody: body)
    request.decodesContent = false
    return request
  }
}
