package import Carabiner
internal import CarabinerHTTP1
package import NIOHTTP1

/// The first line and the headers of a request.
package struct RequestHead: Sendable {
  package let method: HTTPMethod
  /// The path and the query.
  package let target: String
  package let version: HTTPVersion
  package let headers: Carabiner.HTTPHeaders
  /// Whether the client keeps the connection open after the response.
  let keepsAlive: Bool
  /// The fields that concern the body.
  let check: RequestHeadCheck

  init(
    method: HTTPMethod, target: String, version: HTTPVersion, headers: Carabiner.HTTPHeaders, keepsAlive: Bool,
    check: RequestHeadCheck
  ) {
    self.method = method
    self.target = target
    self.version = version
    self.headers = headers
    self.keepsAlive = keepsAlive
    self.check = check
  }

  /// Takes the head from a reader that has read all of it.
  init(_ reader: borrowing RequestReader) {
    let block = reader.headers
    let bytes = block.bytes.span
    var headers = Carabiner.HTTPHeaders()
    let authority = reader.authorityRange
    headers.append(received: bytes, count: block.count) { index in
      // The host of an absolute target replaces that of the field (RFC 9112, 3.2.2).
      let isHost = block.known(at: index) == .host
      return (block.nameRange(at: index), isHost ? authority ?? block.valueRange(at: index) : block.valueRange(at: index))
    }
    if let authority, block.firstIndex(of: .host) == nil {
      headers.add(name: "Host", value: String(decoding: block.bytes[authority], as: UTF8.self))
    }
    var target = String(decoding: block.bytes[reader.targetRange], as: UTF8.self)
    if target.utf8.first != UInt8(ascii: "/"), target != "*" { target = "/\(target)" }
    self.init(
      method: HTTPMethod(bytes.extracting(reader.methodRange)), target: target, version: reader.isVersion10 ? .http1_0 : .http1_1,
      headers: headers, keepsAlive: reader.keepsConnection, check: RequestHeadCheck(reader))
  }

  /// The target up to the question mark.
  var path: Substring { target[..<endOfPath] }

  var endOfPath: String.Index { target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex }

  /// Whether the client asks for a WebSocket.
  var asksForWebSocket: Bool {
    method == .GET && version == .http1_1 && headers.elements(of: "upgrade").contains { $0.lowercased() == "websocket" }
  }
}

extension HTTPMethod {
  init(_ name: Span<UInt8>) {
    // The usual methods are compared as bytes, without making a text.
    if name.isEqual(to: "POST") {
      self = .POST
    } else if name.isEqual(to: "GET") {
      self = .GET
    } else {
      self = unsafe name.withUnsafeBufferPointer { unsafe Self(rawValue: String(decoding: $0, as: UTF8.self)) }
    }
  }
}

extension Span<UInt8> {
  fileprivate func isEqual(to text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    return unsafe withUnsafeBufferPointer { bytes in
      unsafe bytes.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
  }
}
