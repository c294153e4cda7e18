package import Carabiner
internal import CarabinerWire
package import FoundationEssentials

/// The Connect protocol.
package struct ConnectProtocol: CallProtocol {
  private static let version = "1"
  /// The number of digits of `connect-timeout-ms`.
  private static let timeoutDigits = 10

  package let options: ProtocolOptions

  /// The protocol for messages of a client.
  package init(_ options: ProtocolOptions) { self.options = options }

  package func contentType(of kind: CallKind) -> String {
    switch kind {
    case .unary: "application/\(options.codecName)"
    case .stream: "application/connect+\(options.codecName)"
    }
  }

  package func unaryRequest(
    to url: URL, headers: Headers, message: Data, timeout: TimeInterval?, getLimit: Int?
  ) throws(ConnectError) -> URLRequest {
    var fields = OutgoingFields(headers)
    fields[HeaderConstants.acceptEncoding] = options.acceptedEncodings
    fields.setTimeout(timeout, named: HeaderConstants.connectTimeoutMs, digits: Self.timeoutDigits)
    let (body, encoding) = options.compressed(message)
    if let getLimit, body.count <= getLimit {
      for name in [HeaderConstants.contentType, HeaderConstants.contentEncoding, HeaderConstants.connectProtocolVersion] {
        fields[name] = nil
      }
      return try request(to: try query(of: url, message: body, encoding: encoding), method: "GET", fields)
    }
    fields[HeaderConstants.contentType] = contentType(of: .unary)
    fields[HeaderConstants.contentEncoding] = encoding
    fields[HeaderConstants.connectProtocolVersion] = Self.version
    return try request(to: url, fields, body: body)
  }

  package func streamRequest(to url: URL, headers: Headers, timeout: TimeInterval?) throws(ConnectError) -> URLRequest {
    var fields = OutgoingFields(headers)
    fields[HeaderConstants.contentType] = contentType(of: .stream)
    fields[HeaderConstants.connectProtocolVersion] = Self.version
    fields[HeaderConstants.connectStreamingContentEncoding] = options.requestPool?.name()
    fields[HeaderConstants.connectStreamingAcceptEncoding] = options.acceptedEncodings
    // The envelopes say what is compressed; the body as a whole never is.
    fields[HeaderConstants.contentEncoding] = nil
    fields.setTimeout(timeout, named: HeaderConstants.connectTimeoutMs, digits: Self.timeoutDigits)
    return try request(to: url, fields)
  }

  package func reader(of kind: CallKind) -> any ResponseReader {
    switch kind {
    case .unary: ConnectUnaryReader(options)
    case .stream: ConnectStreamReader(options)
    }
  }

  private func query(of url: URL, message: Data, encoding: String?) throws(ConnectError) -> URL {
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { throw Self.malformed(url) }
    components.fragment = nil
    components.percentEncodedQuery = ConnectQuery.text(
      behind: components.percentEncodedQuery, codec: options.codecName, compression: encoding, message: message)
    guard let result = components.url else { throw Self.malformed(url) }
    return result
  }

  private static func malformed(_ url: URL) -> ConnectError {
    ConnectError(code: .invalidArgument, message: "the URL \(PrintableURL(url)) cannot have a query")
  }
}
