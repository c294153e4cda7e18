import Testing

@testable import CarabinerCurl

@Suite("Timers of the loop")
struct EventLoopTimersTests {
  private func timer(_ id: UInt64, due: UInt64) -> EventLoopTimers.Timer { EventLoopTimers.Timer(id: id, due: due) {} }

  @Test("cancelled timers are released long before they are due")
  func cancelled() {
    var timers = EventLoopTimers()
    for id in 1...100_000 as ClosedRange<UInt64> {
      timers.apply(.arm(timer(id, due: .max - id)))
      timers.apply(.cancel(id))
    }
    #expect(timers.count <= 100)
  }

  @Test("only the timers that were not cancelled fire")
  func left() {
    var timers = EventLoopTimers()
    for id in 1...1000 as ClosedRange<UInt64> { timers.apply(.arm(timer(id, due: id % 7))) }
    for id in 1...1000 as ClosedRange<UInt64> where id % 10 != 0 { timers.apply(.cancel(id)) }
    #expect(timers.takeDue().count == 100)
    #expect(timers.count == 0)
  }
}
