internal import Carabiner
package import NIOCore

/// A request that has been received completely, or an upload whose head has been received.
///
/// A class, because many functions and closures keep it.
package final class GatewayRequest: Sendable {
  package let head: RequestHead
  package let body: ByteBuffer
  /// The body of an upload, which is still arriving; nil for other requests.
  package let upload: InboundBody?
  package let origin: RequestOrigin

  init(head: RequestHead, body: ByteBuffer, origin: RequestOrigin, upload: InboundBody? = nil) {
    self.head = head
    self.body = body
    self.origin = origin
    self.upload = upload
  }

  /// The IP address of the client, without the port.
  package var client: String { origin.client }

  /// The target up to the question mark.
  package var path: Substring { head.path }
  /// The target after the question mark; empty if it has none.
  package var query: Substring { head.target[head.endOfPath...].dropFirst() }

  /// All values of a field, joined with commas; nil if the field is absent.
  package func header(_ name: String) -> String? {
    let headers = head.headers
    guard let first = headers.firstIndex(of: name) else { return nil }
    let value = headers.value(at: first)
    guard headers.firstIndex(of: name, from: first + 1) != nil else { return value }
    return headers.values(for: name).joined(separator: ", ")
  }

  /// The headers by their names in lower case. Values of one name are joined with commas.
  package var headersByName: [String: String] {
    Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
  }
}
