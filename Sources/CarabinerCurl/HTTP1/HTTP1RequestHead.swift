internal import Carabiner
internal import CarabinerHTTP1
internal import FoundationEssentials

/// Writes the head of a request as libcurl would.
struct HTTP1RequestHead {
  let userAgent: String
  /// Whether compressed responses are requested if the request leaves it to the transport.
  let acceptsCompression: Bool

  /// The codings that ``ContentDecoder`` reads.
  private static let acceptEncoding = "deflate, gzip"

  /// The headers of a request for which this module has defaults, or which need libcurl.
  private struct Present {
    var host = false
    var userAgent = false
    var accept = false
    var needsCurl = false
  }

  /// Whether the body of the response is decompressed.
  func decodes(_ request: URLRequest) -> Bool { acceptsCompression && request.decodesContent }

  /// Writes the head.
  ///
  /// - Parameter bodyLength: The length of the body in bytes; nil for a request without a body.
  /// - Returns: False if the request needs libcurl. The writer may have bytes then.
  /// - Throws: ``Carabiner/TransportError`` for a header that is not valid.
  func write(
    _ request: URLRequest, to address: HTTP1Address, bodyLength: Int?, into writer: inout MessageWriter
  ) throws(TransportError) -> Bool {
    let decodes = decodes(request)
    let present = Self.present(request.headers, decodes: decodes)
    guard !present.needsCurl else { return false }
    do throws(MessageWriter.Fault) {
      try writer.beginRequest(method: request.httpMethod, target: address.target)
      if !present.host { try writer.addField("Host", address.authority) }
      if !present.userAgent { try writer.addField("User-Agent", userAgent) }
      if !present.accept { try writer.addField("Accept", "*/*") }
      if decodes { try writer.addField("Accept-Encoding", Self.acceptEncoding) }
    } catch {
      return false
    }
    try Self.add(request.headers, to: &writer, of: request)
    writer.endHead(bodyLength.map { .length($0) } ?? .none)
    return true
  }

  private static func add(_ headers: HTTPHeaders, to writer: inout MessageWriter, of request: URLRequest)
    throws(TransportError)
  {
    let bytes = headers.bytes.span
    for index in headers.indices {
      do throws(MessageWriter.Fault) {
        try writer.addPlainField(bytes.extracting(headers.nameRange(at: index)), bytes.extracting(headers.valueRange(at: index)))
      } catch {
        throw TransportError.invalidHeader(headers[index], of: request)
      }
    }
  }

  private static func present(_ headers: HTTPHeaders, decodes: Bool) -> Present {
    var present = Present()
    let bytes = headers.bytes.span
    for index in headers.indices {
      switch FieldName(bytes.extracting(headers.nameRange(at: index))) {
      case .host: present.host = true
      case .userAgent: present.userAgent = true
      case .accept: present.accept = true
      case .expect, .upgrade: present.needsCurl = true
      case .acceptEncoding: if decodes { present.needsCurl = true }
      default: break
      }
    }
    return present
  }
}

extension TransportError {
  /// The error for a header that cannot be sent.
  static func invalidHeader(_ field: HTTPHeaders.Field, of request: URLRequest) -> TransportError {
    TransportError(
      .invalidHeader,
      "the header \(field.name.debugDescription) has a name that is not a token or a value with control characters; look at the "
        + "interceptor that sets it",
      url: request.url.absoluteString)
  }
}
