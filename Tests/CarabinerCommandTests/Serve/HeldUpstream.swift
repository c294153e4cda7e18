import Foundation
import ScriptedServer
import Synchronization

/// Answers operations called Slow when it is told to, and others at once, each with what a plugin stamped its request with.
final class HeldUpstream: Sendable {
  private final class Gate: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func wait(_ peer: Peer) {
      while !isOpen.withLock(\.self) { peer.pause(milliseconds: 5) }
    }
  }

  /// A body that asks for what is held.
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

  /// Lets all go that is held, and holds nothing more.
  func open() { gate.open() }

  /// Waits until so many have come that are held.
  func waitUntilHeld(_ count: Int) async throws {
    while server.requests.count(where: \.isSlow) != count { try await Task.sleep(for: .milliseconds(5)) }
  }
}

extension ReceivedRequest {
  fileprivate var isSlow: Bool { String(decoding: body, as: UTF8.self).contains("query Slow") }
}
