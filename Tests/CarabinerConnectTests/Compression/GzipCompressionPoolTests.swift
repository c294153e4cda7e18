import CarabinerConnect
import Foundation
import TestTools
import Testing

@Suite("Compression with gzip")
struct GzipCompressionPoolTests {
  private let pool = GzipCompressionPool()

  private static func noise(_ count: Int) -> Data {
    var state: UInt64 = 1
    return Data(
      (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1
        return UInt8(truncatingIfNeeded: state >> 40)
      })
  }

  @Test(
    "data is the same after compression and decompression", .rule("connect.46"),
    arguments: [1, 100, 65_535, 65_536, 65_537, 1_000_000])
  func again(count: Int) throws {
    for data in [Data(repeating: 7, count: count), Self.noise(count)] {
      let compressed = try pool.compress(data: data)
      #expect(compressed.starts(with: [0x1F, 0x8B]))
      #expect(try pool.decompress(data: compressed) == data)
      #expect(try pool.decompress(data: compressed, maximumBytes: count) == data)
    }
  }

  @Test("data that begins as gzip is not compressed again", .rule("connect.34"))
  func twice() throws {
    let compressed = try pool.compress(data: Data("a".utf8))
    #expect(try pool.compress(data: compressed) == compressed)
  }

  @Test("several members are one message")
  func members() throws {
    let two = try pool.compress(data: Data("ab".utf8)) + pool.compress(data: Data("c".utf8))
    #expect(try pool.decompress(data: two) == Data("abc".utf8))
  }

  @Test("empty data stays empty", .rule("connect.46"))
  func empty() throws {
    #expect(try pool.decompress(data: Data()) == Data())
    #expect(try pool.decompress(data: try pool.compress(data: Data())) == Data())
  }

  @Test("data that is cut off, damaged, or followed by other data is malformed", .rule("connect.46"))
  func malformed() throws {
    let data = Self.noise(300)
    let compressed = try pool.compress(data: data)
    let cut = (1..<compressed.count).map { Data(compressed.prefix($0)) }
    var damaged = compressed
    damaged[damaged.endIndex - 6] ^= 1
    for bytes in cut + [damaged, compressed + [0], compressed + [0x1F], Data("{}".utf8)] {
      let error = try #require(throws: ConnectError.self) { try pool.decompress(data: bytes) }
      #expect(error.code == .internalError)
    }
  }

  @Test("a bomb is stopped at the limit", .rule("connect.46"))
  func bomb() throws {
    var bomb = Data()
    let member = try pool.compress(data: Data(count: 10 << 20))
    for _ in 0..<8 { bomb += member }
    for limit in [0, 1, 65_536, GzipCompressionPool.defaultMaximumBytes] {
      let error = try #require(throws: ConnectError.self) { try pool.decompress(data: bomb, maximumBytes: limit) }
      #expect(error.code == .resourceExhausted)
    }
  }
}
