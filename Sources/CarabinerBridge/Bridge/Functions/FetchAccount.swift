internal import CCarabiner
internal import Synchronization

/// The requests that one instance has under way by `crb.fetch/1`: their number and their bytes are limited, and they end with it.
package final class FetchAccount: Sendable {
  /// A request. It holds bytes under its number.
  typealias Request = @Sendable (_ number: UInt64) async -> Void

  private struct State {
    var last: UInt64 = 0
    /// The bytes that each request holds.
    var held: [UInt64: Int] = [:]
    var bytes = 0
    var running: [UInt64: Task<Void, Never>] = [:]
    var waiting: ArraySlice<(number: UInt64, request: Request)> = []
    var isClosed = false
  }

  /// The maximum number of requests that run at once; further ones wait. Each may need a connection.
  static let maximumRunning = 64

  private let state = Mutex(State())

  /// Creates the account of an instance.
  package init() {}

  /// Whether a request of so many bytes may begin.
  func hasRoom(for bytes: Int) -> Bool { state.withLock { Self.hasRoom(for: bytes, $0) } }

  private static func hasRoom(for bytes: Int, _ state: borrowing State) -> Bool {
    !state.isClosed && state.held.count < Int(CRB_FETCH_MAX_UNDER_WAY)
      && (0...Int(CRB_FETCH_MAX_BYTES) - state.bytes).contains(bytes)
  }

  /// Runs a request, which may wait for others. It calls ``end(_:)``.
  ///
  /// - Returns: False if there are too many, or too many bytes.
  func start(holding bytes: Int, _ request: @escaping Request) -> Bool {
    state.withLock { state in
      guard Self.hasRoom(for: bytes, state) else { return false }
      state.last += 1
      state.held[state.last] = bytes
      state.bytes += bytes
      if state.running.count < Self.maximumRunning {
        Self.run(state.last, request, &state)
      } else {
        state.waiting.append((state.last, request))
      }
      return true
    }
  }

  private static func run(_ number: UInt64, _ request: @escaping Request, _ state: inout State) {
    state.running[number] = Task { await request(number) }
  }

  /// Holds more bytes for a request.
  ///
  /// - Returns: False if that would be too many.
  func hold(_ bytes: Int, for number: UInt64) -> Bool {
    state.withLock { state in
      guard let held = state.held[number], bytes <= Int(CRB_FETCH_MAX_BYTES) - state.bytes else { return false }
      state.held[number] = held + bytes
      state.bytes += bytes
      return true
    }
  }

  /// Ends a request that has its result, and starts the next one that waits.
  func end(_ number: UInt64) {
    state.withLock { state in
      state.bytes -= state.held.removeValue(forKey: number) ?? 0
      state.running[number] = nil
      if let next = state.waiting.popFirst() { Self.run(next.number, next.request, &state) }
    }
  }

  /// Ends all requests with an error, and accepts no more.
  package func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      for entry in state.waiting { Self.run(entry.number, entry.request, &state) }
      state.waiting = []
      return Array(state.running.values)
    }
    for task in tasks { task.cancel() }
  }
}
