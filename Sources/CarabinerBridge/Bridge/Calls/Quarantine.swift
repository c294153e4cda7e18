package import CCarabiner
internal import FoundationEssentials
internal import Synchronization

/// Memory that plugins may still read after the host has continued without them.
///
/// Rule R3 lets a plugin read its views until it resumes its token. The host may revoke the token before: the hook took too long, or
/// the client left. The plugin notices that when it resumes, so its memory is kept until then, at most for ``readingTime``.
package final class Quarantine: Sendable {
  /// How long a plugin whose token was revoked may read what it was shown.
  static let readingTime = Duration.seconds(60)

  package static let shared = Quarantine()

  private struct Reader {
    let end: ContinuousClock.Instant
    var pieces: [Int] = []
  }

  private struct Piece {
    let memory: KeptMemory
    var readers = 0
  }

  private struct State {
    var readers: [crb_token: Reader] = [:]
    /// The readers in the order in which their time ends.
    var order: ArraySlice<crb_token> = []
    var pieces: [Int: Piece] = [:]
    var nextPiece = 0
    var isSweepDue = false

    /// Ends a reader. Memory without other readers is added to `freed`, to be released outside of the lock.
    mutating func end(_ token: crb_token, _ freed: inout [KeptMemory]) {
      for number in readers.removeValue(forKey: token)?.pieces ?? [] {
        pieces[number]?.readers -= 1
        guard let piece = pieces[number], piece.readers == 0 else { continue }
        pieces[number] = nil
        freed.append(piece.memory)
      }
    }

    mutating func endOverdue(_ now: ContinuousClock.Instant, _ freed: inout [KeptMemory]) {
      while let token = order.first {
        if let reader = readers[token] {
          guard reader.end <= now else { return }
          end(token, &freed)
        }
        order.removeFirst()
      }
      order = []
    }
  }

  private let state = Mutex(State())
  private let kept = Atomic<Int>(0)

  /// How many bytes are kept.
  package var bytes: Int { kept.load(ordering: .relaxed) }

  /// How many plugins may still read what they were shown.
  package var readerCount: Int { state.withLock(\.readers.count) }

  /// Records a token that was revoked.
  ///
  /// - Parameter environment: Has the clock by which overdue memory is released.
  func add(_ token: crb_token, on environment: HostEnvironment) {
    let now = ContinuousClock.now
    var freed: [KeptMemory] = []
    let needsSweep = state.withLock { state in
      state.endOverdue(now, &freed)
      state.readers[token] = Reader(end: now + Self.readingTime)
      state.order.append(token)
      defer { state.isSweepDue = true }
      return !state.isSweepDue
    }
    release(freed)
    if needsSweep { sweep(after: Self.readingTime, on: environment) }
  }

  /// The tokens whose plugins may still read.
  func current(_ tokens: [crb_token]) -> [crb_token] { state.withLock { state in tokens.filter { state.readers[$0] != nil } } }

  /// Keeps memory for as long as the plugins of these tokens may read it.
  func keep(_ memory: KeptMemory, for tokens: [crb_token]) {
    state.withLock { state in
      let readers = tokens.filter { state.readers[$0] != nil }
      guard !readers.isEmpty else { return }
      let number = state.nextPiece
      state.nextPiece += 1
      for token in readers { state.readers[token]?.pieces.append(number) }
      state.pieces[number] = Piece(memory: memory, readers: readers.count)
      kept.wrappingAdd(memory.byteCount, ordering: .relaxed)
    }
  }

  /// The plugin resumed a token that was revoked: it no longer reads.
  package func noteResumed(_ token: crb_token) {
    var freed: [KeptMemory] = []
    state.withLock { $0.end(token, &freed) }
    release(freed)
  }

  /// Releases overdue memory, and schedules itself for the rest.
  private func sweep(on environment: HostEnvironment) {
    let now = ContinuousClock.now
    var freed: [KeptMemory] = []
    let next: Duration? = state.withLock { state in
      state.endOverdue(now, &freed)
      let next = state.order.first.flatMap { state.readers[$0]?.end }
      state.isSweepDue = next != nil
      return next.map { $0 - now }
    }
    release(freed)
    if let next { sweep(after: next, on: environment) }
  }

  private func sweep(after delay: Duration, on environment: HostEnvironment) {
    _ = environment.schedule(delay) { self.sweep(on: environment) }
  }

  private func release(_ freed: [KeptMemory]) {
    for memory in freed { kept.wrappingSubtract(memory.byteCount, ordering: .relaxed) }
  }
}

/// Memory of a call that its hooks have seen or used as scratch memory.
@safe final class KeptMemory: @unchecked Sendable {
  // The host only counts and frees it.

  private var arena: Arena
  private let pins: [Data]
  let byteCount: Int

  init(_ arena: Arena, _ pins: [Data] = []) {
    self.arena = arena
    self.pins = pins
    byteCount = pins.reduce(arena.byteCount) { $0 + $1.count }
  }

  deinit { arena.deallocate() }
}
