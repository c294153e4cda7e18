import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("A session of GraphQL over WebSocket")
struct SocketSessionTests {
  private static let ack = #"{"type":"connection_ack"}"#

  @Test("the first operation opens the connection, and messages wait until acknowledged", .rule("websocket.1", "websocket.2"))
  func opening() {
    var run = SessionRun()
    #expect(run.words().isEmpty)
    run.subscribe(5)
    run.subscribe(6, .mutation)
    #expect(run.words() == ["connect"])
    run.session.opened(initialPayload: Array(#"{"t":1}"#.utf8))
    #expect(
      run.words() == [#"send {"payload":{"t":1},"type":"connection_init"}"#, "start acknowledgement 10.0 seconds"])
    run.receive(Self.ack)
    #expect(
      run.words() == [
        #"send {"id":"1","payload":{},"type":"subscribe"}"#, "5 is active", #"send {"id":"2","payload":{},"type":"subscribe"}"#,
        "6 is active",
      ])
    run.subscribe(7)
    #expect(run.words() == [#"send {"id":"3","payload":{},"type":"subscribe"}"#, "7 is active"])
  }

  @Test("next, error and complete reach the operation of their id, and no other", .rule("websocket.1"))
  func results() {
    var run = SessionRun.ready([(1, .subscription), (2, .query), (3, .subscription)])
    run.receive(#"{"id":"2","type":"next","payload":{"data":2}}"#)
    run.receive(#"{"id":"1","type":"next","payload":{"data":1}}"#)
    run.receive(#"{"id":"3","type":"error","payload":[{"message":"no"}]}"#)
    run.receive(#"{"id":"1","type":"complete"}"#)
    #expect(
      run.words() == [#"2 gets {"data":2}"#, #"1 gets {"data":1}"#, #"3 errors [{"message":"no"}]"#, "1 is over"])
    run.receive(#"{"id":"2","type":"complete"}"#)
    #expect(run.words() == ["2 is over", "start idle 60.0 seconds"])
    run.session.fired(.idle)
    #expect(run.words() == ["close 1000"])
    #expect(run.session.phase == .idle)
  }

  @Test(
    "an unknown id is noted and never fatal", .rule("websocket.2"),
    arguments: [(#""9""#, "warning"), (#""x""#, "warning"), (#""0""#, "warning"), (#""-1""#, "warning"), (#""2""#, "note")])
  func unknownID(id: String, word: String) {
    var run = SessionRun.ready([(1, .subscription), (2, .subscription)])
    run.session.unsubscribe(2)
    _ = run.words()
    for message in [#""type":"next","payload":{}"#, #""type":"complete""#, #""type":"error","payload":[]"#] {
      run.receive(#"{"id":\#(id),\#(message)}"#)
      #expect(run.words() == [word])
    }
    run.receive(#"{"id":"1","type":"next","payload":{}}"#)
    #expect(run.words() == ["1 gets {}"])
  }

  @Test("ping gets pong with its payload, before and after the acknowledgement", .rule("websocket.1"))
  func ping() {
    var run = SessionRun()
    run.subscribe(1)
    run.session.opened(initialPayload: nil)
    _ = run.words()
    run.receive(#"{"type":"ping","payload":{"a":1}}"#)
    #expect(run.words() == [#"answer {"payload":{"a":1},"type":"pong"}"#])
    run.receive(Self.ack)
    _ = run.words()
    run.receive(#"{"type":"ping"}"#)
    run.receive(#"{"type":"pong"}"#)
    #expect(run.words() == [#"answer {"type":"pong"}"#])
  }

  @Test("a second acknowledgement is noted and changes nothing", .rule("websocket.1"))
  func acknowledgedTwice() {
    var run = SessionRun.ready()
    run.receive(Self.ack)
    #expect(run.words() == ["warning"])
    #expect(run.session.phase == .ready)
  }

  @Test("without acknowledgement the connection is closed and its operations fail", .rule("websocket.1"))
  func noAcknowledgement() {
    var run = SessionRun()
    run.subscribe(1)
    run.session.opened(initialPayload: nil)
    _ = run.words()
    run.session.fired(.acknowledgement)
    #expect(run.words() == ["close 4504", "1 failed acknowledgementTimeout"])
    // The next operation reconnects.
    run.subscribe(2)
    #expect(run.words() == ["connect"])
  }

  @Test(
    "each close code is a separate error, and only those that a retry would repeat are final", .rule("websocket.1"),
    arguments: [
      (4400, WebSocketError.Code.badRequest, true), (4401, .unauthorized, true), (4403, .forbidden, true),
      (4406, .subprotocolRefused, true), (4408, .acknowledgementTimeout, false), (4409, .subscriberExists, true),
      (4429, .tooManyInitialisations, true), (4500, .serverFailed, true), (1000, .connectionLost, false),
      (1001, .connectionLost, false), (1005, .connectionLost, false), (1006, .connectionLost, false),
      (1011, .serverFailed, false),
      (1012, .closed, false), (1009, .closed, true), (1002, .closed, true), (1008, .closed, true), (4999, .closed, false),
    ] as [(UInt16, WebSocketError.Code, Bool)])
  func closeCodes(number: UInt16, code: WebSocketError.Code, isFatal: Bool) {
    var run = SessionRun.ready()
    run.session.closed(WebSocketCloseCode(rawValue: number), reason: "because")
    if isFatal {
      #expect(run.words() == ["1 failed \(code)"])
    } else {
      #expect(run.words() == ["warning", "1 is reconnecting", "start reconnect 0.5 seconds"])
    }
    let error = WebSocketError.closed(WebSocketCloseCode(rawValue: number), reason: "because", url: "ws://x")
    #expect(error.code == code)
    #expect(error.closeCode?.rawValue == number)
    #expect(error.message.contains("; "), "the next step is missing: \(error)")
    if number != 1005, number != 1006 { #expect(error.message.contains(#"\#(number) ("because")"#)) }
  }

  @Test("a lost connection is opened again, later each time, and what waited is sent with new ids", .rule("websocket.2"))
  func reconnecting() {
    var run = SessionRun.ready([(1, .subscription), (2, .query)]) { $0.reconnection.maximumAttempts = 3 }
    run.session.closed(.abnormal, reason: "")
    #expect(run.words() == ["warning", "1 is reconnecting", "2 is reconnecting", "start reconnect 0.5 seconds"])
    run.session.fired(.reconnect)
    #expect(run.words() == ["connect"])
    run.session.failed(WebSocketError(.cannotConnect, "no; wait", url: ""))
    #expect(run.words() == ["warning", "1 is reconnecting", "2 is reconnecting", "start reconnect 1.0 seconds"])
    run.session.fired(.reconnect)
    run.session.opened(initialPayload: nil)
    _ = run.words()
    run.receive(Self.ack)
    #expect(
      run.words() == [
        "start stable 10.0 seconds", #"send {"id":"3","payload":{},"type":"subscribe"}"#, "1 is active",
        #"send {"id":"4","payload":{},"type":"subscribe"}"#, "2 is active",
      ])
    // Results with the ids of the old connection are ignored.
    run.receive(#"{"id":"1","type":"next","payload":{}}"#)
    #expect(run.words() == ["note"])
    run.session.closed(.goingAway, reason: "")
    #expect(run.words().last == "start reconnect 2.0 seconds")
    run.session.fired(.reconnect)
    run.session.failed(WebSocketError(.cannotConnect, "no; wait", url: ""))
    #expect(run.words() == ["connect", "1 failed cannotConnect", "2 failed cannotConnect"])
    #expect(run.session.phase == .idle)
  }

  @Test("a connection that lasted starts the count of attempts again", .rule("websocket.2"))
  func stable() {
    var run = SessionRun.ready { $0.reconnection.maximumAttempts = 1 }
    for _ in 0..<3 {
      run.session.closed(.abnormal, reason: "")
      #expect(run.words() == ["warning", "1 is reconnecting", "start reconnect 0.5 seconds"])
      run.session.fired(.reconnect)
      run.session.opened(initialPayload: nil)
      run.receive(Self.ack)
      run.session.fired(.stable)
      _ = run.words()
    }
    run.session.closed(.abnormal, reason: "")
    run.session.fired(.reconnect)
    run.session.opened(initialPayload: nil)
    run.receive(Self.ack)
    _ = run.words()
    run.session.closed(.abnormal, reason: "")
    #expect(run.words() == ["1 failed connectionLost"])
  }

  @Test(
    "delays grow to their limit, and jitter takes at most half", .rule("websocket.2"),
    arguments: [(0.0, 0.5), (0.5, 0.75), (1.0, 1.0)])
  func delays(jitter: Double, share: Double) {
    for (attempts, seconds) in [(1, 0.5), (2, 1.0), (3, 2.0), (7, 30.0), (200, 30.0)] {
      var run = SessionRun.ready { options in
        options.reconnection.maximumAttempts = 1000
        options.reconnection.jitter = { jitter }
      }
      var last: [String] = []
      for _ in 0..<attempts {
        run.session.closed(.abnormal, reason: "")
        last = run.words()
        run.session.fired(.reconnect)
      }
      #expect(last.last == "start reconnect \(Duration.seconds(seconds) * share)")
    }
  }

  @Test("a mutation in flight fails and is never sent again; one that waited is sent", .rule("websocket.2"))
  func mutations() {
    var run = SessionRun.ready([(1, .mutation), (2, .subscription)])
    run.session.closed(.abnormal, reason: "")
    let actions = run.session.takeActions()
    guard case .deliver(1, .failed(let error))? = actions.first(where: { if case .deliver(1, _) = $0 { true } else { false } })
    else {
      Issue.record("\(actions)")
      return
    }
    #expect(error.mayHaveBeenSent)
    #expect(error.message.contains("may have been executed"))
    run.subscribe(3, .mutation)
    run.session.fired(.reconnect)
    run.session.opened(initialPayload: nil)
    _ = run.words()
    run.receive(Self.ack)
    #expect(
      run.words().filter { $0.hasPrefix("send") } == [
        #"send {"id":"3","payload":{},"type":"subscribe"}"#, #"send {"id":"4","payload":{},"type":"subscribe"}"#,
      ])
  }

  @Test("a query whose results began is not asked again", .rule("websocket.2"))
  func begunQuery() {
    var run = SessionRun.ready([(1, .query), (2, .query)])
    run.receive(#"{"id":"1","type":"next","payload":{}}"#)
    _ = run.words()
    run.session.closed(.abnormal, reason: "")
    #expect(run.words() == ["1 failed connectionLost", "warning", "2 is reconnecting", "start reconnect 0.5 seconds"])
  }

  @Test("ids never repeat over the life of a session", .rule("websocket.2"))
  func identifiers() {
    var run = SessionRun.ready()
    var seen: Set<String> = []
    var token: UInt64 = 1
    for round in 0..<20 {
      for _ in 0..<10 {
        token += 1
        run.subscribe(token)
        if token.isMultiple(of: 3) { run.session.unsubscribe(token - 1) }
      }
      run.session.closed(round.isMultiple(of: 2) ? .abnormal : .goingAway, reason: "")
      run.session.fired(.reconnect)
      run.session.opened(initialPayload: nil)
      run.receive(Self.ack)
      run.session.fired(.stable)
      for word in run.words() where word.hasSuffix(#""type":"subscribe"}"#) {
        #expect(seen.insert(String(word.prefix { $0 != "," })).inserted, "\(word)")
      }
    }
    #expect(seen.count > 200)
  }

  @Test("unsubscribing notifies the server, in the words of the protocol", arguments: WebSocketProtocol.allCases)
  func unsubscribing(dialect: WebSocketProtocol) {
    var run = SessionRun.ready([(1, .subscription), (2, .subscription)]) { $0.dialect = dialect }
    run.session.unsubscribe(1)
    run.session.unsubscribe(1)
    #expect(run.words() == [#"send {"id":"1","type":"\#(dialect == .graphQLWS ? "stop" : "complete")"}"#])
  }

  @Test("an operation that was left before it could be sent is never sent")
  func leftEarly() {
    var run = SessionRun()
    run.subscribe(1)
    run.session.unsubscribe(1)
    run.session.opened(initialPayload: nil)
    _ = run.words()
    run.receive(Self.ack)
    #expect(run.words() == ["start idle 60.0 seconds"])
    var waiting = SessionRun.ready()
    waiting.session.closed(.abnormal, reason: "")
    waiting.session.unsubscribe(1)
    _ = waiting.words()
    #expect(waiting.session.phase == .idle)
    waiting.session.fired(.reconnect)
    #expect(waiting.words().isEmpty)
  }

  @Test("more operations than may wait are refused")
  func tooMany() {
    var run = SessionRun { $0.maximumWaitingOperations = 2 }
    for token in 1...3 { run.subscribe(UInt64(token)) }
    #expect(run.words() == ["connect", "3 failed tooManyOperations"])
  }

  @Test(
    "a message of an unknown type is logged, and affects no operation", .rule("legacy.19"),
    arguments: [#"{"type":"data","id":"1","payload":{}}"#, #"{"type":"notice"}"#, #"{"type":""}"#])
  func unknownType(text: String) {
    var run = SessionRun.ready()
    run.receive(text)
    #expect(run.words() == ["warning"])
    run.receive(#"{"id":"1","type":"next","payload":{"data":1}}"#)
    #expect(run.words() == [#"1 gets {"data":1}"#])
    var early = SessionRun()
    early.subscribe(1)
    early.session.opened(initialPayload: nil)
    _ = early.words()
    early.receive(text)
    early.receive(#"{"type":"connection_ack"}"#)
    #expect(early.words().contains("1 is active"))
  }

  @Test(
    "messages that are not valid end the connection with a clear error", .rule("websocket.1"),
    arguments: ["", "nonsense", "[]", "{}", #"{"type":7}"#, #"{"type":"next","payload":{}}"#])
  func invalid(text: String) {
    var run = SessionRun.ready()
    run.receive(text)
    #expect(run.words() == ["close 4004", "1 failed invalidMessage"])
    var binary = SessionRun.ready()
    binary.session.receivedBinary()
    #expect(binary.words() == ["close 1003", "1 failed invalidMessage"])
  }

  @Test("our pings are sent when nothing came, and any sign of life answers them", arguments: WebSocketProtocol.allCases)
  func keepAlive(dialect: WebSocketProtocol) {
    var run = SessionRun { options in
      options.dialect = dialect
      options.pingInterval = .seconds(20)
    }
    run.subscribe(1)
    run.session.opened(initialPayload: nil)
    run.receive(Self.ack)
    #expect(run.words().contains("start ping 20.0 seconds"))
    run.session.fired(.ping)
    let ping = dialect == .graphQLWS ? "ping frame" : #"send {"type":"ping"}"#
    #expect(run.words() == [ping, "start pong 10.0 seconds"])
    run.session.sawSignOfLife()
    #expect(run.words() == ["start ping 20.0 seconds"])
    run.session.fired(.ping)
    _ = run.words()
    run.session.fired(.pong)
    #expect(run.words() == ["close 1001", "warning", "1 is reconnecting", "start reconnect 0.5 seconds"])
  }

  @Test("while nothing is read no answer to a ping is expected")
  func pausedReading() {
    var run = SessionRun.ready { $0.pingInterval = .seconds(20) }
    run.session.fired(.ping)
    _ = run.words()
    run.session.readingPaused(true)
    #expect(run.words() == ["start ping 20.0 seconds"])
    run.session.fired(.pong)
    run.session.fired(.ping)
    #expect(run.words() == ["start ping 20.0 seconds"])
    run.session.readingPaused(false)
    run.session.fired(.ping)
    #expect(run.words() == [#"send {"type":"ping"}"#, "start pong 10.0 seconds"])
  }

  @Test("in the older protocol a refusal ends the connection with what the server says", .rule("websocket.3"))
  func refused() {
    var run = SessionRun { $0.dialect = .graphQLWS }
    run.subscribe(1)
    run.session.opened(initialPayload: nil)
    _ = run.words()
    run.receive(#"{"type":"connection_error","payload":{"message":"who are you"}}"#)
    #expect(run.words() == ["close 1000", "1 failed initialisationRefused"])
  }

  @Test("the older protocol goes its whole way", .rule("websocket.3"))
  func legacy() {
    var run = SessionRun { $0.dialect = .graphQLWS }
    run.subscribe(1)
    run.session.opened(initialPayload: nil)
    run.receive(#"{"type":"ka"}"#)
    run.receive(Self.ack)
    #expect(run.words().contains(#"send {"id":"1","payload":{},"type":"start"}"#))
    run.receive(#"{"type":"ka"}"#)
    run.receive(#"{"type":"data","id":"1","payload":{"data":1}}"#)
    run.receive(#"{"type":"complete","id":"1"}"#)
    #expect(run.words() == [#"1 gets {"data":1}"#, "1 is over", "start idle 60.0 seconds"])
    run.session.fired(.idle)
    #expect(run.words() == [#"send {"type":"connection_terminate"}"#, "close 1000"])
  }

  @Test("shutting down ends the running operations, notifies the server, and accepts no new ones")
  func shutDown() {
    var run = SessionRun.ready()
    run.session.shutDown()
    #expect(run.words() == [#"send {"id":"1","type":"complete"}"#, "1 failed shutDown", "close 1000"])
    run.session.shutDown()
    #expect(run.words().isEmpty)
    run.subscribe(2)
    #expect(run.words() == ["2 failed shutDown"])
    run.session.closed(.abnormal, reason: "")
    for timer in SocketSession.Timer.allCases { run.session.fired(timer) }
    #expect(run.words().isEmpty)
  }
}
