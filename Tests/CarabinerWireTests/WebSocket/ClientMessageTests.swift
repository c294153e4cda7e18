import CarabinerWire
import TestTools
import Testing

@Suite("Messages of clients of GraphQL over WebSocket", .rule("websocket.1"))
struct ClientMessageTests {
  private func read(_ text: String) throws(ServerMessage.Fault) -> ClientMessage {
    let bytes = Array(text.utf8)
    return try ClientMessage(reading: bytes.span)
  }

  @Test(
    "a server reads the messages that a client writes",
    arguments: [
      .initialise(payload: nil), .initialise(payload: Array(#"{"a":[1]}"#.utf8)), .ping(payload: nil),
      .ping(payload: Array(#"{"x":1}"#.utf8)), .pong(payload: nil),
      .subscribe(id: "é\n\"", payload: Array(#"{"query":"{ a }"}"#.utf8)), .complete(id: "7"),
    ] as [ClientMessage])
  func roundTrip(message: ClientMessage) throws {
    let text = try #require(message.text(.graphQLTransportWS))
    #expect(try read(String(decoding: text, as: UTF8.self)) == message)
  }

  @Test("null counts as no payload, and unknown members are ignored")
  func tolerance() throws {
    #expect(try read(#"{ "payload" : null, "more": {}, "type" : "connection_init" }"#) == .initialise(payload: nil))
    #expect(try read(#"{"type":"ping","payload":{"x":1}}"#) == .ping(payload: Array(#"{"x":1}"#.utf8)))
  }

  @Test(
    "a type that is a server's, or of the older protocol, is named", arguments: ["next", "connection_ack", "start", "stop", ""])
  func unknown(type: String) {
    #expect(throws: ServerMessage.Fault.unknownType(type)) { try read(#"{"id":"1","type":"\#(type)","payload":{}}"#) }
  }

  @Test(
    "JSON that is not a message is refused",
    arguments: [
      "[]", "7", "{}", #"{"type":7}"#, #"{"type":"subscribe","id":"1"}"#, #"{"type":"subscribe","id":"1","payload":null}"#,
      #"{"type":"subscribe","payload":{}}"#, #"{"type":"subscribe","id":"","payload":{}}"#,
      #"{"type":"subscribe","id":1,"payload":{}}"#, #"{"type":"subscribe","id":"1","payload":[]}"#, #"{"type":"complete"}"#,
      #"{"type":"connection_init","payload":7}"#, #"{"type":"ping","payload":""}"#,
    ])
  func malformed(text: String) {
    #expect {
      try read(text)
    } throws: { error in
      if case ServerMessage.Fault.malformed = error { true } else { false }
    }
  }

  private func readAsClient(_ text: [UInt8]) throws(ServerMessage.Fault) -> ServerMessage {
    try ServerMessage(reading: text.span, .graphQLTransportWS)
  }

  @Test("a client reads the messages that a server writes")
  func serverMessages() throws {
    let text = ServerMessage.next(id: "é\"", payload: Array(#"{"data":{"a":1}}"#.utf8))
    let message = try readAsClient(text)
    #expect(message.kind == .next && message.id == "é\"")
    #expect(message.payload.map { String(decoding: text[$0], as: UTF8.self) } == #"{"data":{"a":1}}"#)
    #expect(try readAsClient(ServerMessage.errors(id: "1", Array(#"[{"message":"no"}]"#.utf8))).kind == .errors)
    #expect(try readAsClient(ServerMessage.complete(id: "1")).id == "1")
    #expect(try readAsClient(ServerMessage.acknowledgement).kind == .acknowledged)
    #expect(try readAsClient(ServerMessage.pong(payload: nil)).kind == .pong)
  }
}
