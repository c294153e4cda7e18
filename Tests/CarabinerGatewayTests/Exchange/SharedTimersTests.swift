import NIOCore
import NIOEmbedded
import Testing

@testable import CarabinerGateway

@Suite("Timers that connections share")
struct SharedTimersTests {
  private let timers = SharedTimers()
  private let loop = EmbeddedEventLoop()

  private final class Handler {
    var calls = 0
  }

  @Test(
    "a handler is called once, not before its time and at most a twentieth of it late",
    arguments: [1, 7, 199, 200, 3_141, 75_003])
  func call(milliseconds: Int64) {
    let handler = Handler()
    loop.advanceTime(by: .nanoseconds(123_456_789))
    timers.call(handler, after: .milliseconds(milliseconds), on: loop) { $0.calls += 1 }
    loop.advanceTime(by: .milliseconds(milliseconds) - .nanoseconds(1))
    #expect(handler.calls == 0)
    loop.advanceTime(by: .milliseconds(1 + milliseconds / 20))
    #expect(handler.calls == 1)
    loop.advanceTime(by: .milliseconds(2 * milliseconds))
    #expect(handler.calls == 1)
  }

  @Test("a handler that is called may ask for the next call, and a time that has passed is the next one")
  func again() {
    let handler = Handler()
    func ask() {
      timers.call(handler, after: .seconds(1), on: loop) { handler in
        handler.calls += 1
        ask()
      }
    }
    ask()
    loop.advanceTime(by: .seconds(10))
    #expect(handler.calls == 10)
    timers.call(handler, after: .seconds(-5), on: loop) { $0.calls += 100 }
    loop.run()
    #expect(handler.calls == 110)
  }

  @Test("ten thousand connections that have ended leave the event loop a few timers, and their handlers are not kept")
  func ended() {
    weak var kept: Handler?
    for _ in 0..<10_000 {
      loop.advanceTime(by: .microseconds(100))
      let handler = Handler()
      kept = handler
      timers.call(handler, after: .seconds(15), on: loop) { $0.calls += 1 }
    }
    #expect(kept == nil)
    #expect(timers.count <= 11)
    loop.advanceTime(by: .seconds(16))
    #expect(timers.count == 0)
  }

  @Test("the longest time does not fail")
  func longest() {
    let handler = Handler()
    timers.call(handler, after: .nanoseconds(.max), on: loop) { $0.calls += 1 }
    loop.advanceTime(by: .hours(24))
    #expect(handler.calls == 0)
  }

  @Test("event loops have timers of their own")
  func loops() {
    let (other, handler) = (EmbeddedEventLoop(), Handler())
    for loop in [loop, other] { timers.call(handler, after: .seconds(1), on: loop) { $0.calls += 1 } }
    other.advanceTime(by: .seconds(1))
    #expect(handler.calls == 1)
    loop.advanceTime(by: .seconds(1))
    #expect(handler.calls == 2)
  }
}
