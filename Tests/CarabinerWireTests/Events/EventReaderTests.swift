import CarabinerWire
import Testing

@Suite("Event streams")
struct EventReaderTests {
  private struct Reading: Equatable {
    var events: [String] = []
    var isTooLarge = false
  }

  private func reading(_ chunks: [ArraySlice<UInt8>], limit: Int = 1000) -> Reading {
    var reader = EventReader(maximumEventBytes: limit)
    var reading = Reading()
    do throws(EventTooLarge) {
      for chunk in chunks {
        reader.append(chunk)
        while let event = try reader.next() {
          reading.events.append("\(event.type)=\(String(decoding: event.data, as: UTF8.self))")
        }
      }
    } catch {
      reading.isTooLarge = true
    }
    return reading
  }

  private func reading(_ text: String, limit: Int = 1000) -> Reading { reading([Array(text.utf8)[...]], limit: limit) }

  static let streams: [(String, [String])] = [
    ("event: next\ndata: {\"a\":1}\n\nevent: complete\ndata:\n\n", ["next={\"a\":1}", "complete="]),
    ("event:next\r\ndata:x\r\n\r\n", ["next=x"]), ("event: next\rdata: x\r\r", ["next=x"]),
    ("data: a\ndata: b\ndata\n\n", ["message=a\nb\n"]), ("data:  two spaces\n\n", ["message= two spaces"]),
    (":\n\n: ping\n\n:\r\n\r\ndata: x\n\n", ["message=x"]), ("event: complete\n\n", ["complete="]),
    ("id: 7\nretry: 10\nother: y\ndata: x\n\n", ["message=x"]), ("\u{FEFF}data: x\n\n", ["message=x"]),
    ("data: x\n", []), ("data: x", []), ("", []), ("\n\n\n", []),
    ("event: next\n\ndata: x\n\n", ["next=", "message=x"]),
    ("data: a\n\ndata: b\r\n\r\ndata: c\r\r", ["message=a", "message=b", "message=c"]),
    ("event: next\ndata: ü\r\ndata: 日本\n\n", ["next=ü\n日本"]),
  ]

  @Test("lines, fields and comments are read as the standard says, however the bytes are cut", arguments: streams)
  func events(_ text: String, _ expected: [String]) {
    let bytes = Array(text.utf8)
    for place in 0...bytes.count {
      #expect(reading([bytes[..<place], bytes[place...]]).events == expected, "cut at \(place)")
    }
    #expect(reading(bytes.indices.map { bytes[$0...$0] }).events == expected)
  }

  @Test("a line and an event above the limit are refused when the limit is exceeded, without their end")
  func limits() {
    let line = String(repeating: "x", count: 200)
    #expect(reading(line, limit: 100).isTooLarge)
    #expect(reading("data: \(line)", limit: 100).isTooLarge)
    #expect(reading(String(repeating: "data: 0123456789\n", count: 20), limit: 100).isTooLarge)
    #expect(reading(String(repeating: "data: 0123456789\n\n", count: 20), limit: 100).events.count == 20)
    #expect(reading(String(repeating: ": ping\n", count: 1000), limit: 100) == Reading())
  }
}
