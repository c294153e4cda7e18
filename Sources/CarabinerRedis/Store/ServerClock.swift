internal import Synchronization

/// The difference between the clock of Redis and the local one.
///
/// Nodes need no common clock, because all times in Redis are by its own.
final class ServerClock: Sendable {
  private struct Sample {
    var offset: Int64
    /// The time between question and answer in milliseconds, which limits the error.
    var roundTrip: Int64
  }

  private let local: @Sendable () -> Int64
  private let sample = Mutex<Sample?>(nil)

  init(_ local: @escaping @Sendable () -> Int64) { self.local = local }

  /// The time of Redis minus the local time in milliseconds; nil before the first answer.
  var offset: Int64? { sample.withLock { $0?.offset } }

  var now: Int64 { local() }

  func forget() { sample.withLock { $0 = nil } }

  /// Takes an answer of `TIME`: seconds and microseconds.
  func set(seconds: Int64, microseconds: Int64, askedAt: Int64, answeredAt: Int64) {
    let roundTrip = max(0, answeredAt - askedAt)
    let offset = seconds * 1000 + microseconds / 1000 - (askedAt + roundTrip / 2)
    sample.withLock { sample in
      // A slow answer says less than the last one, unless a clock was set.
      if let sample, roundTrip > sample.roundTrip + 10, abs(offset - sample.offset) <= roundTrip { return }
      sample = Sample(offset: offset, roundTrip: roundTrip)
    }
  }
}
