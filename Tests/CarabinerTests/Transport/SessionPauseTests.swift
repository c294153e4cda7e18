import Carabiner
import CarabinerWire
import TestTools
import Testing

@Suite("A session of GraphQL over WebSocket pauses and opens again")
struct SessionPauseTests {
  @Test("a pause closes the connection, operations wait, and what cannot be sent again fails", .rule("detail.18"))
  func pausing() {
    var run = SessionRun.ready([(1, .subscription), (2, .mutation), (3, .query), (4, .query)])
    run.receive(#"{"id":"4","type":"next","payload":{"data":1}}"#)
    _ = run.words()
    run.session.pause()
    #expect(
      run.words() == [
        "2 failed connectionLost", "4 failed connectionLost", "1 is reconnecting", "3 is reconnecting", "close 1000",
      ])
    run.subscribe(5)
    run.session.pause()
    #expect(run.words().isEmpty)
    #expect(run.session.phase == .idle)
    run.session.resume()
    #expect(run.words() == ["connect"])
    run.session.opened(initialPayload: nil)
    run.receive(#"{"type":"connection_ack"}"#)
    #expect(run.words().filter { $0.hasSuffix("is active") } == ["1 is active", "3 is active", "5 is active"])
    run.session.resume()
    #expect(run.words().isEmpty)
  }

  @Test("a pause while the connection is opened or waited for ends that too", .rule("detail.18"))
  func pausingEarly() {
    var run = SessionRun()
    run.subscribe(1)
    _ = run.words()
    run.session.pause()
    #expect(run.words() == ["1 is reconnecting", "close 1000"])
    // Messages of the old connection are ignored.
    run.session.opened(initialPayload: nil)
    #expect(run.words().isEmpty)
    run.session.resume()
    #expect(run.words() == ["connect"])
    run = .ready()
    run.session.closed(.goingAway, reason: "")
    #expect(run.session.phase == .waiting)
    _ = run.words()
    run.session.pause()
    run.session.fired(.reconnect)
    #expect(run.words() == ["1 is reconnecting"])
    #expect(run.session.phase == .idle)
    run.session.unsubscribe(1)
    run.session.resume()
    #expect(run.words().isEmpty)
  }

  @Test("other headers open the connection again at once, if there is one or operations wait", .rule("detail.18"))
  func reconnecting() {
    var run = SessionRun.ready()
    run.session.reconnect()
    #expect(run.words() == ["1 is reconnecting", "close 1000", "connect"])
    run.session.reconnect()
    #expect(run.words() == ["1 is reconnecting", "close 1000", "connect"])
    var idle = SessionRun()
    idle.session.reconnect()
    #expect(idle.words().isEmpty)
    var paused = SessionRun.ready()
    paused.session.pause()
    _ = paused.words()
    paused.session.reconnect()
    #expect(paused.words().isEmpty)
    var ended = SessionRun.ready()
    ended.session.shutDown()
    _ = ended.words()
    ended.session.pause()
    ended.session.resume()
    ended.session.reconnect()
    #expect(ended.words().isEmpty)
  }
}
