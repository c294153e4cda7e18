package import Carabiner
package import FoundationEssentials

/// The gRPC-Web protocol.
package struct GRPCWebProtocol: CallProtocol {
  private static let userAgent = "carabiner-grpc-web"
  /// The number of digits of `grpc-timeout`.
  private static let timeoutDigits = 8

  package let options: ProtocolOptions

  /// The protocol for messages of a client.
  package init(_ options: ProtocolOptions) { self.options = options }

  package func contentType(of kind: CallKind) -> String { "application/grpc-web+\(options.codecName)" }

  package func unaryRequest(
    to url: URL, headers: Headers, message: Data, timeout: TimeInterval?, getLimit: Int?
  ) throws(ConnectError) -> URLRequest {
    var request = try streamRequest(to: url, headers: headers, timeout: timeout)
    request.httpBody = try frame(message)
    return request
  }

  package func streamRequest(to url: URL, headers: Headers, timeout: TimeInterval?) throws(ConnectError) -> URLRequest {
    var fields = OutgoingFields(headers)
    fields[HeaderConstants.contentType] = contentType(of: .stream)
    fields[HeaderConstants.xUserAgent] = fields[HeaderConstants.xUserAgent] ?? Self.userAgent
    fields[HeaderConstants.grpcContentEncoding] = options.requestPool?.name()
    fields[HeaderConstants.grpcAcceptEncoding] = options.acceptedEncodings
    fields[HeaderConstants.contentEncoding] = nil
    fields.setTimeout(timeout, named: HeaderConstants.grpcTimeout, digits: Self.timeoutDigits, unit: "m")
    return try request(to: url, fields)
  }

  package func reader(of kind: CallKind) -> any ResponseReader { GRPCWebReader(options, kind) }
}
