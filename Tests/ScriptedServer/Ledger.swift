internal import Synchronization

/// The combined record of all connections of a server.
final class Ledger: Sendable {
  private struct State {
    var accepted = 0
    var peers: [ObjectIdentifier: Peer] = [:]
    var requests: [ReceivedRequest] = []
    var bytesSent = 0
    var hangUps = 0
    var isOver = false
  }

  private let state = Mutex(State())

  var accepted: Int { state.withLock { $0.accepted } }
  var open: Int { state.withLock { $0.peers.count } }
  var requests: [ReceivedRequest] { state.withLock { $0.requests } }
  var bytesSent: Int { state.withLock { $0.bytesSent } }
  var hangUps: Int { state.withLock { $0.hangUps } }

  /// Registers a connection. False if the server was dropped meanwhile.
  func opened(_ peer: Peer) -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      state.accepted += 1
      state.peers[ObjectIdentifier(peer)] = peer
      return true
    }
  }

  func closed(_ peer: Peer) { state.withLock { _ = $0.peers.removeValue(forKey: ObjectIdentifier(peer)) } }
  func received(_ request: ReceivedRequest) { state.withLock { $0.requests.append(request) } }
  func sent(_ count: Int) { state.withLock { $0.bytesSent += count } }
  func sawHangUp() { state.withLock { $0.hangUps += 1 } }

  /// Makes every running script fail at its next read or write.
  func hangUp() {
    let peers = state.withLock { state in
      state.isOver = true
      return Array(state.peers.values)
    }
    for peer in peers { peer.shutDown() }
  }
}
