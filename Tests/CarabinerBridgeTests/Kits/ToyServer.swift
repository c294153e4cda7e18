import Foundation
import Synchronization

/// A loopback server. It answers requests at `/graphql` in the format of the fixtures, `name=server`, and other requests with
/// text.
final class ToyServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let status: Int
  private let heads = Mutex<[String]>([])

  /// - Parameter status: The HTTP status of responses at `/graphql`.
  init(status: Int = 200) throws {
    self.status = status
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let failed = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, length) != 0 || listen(listener, 64) != 0 || getsockname(listener, $0, &length) != 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard listener >= 0, !failed else { throw POSIXError(.EADDRNOTAVAIL) }
    Thread.detachNewThread { [self] in serve() }
  }

  deinit { close(listener) }

  /// The heads of the requests at `/graphql`, in order.
  var requests: [String] { heads.withLock { $0 } }

  var endpoint: String { "http://127.0.0.1:\(port)/graphql" }

  /// Ends the server's thread.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func serve() {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { return }
      answer(connection)
      close(connection)
    }
  }

  private func answer(_ connection: Int32) {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !isWhole(text) {
      let count = unsafe read(connection, &buffer, buffer.count)
      guard count > 0 else { return }
      text += String(decoding: buffer.prefix(count), as: UTF8.self)
    }
    let isGraphQL = text.hasPrefix("POST /graphql")
    if isGraphQL { heads.withLock { $0.append(text) } }
    let body = isGraphQL ? "name=server" : "fetched"
    let answer =
      "HTTP/1.1 \(isGraphQL ? status : 200) X\r\nContent-Type: \(isGraphQL ? "text/x-kit" : "text/plain")\r\n"
      + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    var bytes = Array(answer.utf8)
    _ = unsafe write(connection, &bytes, bytes.count)
  }

  private func isWhole(_ text: String) -> Bool {
    guard let end = text.range(of: "\r\n\r\n") else { return false }
    let length = text[..<end.lowerBound].lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
      .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
    return text[end.upperBound...].utf8.count >= length ?? 0
  }
}
