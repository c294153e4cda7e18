import NIOCore
import Testing

@testable import CarabinerGateway

@Suite("HTTP/2: signs of life and idle connections")
struct ConnectionUpkeepTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private func upkeep(idle: Int64 = 75, keepAlive: Int64 = 30) -> ConnectionUpkeep {
    var limits = GatewayLimits()
    limits.idleTimeout = .seconds(idle)
    limits.keepAlive = .seconds(keepAlive)
    return ConnectionUpkeep(limits, at: start)
  }

  @Test("a silent client is asked once, and its connection ends if it does not answer in time")
  func silent() {
    var upkeep = upkeep()
    #expect(upkeep.step(at: start + .seconds(29), idleSince: nil) == .wait)
    #expect(upkeep.wait(after: start + .seconds(28), idleSince: nil) == .seconds(2))
    #expect(upkeep.step(at: start + .seconds(30), idleSince: nil) == .ping)
    #expect(upkeep.step(at: start + .seconds(59), idleSince: nil) == .wait)
    #expect(upkeep.wait(after: start + .seconds(59), idleSince: nil) == .seconds(1))
    #expect(upkeep.step(at: start + .seconds(60), idleSince: nil) == .close)
  }

  @Test("each read is a sign of life")
  func alive() {
    var upkeep = upkeep()
    #expect(upkeep.step(at: start + .seconds(30), idleSince: nil) == .ping)
    upkeep.didRead(at: start + .seconds(31))
    #expect(upkeep.step(at: start + .seconds(60), idleSince: nil) == .wait)
    #expect(upkeep.step(at: start + .seconds(61), idleSince: nil) == .ping)
  }

  @Test("a connection without streams ends after the idle timeout, even if its client answers")
  func idle() {
    var upkeep = upkeep()
    for second in stride(from: Int64(10), to: 75, by: 10) {
      upkeep.didRead(at: start + .seconds(second))
      #expect(upkeep.step(at: start + .seconds(second), idleSince: start) == .wait)
    }
    #expect(upkeep.wait(after: start + .seconds(70), idleSince: start) == .seconds(5))
    #expect(upkeep.step(at: start + .seconds(75), idleSince: start) == .close)
  }

  @Test("a short idle timeout is looked at in time, although a stream was open before")
  func shortIdle() {
    let upkeep = upkeep(idle: 2)
    #expect(upkeep.wait(after: start, idleSince: nil) == .seconds(2))
    #expect(upkeep.wait(after: start + .seconds(1), idleSince: start) == .seconds(1))
  }
}
