import CarabinerWire
import NIOCore
import NIOWebSocket
import Testing

@testable import CarabinerGateway

@Suite("A client's frames and messages over WebSocket (graphql-transport-ws, RFC 6455)")
struct SocketConversationTests {
  private func initialised() -> SocketConversation {
    var conversation = SocketConversation()
    _ = conversation.received(Array(#"{"type":"connection_init"}"#.utf8)) { _ in false }
    return conversation
  }

  private func closing(_ text: String, _ conversation: SocketConversation) -> (code: WebSocketCloseCode, reason: String)? {
    var conversation = conversation
    guard case .close(let code, let reason) = conversation.received(Array(text.utf8), isTaken: { $0 == "taken" }) else {
      return nil
    }
    return (code, reason)
  }

  @Test(
    "a subscribe message without an operation breaks the protocol",
    arguments: [
      "{}", #"{"query":7}"#, #"{"query":null}"#, #"{"extensions":{}}"#, #"{"query":"{ a }","variables":[]}"#,
      #"{"query":"{ a }","operationName":1}"#, #"{"query":"{ a }","extensions":"x"}"#,
      #"{"extensions":{"persistedQuery":{"version":2}}}"#, "[]", "null",
    ])
  func malformed(payload: String) throws {
    let end = try #require(closing(#"{"id":"1","type":"subscribe","payload":\#(payload)}"#, initialised()))
    #expect(end.code == .badRequest)
    #expect(end.reason.hasPrefix("Invalid message received: "))
  }

  @Test("an operation that cannot be executed is not a protocol error", arguments: [#"{"query":"{ a "}"#, #"{"query":""}"#])
  func operation(payload: String) {
    var conversation = initialised()
    let reaction = conversation.received(Array(#"{"id":"1","type":"subscribe","payload":\#(payload)}"#.utf8)) { _ in false }
    guard case .begin(id: "1", _) = reaction else {
      Issue.record("\(reaction)")
      return
    }
  }

  @Test("the reasons are those of the protocol")
  func reasons() throws {
    let subscribe = #"{"id":"taken","type":"subscribe","payload":{"query":"{ a }"}}"#
    let early = try #require(closing(subscribe, SocketConversation()))
    #expect(early.code == .unauthorized && early.reason == "Unauthorized")
    let taken = try #require(closing(subscribe, initialised()))
    #expect(taken.code == .subscriberExists && taken.reason == "Subscriber for taken already exists")
    let again = try #require(closing(#"{"type":"connection_init"}"#, initialised()))
    #expect(again.code == .tooManyInitialisations && again.reason == "Too many initialisation requests")
  }

  @Test("a pong has the payload of its ping")
  func pong() {
    var conversation = SocketConversation()
    guard
      case .pong(let payload?) = conversation.received(Array(#"{"type":"ping","payload":{"a":1}}"#.utf8), isTaken: { _ in false })
    else {
      Issue.record("no pong with a payload")
      return
    }
    #expect(ServerMessage.pong(payload: payload) == Array(#"{"type":"pong","payload":{"a":1}}"#.utf8))
  }

  // MARK: Frames

  private func event(_ opcode: WebSocketOpcode, _ bytes: [UInt8], first: [UInt8]? = nil) -> FrameAssembly.Event {
    var frames = FrameAssembly(maximumMessageBytes: 1000)
    if let first {
      _ = frames.take(WebSocketFrame(fin: false, opcode: .text, maskKey: [0, 0, 0, 0], data: ByteBuffer(bytes: first)))
    }
    return frames.take(WebSocketFrame(fin: true, opcode: opcode, maskKey: [0, 0, 0, 0], data: ByteBuffer(bytes: bytes)))
  }

  @Test(
    "a close code that is reserved or undefined is answered with 1002",
    arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000])
  func reserved(number: Int) {
    guard case .violation(.protocolError, _) = event(.connectionClose, [UInt8(number >> 8), UInt8(number & 255)]) else {
      Issue.record("\(number) is taken")
      return
    }
  }

  @Test("a close code that a client may send is taken", arguments: [1000, 1001, 1003, 1007, 1011, 1014, 3000, 4400, 4999])
  func sendable(number: Int) {
    guard case .close(let code) = event(.connectionClose, [UInt8(number >> 8), UInt8(number & 255)] + Array("bye".utf8)) else {
      Issue.record("\(number) is refused")
      return
    }
    #expect(code.rawValue == UInt16(number))
  }

  @Test(
    "text that is not UTF-8 is answered with 1007, in messages and in reasons",
    arguments: [
      (.text, [0xFF], nil), (.text, [0xED, 0xA0, 0x80], nil), (.continuation, [0x41], [0xC3]),
      (.connectionClose, [3, 232, 0xC3], nil),
    ] as [(WebSocketOpcode, [UInt8], [UInt8]?)])
  func notUTF8(opcode: WebSocketOpcode, bytes: [UInt8], first: [UInt8]?) {
    guard case .violation(.invalidData, _) = event(opcode, bytes, first: first) else {
      Issue.record("\(bytes) is taken")
      return
    }
  }

  @Test("a character may be cut in two by frames")
  func cutCharacter() {
    guard case .text(let text) = event(.continuation, [0xA9], first: [0xC3]) else {
      Issue.record("a valid message is refused")
      return
    }
    #expect(String(buffer: text) == "é")
  }

  @Test("the reason of a close frame is cut between characters")
  func longReason() {
    let payload = WebSocketCloseCode.badRequest.payload(reason: String(repeating: "é", count: 100))
    #expect(payload.count <= 125)
    #expect(String(validating: payload.dropFirst(2), as: UTF8.self)?.count == 61)
  }
}
