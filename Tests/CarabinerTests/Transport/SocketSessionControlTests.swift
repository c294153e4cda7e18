import Carabiner
import CarabinerWire
import Synchronization
import TestTools
import Testing

/// The controls of a session that transports of older generations offer to their users.
@Suite("A session that its owner opens, pauses, keeps and restarts")
struct SocketSessionControlTests {
  private static let ack = #"{"type":"connection_ack"}"#

  /// A kept session whose connection is acknowledged, without operations.
  private func kept(_ change: (inout SocketSession.Options) -> Void = { _ in }) -> SessionRun {
    var run = SessionRun { options in
      options.keepsConnection = true
      change(&options)
    }
    run.session.open()
    run.session.opened(initialPayload: nil)
    run.receive(Self.ack)
    return run
  }

  @Test("a session opens without an operation, once", .rule("legacy.12"))
  func opensAlone() {
    var run = SessionRun()
    run.session.open()
    run.session.open()
    #expect(run.words() == ["connect"])
    run.session.opened(initialPayload: Array(#"{"a":1}"#.utf8))
    #expect(run.words() == [#"send {"payload":{"a":1},"type":"connection_init"}"#, "start acknowledgement 10.0 seconds"])
    run.receive(Self.ack)
    // Nothing needs the connection, so it is closed after the idle time.
    #expect(run.words() == ["start idle 60.0 seconds"] && run.session.phase == .ready)
    run.session.fired(.idle)
    #expect(run.words() == ["close 1000"] && run.session.phase == .idle && run.session.loss == nil)
  }

  @Test("a kept connection has no idle time, and is opened again when it is lost", .rule("legacy.12"))
  func keeps() {
    var run = kept()
    #expect(!run.words().contains { $0.hasPrefix("start idle") })
    run.session.fired(.idle)
    #expect(run.words().isEmpty && run.session.phase == .ready)
    run.subscribe(1)
    run.receive(#"{"id":"1","type":"complete"}"#)
    #expect(run.words().last == "1 is over")
    run.session.closed(.abnormal, reason: "")
    #expect(run.words() == ["warning", "start reconnect 0.5 seconds"])
    #expect(run.session.phase == .waiting && run.session.loss?.code == .connectionLost)
    run.session.fired(.reconnect)
    #expect(run.words() == ["connect"])
  }

  @Test(
    "a kept connection that the server refuses is not opened again, until an operation needs it", .rule("legacy.12", "legacy.21"))
  func keptAndRefused() {
    var run = kept()
    _ = run.words()
    run.session.closed(.forbidden, reason: "no")
    #expect(run.words().isEmpty && run.session.phase == .idle && run.session.loss?.code == .forbidden)
    run.subscribe(1)
    #expect(run.words() == ["connect"])
  }

  @Test("without reconnecting, a loss fails each operation at once, and the next operation connects", .rule("legacy.21"))
  func withoutReconnects() {
    var run = SessionRun.ready([(1, .subscription), (2, .query), (3, .mutation)]) { $0.reconnects = false }
    run.session.closed(.abnormal, reason: "")
    #expect(run.words() == ["3 failed connectionLost", "1 failed connectionLost", "2 failed connectionLost"])
    run.session.closed(.abnormal, reason: "")
    #expect(run.words().isEmpty)
    run.subscribe(4)
    #expect(run.words() == ["connect"])
    run.session.options.reconnects = true
    run.session.opened(initialPayload: nil)
    run.receive(Self.ack)
    _ = run.words()
    run.session.closed(.abnormal, reason: "")
    #expect(run.words().last == "start reconnect 0.5 seconds")
  }

  @Test("an operation is found by its id on the connection, until it ends or the connection does", .rule("legacy.16"))
  func identifiers() {
    var run = SessionRun()
    run.subscribe(7)
    #expect(run.session.token(ofID: "1") == nil)
    run.session.opened(initialPayload: nil)
    run.receive(Self.ack)
    #expect(run.session.token(ofID: "1") == 7 && run.session.token(ofID: "0") == nil && run.session.token(ofID: "7") == nil)
    run.session.closed(.abnormal, reason: "")
    #expect(run.session.token(ofID: "1") == nil)
    run.session.fired(.reconnect)
    run.session.opened(initialPayload: nil)
    run.receive(Self.ack)
    #expect(run.session.token(ofID: "2") == 7)
    run.receive(#"{"id":"2","type":"complete"}"#)
    #expect(run.session.token(ofID: "2") == nil)
  }

  @Test("operations have the ids of the creator, and one with the id of another operation fails")
  func madeIdentifiers() {
    final class Creator: OperationMessageIdCreator {
      let ids = Mutex(["first", "first", "\"x\""])

      func requestId() -> String { ids.withLock { $0.removeFirst() } }
    }
    var run = SessionRun.ready([(1, .subscription)]) { $0.idCreator = Creator() }
    #expect(run.session.token(ofID: "first") == 1)
    run.subscribe(2)
    #expect(run.words() == ["2 failed subscriberExists"])
    run.subscribe(3)
    #expect(run.words().first == #"send {"id":"\"x\"","payload":{},"type":"subscribe"}"#)
    run.receive(#"{"id":"\"x\"","type":"next","payload":{}}"#)
    run.session.unsubscribe(1)
    #expect(run.words() == ["3 gets {}", #"send {"id":"first","type":"complete"}"#])
    run.receive(#"{"id":"first","type":"next","payload":{}}"#)
    #expect(run.words() == ["note"])
    let numbers = ApolloSequencedOperationMessageIdCreator(startAt: 7)
    #expect([numbers.requestId(), numbers.requestId()] == ["7", "8"])
  }

  @Test("a pause closes the connection, queues what runs and what comes, and fails a sent mutation", .rule("legacy.22"))
  func pause() {
    var run = SessionRun.ready([(1, .subscription), (2, .mutation)]) { $0.dialect = .graphQLWS }
    run.session.pause()
    #expect(
      run.words() == [
        #"send {"type":"connection_terminate"}"#, "2 failed connectionLost", "1 is reconnecting", "close 1000",
      ])
    #expect(run.session.phase == .idle && run.session.loss == nil)
    run.session.pause()
    run.subscribe(3)
    run.session.open()
    #expect(run.words().isEmpty)
    run.session.resume()
    run.session.resume()
    #expect(run.words() == ["connect"])
    run.session.opened(initialPayload: nil)
    run.receive(Self.ack)
    #expect(run.words().filter { $0.hasPrefix("send") && $0.contains("start") }.count == 2)
  }

  @Test(
    "a pause between two attempts stops them, and a pause without operations is ended without a connection", .rule("legacy.22"))
  func pauseWhileWaiting() {
    var run = SessionRun.ready()
    run.session.closed(.abnormal, reason: "")
    _ = run.words()
    run.session.pause()
    #expect(run.words() == ["1 is reconnecting"] && run.session.phase == .idle)
    run.session.fired(.reconnect)
    #expect(run.words().isEmpty)
    run.session.unsubscribe(1)
    run.session.resume()
    #expect(run.words().isEmpty)
  }

  @Test("a restart closes the old connection before it asks for another, and a sent mutation fails", .rule("legacy.24"))
  func restart() {
    var run = SessionRun.ready([(1, .subscription), (2, .mutation)])
    run.session.reconnect()
    #expect(run.words() == ["2 failed connectionLost", "1 is reconnecting", "close 1000", "connect"])
    #expect(run.session.phase == .connecting)
    var unused = SessionRun()
    unused.session.reconnect()
    #expect(unused.words().isEmpty && unused.session.phase == .idle)
    var paused = SessionRun.ready()
    paused.session.pause()
    paused.session.reconnect()
    #expect(!paused.words().contains("connect"))
  }

  @Test("shutting down says so in the older protocol, and no control has an effect afterwards", .rule("legacy.23"))
  func shutDown() {
    var run = SessionRun.ready { $0.dialect = .graphQLWS }
    run.session.shutDown()
    #expect(
      run.words() == [
        #"send {"id":"1","type":"stop"}"#, "1 failed shutDown", #"send {"type":"connection_terminate"}"#, "close 1000",
      ])
    run.session.open()
    run.session.pause()
    run.session.resume()
    run.session.reconnect()
    #expect(run.words().isEmpty && run.session.phase == .ended && run.session.loss == nil)
  }

  @Test("a message nested 100,000 levels deep ends the connection", arguments: WebSocketProtocol.allCases)
  func nested(dialect: WebSocketProtocol) {
    let type = dialect == .graphQLWS ? "data" : "next"
    let (opening, closing) = (String(repeating: "[", count: 100_000), String(repeating: "]", count: 100_000))
    for text in [opening, #"{"id":"1","type":"\#(type)","payload":{"data":\#(opening)\#(closing)}}"#] {
      var run = SessionRun.ready { $0.dialect = dialect }
      run.receive(text)
      #expect(run.words() == ["close 4004", "1 failed invalidMessage"])
    }
  }
}
