import CarabinerRESP
import TestTools
import Testing

/// Commands as bytes.
@Suite("Commands in RESP")
struct CommandBatchTests {
  private func text(_ commands: CommandBatch) -> String { String(decoding: commands.bytes, as: UTF8.self) }

  @Test("a command is an array of texts", .rule("redis.2"))
  func command() {
    var commands = CommandBatch()
    #expect(commands.bytes.isEmpty && commands.count == 0 && commands.isComplete)
    commands.begin("PING", arguments: 0)
    commands.begin("HMGET", arguments: 3)
    #expect(!commands.isComplete)
    commands.add("Büch")
    commands.add([0x0D, 0x0A, 0xFF] as [UInt8])
    commands.add(joining: "{crb:", "shop", "} v")
    #expect(commands.isComplete && commands.count == 2)
    let expected: [UInt8] =
      Array("*1\r\n$4\r\nPING\r\n*4\r\n$5\r\nHMGET\r\n$5\r\nBüch\r\n$3\r\n".utf8) + [0x0D, 0x0A, 0xFF]
      + Array("\r\n$12\r\n{crb:shop} v\r\n".utf8)
    #expect(commands.bytes == expected)
  }

  @Test("a number is written in digits", .rule("redis.2"), arguments: [0, 1, 9, 10, -1, -10, 1_234_567_890, Int.max, Int.min])
  func numbers(number: Int) {
    var commands = CommandBatch()
    commands.begin("X", arguments: 1)
    commands.add(number)
    #expect(text(commands) == "*2\r\n$1\r\nX\r\n$\("\(number)".count)\r\n\(number)\r\n")
  }

  @Test("batches are joined, and what was written is read as arrays of texts", .rule("redis.2"))
  func joined() throws {
    var first = CommandBatch(capacity: 100)
    first.begin("GET", arguments: 1)
    first.add("")
    var second = CommandBatch()
    second.begin("DEL", arguments: 2)
    second.add("a")
    second.add("a b"[...].utf8)
    first.append(second)
    #expect(first.count == 2)
    #expect(try ReplyReaderTests.read([first.bytes]) == [#"["GET" ""]"#, #"["DEL" "a" "a b"]"#])
    #expect(first.commands.map(\.count) == [1, 1])
    #expect(first.commands[1].bytes == second.bytes && first.commands.flatMap(\.bytes) == first.bytes)
  }
}
