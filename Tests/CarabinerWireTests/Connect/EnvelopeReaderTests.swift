import CarabinerWire
import TestTools
import Testing

@Suite("Envelopes of Connect and gRPC-Web")
struct EnvelopeReaderTests {
  /// A stream, and what is read of it.
  struct Stream: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let bytes: [UInt8]
    var allowedFlags: UInt8 = 3
    var envelopes: [Envelope] = []
    var error: EnvelopeError?
  }

  static let limit = 1000

  static let streams = [
    Stream(testDescription: "nothing", bytes: []),
    Stream(testDescription: "an empty message", bytes: [0, 0, 0, 0, 0], envelopes: [Envelope(flags: 0, bytes: [])]),
    Stream(
      testDescription: "three messages", bytes: [0, 0, 0, 0, 2, 7, 8, 1, 0, 0, 0, 0, 2, 0, 0, 0, 1, 9],
      envelopes: [
        Envelope(flags: 0, bytes: [7, 8]), Envelope(flags: 1, bytes: []), Envelope(flags: 2, bytes: [9]),
      ]),
    Stream(
      testDescription: "a message of the largest size", bytes: [3, 0, 0, 3, 0xE8] + Array(repeating: 5, count: 1000),
      envelopes: [Envelope(flags: 3, bytes: Array(repeating: 5, count: 1000))]),
    Stream(
      testDescription: "a message that is one byte too long", bytes: [0, 0, 0, 3, 0xE9, 1],
      error: .tooLong(declared: 1001, limit: 1000)),
    Stream(
      testDescription: "the largest declared length, after a message", bytes: [0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
      envelopes: [Envelope(flags: 0, bytes: [])], error: .tooLong(declared: 0xFFFF_FFFF, limit: 1000)),
    Stream(testDescription: "the flag of gRPC-Web in Connect", bytes: [0x80, 0, 0, 0, 0], error: .unknownFlags(0x80)),
    Stream(testDescription: "all six high bits", bytes: [0xFC, 0, 0, 0, 0], error: .unknownFlags(0xFC)),
    Stream(
      testDescription: "the flags of gRPC-Web", bytes: [0x81, 0, 0, 0, 1, 4], allowedFlags: 0x81,
      envelopes: [Envelope(flags: 0x81, bytes: [4])]),
    Stream(
      testDescription: "the flag of Connect in gRPC-Web", bytes: [2, 0, 0, 0, 0], allowedFlags: 0x81, error: .unknownFlags(2)),
    Stream(testDescription: "cut off in the length", bytes: [0, 0, 0, 0], error: .truncated),
    Stream(testDescription: "cut off after the length", bytes: [0, 0, 0, 0, 1], error: .truncated),
    Stream(
      testDescription: "cut off in the second message", bytes: [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 3, 1, 2],
      envelopes: [Envelope(flags: 0, bytes: [1])], error: .truncated),
  ]

  private func read(_ chunks: [ArraySlice<UInt8>], _ stream: Stream) -> (envelopes: [Envelope], error: EnvelopeError?) {
    var reader = EnvelopeReader(allowedFlags: stream.allowedFlags, maximumBytes: Self.limit)
    var envelopes: [Envelope] = []
    do throws(EnvelopeError) {
      for chunk in chunks {
        reader.append(chunk)
        while let envelope = try reader.next() { envelopes.append(envelope) }
      }
      reader.finish()
      while let envelope = try reader.next() { envelopes.append(envelope) }
    } catch {
      #expect(throws: error) { try reader.next() }
      return (envelopes, error)
    }
    return (envelopes, nil)
  }

  @Test("a stream is read the same, wherever it is cut in two", .rule("connect.37", "connect.50"), arguments: streams)
  func everySplit(stream: Stream) {
    for place in 0...stream.bytes.count {
      let reading = read([stream.bytes[..<place], stream.bytes[place...]], stream)
      #expect(reading.envelopes == stream.envelopes, "cut at \(place)")
      #expect(reading.error == stream.error, "cut at \(place)")
    }
  }

  @Test("a stream is read the same, byte by byte", arguments: streams)
  func singleBytes(stream: Stream) {
    let reading = read(stream.bytes.indices.map { stream.bytes[$0...$0] }, stream)
    #expect(reading.envelopes == stream.envelopes)
    #expect(reading.error == stream.error)
  }

  @Test("after it is closed, a reader has nothing more")
  func closed() throws {
    var reader = EnvelopeReader(allowedFlags: 3, maximumBytes: Self.limit)
    reader.append([0, 0, 0, 0, 0, 0, 0])
    reader.close()
    reader.append([0, 0, 0, 0, 0])
    #expect(try reader.next() == nil)
  }

  @Test("the prefix has the flags and the length, big-endian", .rule("connect.37"))
  func prefix() {
    #expect(Envelope.prefix(flags: 1, length: 0x0102_0304) == [1, 1, 2, 3, 4])
    #expect(Envelope.prefix(flags: 0, length: 0xFFFF_FFFF) == [0, 0xFF, 0xFF, 0xFF, 0xFF])
    #expect(Envelope.prefix(flags: 0, length: 0x1_0000_0000) == nil)
  }
}
