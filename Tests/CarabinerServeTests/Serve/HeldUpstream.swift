import Foundation
import ScriptedServer
import Synchronization

/// An upstream that holds operations called Slow until `open()` and answers others at once. Each response contains the stamp that
/// a plugin added to the request.
final class HeldUpstream: Sendable {
  private final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait(_ peer: Peer) {
      while !isOpen.withLock(\.self) { peer.pause(milliseconds: 5) }
    }
  }

  /// A body with an operation that is held.
  static let slow = #"{"query":"query Slow { a }"}"#

  private let gate = Gate()
  private let server: ScriptedServer

  init() throws {
    let gate = gate
    server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        if request.isSlow { gate.wait(peer) }
        let stamp = request.header("x-stamp-down") ?? "none"
        try peer.respond(headers: "Content-Type: application/json\r\n", body: "{\"data\":{\"a\":\"\(stamp)\"}}")
      })
  }

  deinit { open() }

  var endpoint: String { "\(server.origin)/graphql" }

  /// Answers all held operations. Later ones are not held.
  func open() { gate.open() }

  /// Waits until this many operations are held.
  func waitUntilHeld(_ count: Int) async throws {
    while server.requests.count(where: \.isSlow) != count { try await Task.sleep(for: .milliseconds(5)) }
  }
}

extension ReceivedRequest {
  fileprivate var isSlow: Bool { String(decoding: body, as: UTF8.self).contains("query Slow") }
}
