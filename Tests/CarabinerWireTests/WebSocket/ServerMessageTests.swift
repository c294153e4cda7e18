import CarabinerWire
import TestTools
import Testing

@Suite("Messages of GraphQL over WebSocket")
struct ServerMessageTests {
  private func read(_ text: String, _ dialect: WebSocketProtocol = .graphQLTransportWS) throws(ServerMessage.Fault)
    -> ServerMessage
  {
    let bytes = Array(text.utf8)
    return try ServerMessage(reading: bytes.span, dialect)
  }

  @Test(
    "each message of a protocol is known by its type", .rule("websocket.1", "websocket.3"),
    arguments: [
      (#"{"type":"connection_ack"}"#, WebSocketProtocol.graphQLTransportWS, ServerMessage.Kind.acknowledged, nil, nil),
      (#"{"payload":{"a":1},"type":"connection_ack"}"#, .graphQLWS, .acknowledged, nil, #"{"a":1}"#),
      (#"{"type":"ping","payload":{"x":[]}}"#, .graphQLTransportWS, .ping, nil, #"{"x":[]}"#),
      (#"{"type":"pong"}"#, .graphQLTransportWS, .pong, nil, nil),
      (#"{"type":"ka"}"#, .graphQLWS, .pong, nil, nil),
      (#"{ "id" : "7" , "type":"next","payload": {"data":null} }"#, .graphQLTransportWS, .next, "7", #"{"data":null}"#),
      (#"{"id":"é\n","type":"data","payload":{}}"#, .graphQLWS, .next, "é\n", "{}"),
      (#"{"id":"7","type":"error","payload":[{"message":"no"}]}"#, .graphQLTransportWS, .errors, "7", #"[{"message":"no"}]"#),
      (#"{"id":"7","type":"error","payload":{"message":"no"}}"#, .graphQLWS, .errors, "7", #"{"message":"no"}"#),
      (#"{"type":"complete","id":"7"}"#, .graphQLTransportWS, .complete, "7", nil),
      (#"{"type":"\u0063omplete","id":"7"}"#, .graphQLTransportWS, .complete, "7", nil),
      (#"{"type":"connection_error","payload":{"message":"no"}}"#, .graphQLWS, .refused, nil, #"{"message":"no"}"#),
    ] as [(String, WebSocketProtocol, ServerMessage.Kind, String?, String?)])
  func kinds(
    text: String, dialect: WebSocketProtocol, kind: ServerMessage.Kind, id: String?, payload: String?
  ) throws {
    let message = try read(text, dialect)
    #expect(message.kind == kind)
    #expect(message.id == id)
    #expect(message.payload.map { String(decoding: Array(text.utf8)[$0], as: UTF8.self) } == payload)
  }

  @Test(
    "a type the protocol lacks is named", .rule("websocket.1"),
    arguments: [
      ("data", WebSocketProtocol.graphQLTransportWS), ("ka", .graphQLTransportWS), ("connection_error", .graphQLTransportWS),
      ("next", .graphQLWS), ("ping", .graphQLWS), ("subscribe", .graphQLTransportWS), ("", .graphQLTransportWS),
    ])
  func unknown(type: String, dialect: WebSocketProtocol) {
    #expect(throws: ServerMessage.Fault.unknownType(type)) {
      try read(#"{"id":"1","type":"\#(type)","payload":{}}"#, dialect)
    }
  }

  @Test(
    "JSON that is not a message is refused", .rule("websocket.1"),
    arguments: [
      "[]", "7", "{}", #"{"type":7}"#, #"{"type":"next"}"#, #"{"type":"next","id":"1"}"#, #"{"type":"next","id":1,"payload":{}}"#,
      #"{"type":"next","id":"1","payload":[]}"#, #"{"type":"error","id":"1","payload":{}}"#, #"{"type":"error","id":"1"}"#,
      #"{"type":"complete"}"#, #"{"type":"complete","id":null}"#,
    ])
  func malformed(text: String) {
    #expect {
      try read(text)
    } throws: { error in
      if case ServerMessage.Fault.malformed = error { true } else { false }
    }
  }

  @Test(
    "invalid JSON is refused with the place", .rule("websocket.1"),
    arguments: ["", "{", #"{"type":"complete","id":"1"} x"#, "\u{FEFF}{}"])
  func invalid(text: String) {
    #expect {
      try read(text)
    } throws: { error in
      if case ServerMessage.Fault.invalidJSON = error { true } else { false }
    }
  }

  @Test("no prefix of a message is accepted as a message")
  func cuts() {
    let text = #"{"id":"12","type":"next","payload":{"data":{"a":[1,"é"]}}}"#
    for length in 0..<text.utf8.count {
      let bytes = Array(text.utf8.prefix(length))
      #expect(throws: ServerMessage.Fault.self) { try ServerMessage(reading: bytes.span, .graphQLTransportWS) }
    }
  }

  @Test(
    "the messages of a client, in both protocols", .rule("websocket.1", "websocket.3"),
    arguments: [
      (ClientMessage.initialise(payload: nil), #"{"type":"connection_init"}"#, #"{"type":"connection_init"}"#),
      (
        .initialise(payload: Array(#"{"t":1}"#.utf8)), #"{"payload":{"t":1},"type":"connection_init"}"#,
        #"{"payload":{"t":1},"type":"connection_init"}"#
      ),
      (
        .subscribe(id: "1", payload: Array("{}".utf8)), #"{"id":"1","payload":{},"type":"subscribe"}"#,
        #"{"id":"1","payload":{},"type":"start"}"#
      ),
      (.complete(id: "1"), #"{"id":"1","type":"complete"}"#, #"{"id":"1","type":"stop"}"#),
      (.ping(payload: nil), #"{"type":"ping"}"#, nil),
      (.pong(payload: nil), #"{"type":"pong"}"#, nil),
      (.terminate, nil, #"{"type":"connection_terminate"}"#),
    ] as [(ClientMessage, String?, String?)])
  func client(message: ClientMessage, new: String?, old: String?) {
    #expect(message.text(.graphQLTransportWS).map { String(decoding: $0, as: UTF8.self) } == new)
    #expect(message.text(.graphQLWS).map { String(decoding: $0, as: UTF8.self) } == old)
  }
}
