import CarabinerWire
import NIOCore
import NIOWebSocket
import Testing

@testable import CarabinerGateway

@Suite("Messages in fragments over a WebSocket")
struct FrameAssemblyTests {
  private static func frame(_ opcode: WebSocketOpcode, _ text: String, isLast: Bool = false) -> WebSocketFrame {
    let key: WebSocketMaskingKey = [1, 2, 3, 4]
    var data = ByteBuffer(string: text)
    data.webSocketMask(key)
    return WebSocketFrame(fin: isLast, opcode: opcode, maskKey: key, data: data)
  }

  @Test("a fragment is added to its message without a copy of the earlier ones", arguments: ["", "x"])
  func inPlace(_ fragment: String) {
    var frames = FrameAssembly(maximumMessageBytes: 1 << 20)
    _ = frames.take(Self.frame(.text, String(repeating: "a", count: 10_000)))
    var moves = StorageMoves()
    for _ in 0..<2000 {
      guard case .nothing = frames.take(Self.frame(.continuation, fragment)) else {
        Issue.record("a fragment is refused")
        return
      }
      moves.look(at: frames.message)
    }
    // The storage doubles when it is full.
    #expect(moves.count <= 2)
    guard case .text(let text) = frames.take(Self.frame(.continuation, "b", isLast: true)) else {
      Issue.record("the message is refused")
      return
    }
    #expect(String(buffer: text) == String(repeating: "a", count: 10_000) + String(repeating: fragment, count: 2000) + "b")
  }

  @Test("a message with too many fragments is refused with 1009, and each message has its own count", arguments: ["", "x"])
  func limit(_ fragment: String) {
    var frames = FrameAssembly(maximumMessageBytes: 1000, maximumFragments: 3)
    for _ in 0..<2 {
      _ = frames.take(Self.frame(.text, fragment))
      _ = frames.take(Self.frame(.continuation, fragment))
      guard case .text = frames.take(Self.frame(.continuation, "end", isLast: true)) else {
        Issue.record("three fragments are refused")
        return
      }
    }
    for opcode in [.text, .continuation, .continuation] as [WebSocketOpcode] { _ = frames.take(Self.frame(opcode, fragment)) }
    guard case .violation(.messageTooLarge, let reason) = frames.take(Self.frame(.continuation, "", isLast: true)) else {
      Issue.record("a fourth fragment is taken")
      return
    }
    #expect(reason == "a message has at most 3 fragments")
  }
}
