import TestTools
import Testing

@testable import CarabinerWorkers

@Suite("Allowances of a worker")
struct WorkerAllowanceTests {
  private static let second: UInt64 = 1_000_000_000

  @Test("requests of a turn are limited by their bytes, and one that is larger is paid by the next turns", .rule("worker.24e"))
  func requests() {
    var allowance = RequestAllowance()
    allowance.begin(at: Self.second)
    for _ in 0..<4 {
      #expect(allowance.hasRoom)
      allowance.spend(RequestAllowance.turnBytes / 4)
    }
    #expect(!allowance.hasRoom)
    // The rate fills in 1/256 s what a turn takes.
    allowance.begin(at: Self.second + Self.second / 256)
    #expect(allowance.hasRoom)
    allowance.spend(64 << 20)
    #expect(!allowance.hasRoom && !allowance.isUrgent)
    allowance.begin(at: Self.second + Self.second / 256 + Self.second / 5)
    #expect(!allowance.hasRoom && !allowance.isUrgent)
    allowance.begin(at: Self.second + Self.second / 256 + Self.second / 3)
    #expect(allowance.hasRoom && allowance.isUrgent)
  }

  @Test("requests without a message cost something too, and unused time is not saved", .rule("worker.24e"))
  func small() {
    var allowance = RequestAllowance()
    allowance.begin(at: 1000 * Self.second)
    var count = 0
    while allowance.hasRoom {
      allowance.spend(0)
      count += 1
    }
    #expect(count <= RequestAllowance.turnBytes / RequestAllowance.requestBytes)
    // A clock that goes back gives nothing.
    allowance.begin(at: 0)
    #expect(!allowance.hasRoom)
  }

  @Test("lines and bytes of a second are limited, over all ways together", .rule("worker.48"))
  func log() {
    let lines = LogAllowance()
    for _ in 0..<LogAllowance.maximumLines { #expect(lines.admits(1, at: 0)) }
    #expect(!lines.admits(1, at: Self.second - 1))
    #expect(lines.admits(1, at: Self.second))
    let bytes = LogAllowance()
    #expect(bytes.admits(LogAllowance.maximumBytes, at: 0))
    #expect(!bytes.admits(1, at: 0))
    #expect(bytes.admits(1, at: Self.second))
  }

  @Test("lines of plugins for a report are cut and drive no terminal", .rule("worker.48"))
  func lastLines() {
    let lines = WorkerLines()
    let line: [UInt8] = [0xC2, 0x9B, 0x33] + Array("31m\u{202E}".utf8) + Array(repeating: 0x78, count: 1000)
    unsafe line.withUnsafeBytes { unsafe lines.add($0) }
    #expect(lines.texts.count == 1 && lines.texts[0].hasPrefix(#"\u009b331m\u202exxx"#))
    #expect(lines.texts[0].utf8.count < 300)
  }
}
