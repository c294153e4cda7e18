/// Limits the bytes that the host copies and checks for the requests of a worker, in a second and in one turn of its reader.
///
/// Further requests wait, and so do the hooks that made them: `hang` counts the time.
struct RequestAllowance {
  /// The bytes of a second. A JSON text of that size takes about half of it to check.
  static let bytesPerSecond = 256 << 20
  /// The bytes after which the reader takes answers and looks at hooks again.
  static let turnBytes = 1 << 20
  /// The cost of a request beside the bytes of its message.
  static let requestBytes = 512

  /// The bytes left of the rate. A large request may exceed them, and then the next one waits longer.
  private var rest = Self.turnBytes
  private var turn = 0
  private var filledAt: UInt64 = 0

  /// Begins a turn at a time of the monotonic clock, in nanoseconds.
  mutating func begin(at now: UInt64) {
    let earned = (now &- min(filledAt, now)).multipliedReportingOverflow(by: UInt64(Self.bytesPerSecond) / 1_000_000)
    let bytes = earned.overflow ? UInt64(Self.turnBytes) : earned.partialValue / 1000
    rest = min(Self.turnBytes, rest + Int(clamping: min(bytes, UInt64(Int32.max))))
    filledAt = now
    turn = Self.turnBytes
  }

  /// Whether another request may be taken in this turn.
  var hasRoom: Bool { rest > 0 && turn > 0 }

  /// Whether the next turn may begin at once.
  var isUrgent: Bool { rest > 0 }

  /// Takes a request with a message of so many bytes.
  mutating func spend(_ bytes: Int) {
    rest -= bytes + Self.requestBytes
    turn -= bytes + Self.requestBytes
  }
}
