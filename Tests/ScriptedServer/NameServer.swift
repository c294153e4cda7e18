internal import Glibc
internal import Synchronization

/// A DNS server with one address for every name, on port 53 of a loopback address of its own. That port needs root.
public final class NameServer: Sendable {
  private struct State {
    var host: UInt8
    var isHeld = false
    /// Queries whose answers are held back, with their senders.
    var waiting: [(query: [UInt8], peer: sockaddr_in)] = []
    var queries = 0
  }

  /// Its address, 127.x.y.z.
  public let address: String
  private let socket: Int32
  private let state: Mutex<State>

  /// A server that answers 127.0.0.`host`.
  ///
  /// - Throws: ``SocketFailure`` if no address is free.
  public init(host: UInt8) throws {
    state = Mutex(State(host: host))
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var (text, isBound) = ("", false)
    for _ in 0..<50 where !isBound {
      let bytes = (0..<3).map { _ in UInt8.random(in: 1...250) }
      text = "127.\(bytes[0]).\(bytes[1]).\(bytes[2])"
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = UInt16(53).bigEndian
      unsafe inet_pton(AF_INET, text, &place.sin_addr)
      isBound = unsafe withUnsafePointer(to: &place) { place in
        unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
          unsafe bind(socket, place, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }
    address = text
    self.socket = socket
    guard isBound else { throw SocketFailure("bind", errno) }
    try Thread.start { [weak self, socket] in
      var query = [UInt8](repeating: 0, count: 512)
      while true {
        var peer = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe withUnsafeMutablePointer(to: &peer) { peer in
          unsafe peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
            unsafe recvfrom(socket, &query, query.count, 0, peer, &length)
          }
        }
        guard count > 0, let self else { break }
        answer(Array(query.prefix(count)), to: peer)
      }
      close(socket)
    }
  }

  deinit { shutdown(socket, Int32(SHUT_RDWR)) }

  /// The number of queries so far.
  public var queries: Int { state.withLock(\.queries) }

  /// Holds back all answers from now on.
  public func hold() { state.withLock { $0.isHeld = true } }

  /// Answers what was held back, and everything from now on, with 127.0.0.`host`.
  public func release(host: UInt8) {
    let waiting = state.withLock { state in
      (state.host, state.isHeld) = (host, false)
      defer { state.waiting = [] }
      return state.waiting
    }
    for (query, peer) in waiting { send(query, peer) }
  }

  private func answer(_ query: [UInt8], to peer: sockaddr_in) {
    let isHeld = state.withLock { state in
      state.queries += 1
      if state.isHeld { state.waiting.append((query, peer)) }
      return state.isHeld
    }
    if !isHeld { send(query, peer) }
  }

  private func send(_ query: [UInt8], _ peer: sockaddr_in) {
    guard let reply = reply(to: query) else { return }
    var peer = peer
    _ = unsafe withUnsafePointer(to: &peer) { peer in
      unsafe peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
        unsafe sendto(socket, reply, reply.count, Int32(MSG_NOSIGNAL), peer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// The answer to a query with one question: one A record, or none for other types (RFC 1035, 4.1).
  private func reply(to query: [UInt8]) -> [UInt8]? {
    guard query.count > 16, var end = query[12...].firstIndex(of: 0) else { return nil }
    // Behind the name, its type and class.
    end += 5
    guard end <= query.count else { return nil }
    let isAddress = query[end - 4] == 0 && query[end - 3] == 1
    let header = query[..<2] + [0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]
    let record: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, state.withLock(\.host)]
    return header + query[12..<end] + (isAddress ? record : [])
  }
}
