internal import CarabinerHost
internal import Synchronization

extension Check {
  static let pf03 = Check(
    "PF03", level: 6, "takes time in proportion to the bytes",
    page: Page(
      rule:
        "A body of sixteen times the size takes at most about sixteen times as long, whatever the size of its chunks. More than forty times is a warning.",
      reason: "Work that grows with the square of the size is how a megabyte from outside stops a host.",
      example: "body = realloc(body, used + n);  memmove(body, body + seen, used - seen);     /* at every chunk */",
      remedy: "Grow buffers by doubling, look at each byte once, and keep in your state how far you came."),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.seesChunks {
        func time(_ chunks: Int) -> UInt64 {
          let exchange = Exchange("a body in \(chunks) chunks") { exchange in
            exchange.chunks = (0..<chunks).map { _ in Array(repeating: UInt8(ascii: " "), count: 1024) }
          }
          return (0..<5).map { _ in
            let clock = HookClock()
            var manner = Traveller.Manner()
            manner.aroundHooks = { isBefore, _ in clock.note(isBefore) }
            _ = trial.travel([exchange], stage, instance, manner)
            return clock.total
          }.min() ?? 0
        }
        let (short, long) = (time(256), time(4096))
        // Below a microsecond a chunk there is nothing to be in proportion.
        if long > 4_000_000, long > max(short, 1) * 40 {
          trial.notes.warn(
            "16 times the bytes take \(long / max(short, 1)) times as long (\(short / 1000) and \(long / 1000) µs)",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}
