import CarabinerWire
import Testing

@testable import CarabinerConformance

/// The lines of a child that a supervisor accepts.
@Suite("The report of a child")
struct TrialReportTests {
  private static let nonce = "6d1f"
  private static let finding = Finding("SE01", .failure, "a \"message\"\nof two lines", place: "on_request")

  private static func text(_ nonce: String = nonce, count: Int = 1) -> String {
    TrialReport.line(nonce, "finding", finding.json) + TrialReport.line(nonce, "skip", .string("why"))
      + TrialReport.line(nonce, "end", .number(JSONNumber(count)))
  }

  @Test("is read as it was written")
  func roundTrip() {
    let contents = TrialReport.read(Self.text(), nonce: Self.nonce)
    #expect(contents.findings == [Self.finding])
    #expect(contents.skip == "why")
    #expect(contents.isComplete)
    #expect(contents.strayLines == 0)
  }

  @Test("is not complete without its last line, or if that counts other findings", arguments: [0, 2])
  func incomplete(_ count: Int) {
    #expect(!TrialReport.read(Self.text(count: count), nonce: Self.nonce).isComplete)
    #expect(!TrialReport.read("", nonce: Self.nonce).isComplete)
  }

  @Test("lines with another nonce are not a report")
  func forged() {
    let contents = TrialReport.read(Self.text("0000") + "{\"end\":0}\nPASS\n", nonce: Self.nonce)
    #expect(contents.findings.isEmpty && contents.skip == nil && !contents.isComplete)
    #expect(contents.strayLines == 5)
  }

  @Test("cut anywhere is never complete, and changed anywhere never ends the supervisor")
  func damaged() {
    let bytes = Array(Self.text().utf8)
    for count in 0..<(bytes.count - 1) {
      #expect(!TrialReport.read(String(decoding: bytes[..<count], as: UTF8.self), nonce: Self.nonce).isComplete)
    }
    for index in bytes.indices {
      for byte: UInt8 in [0, 0x0A, 0x20, 0x22, 0x7D, 0xFF] {
        var changed = bytes
        changed[index] = byte
        #expect(TrialReport.read(String(decoding: changed, as: UTF8.self), nonce: Self.nonce).findings.count <= 1)
      }
    }
  }
}
