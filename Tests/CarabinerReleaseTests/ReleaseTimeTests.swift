import CarabinerRelease
import Foundation
import TestTools
import Testing

@Suite("Times of statements")
struct ReleaseTimeTests {
  @Test(
    "a time is read and written in one form", .rule("signature.2"),
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
      (1_709_164_800, "2024-02-29T00:00:00Z"), (1_795_305_600, "2026-11-22T00:00:00Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
      (253_402_300_799, "9999-12-31T23:59:59Z"),
    ])
  func form(seconds: Int, text: String) {
    #expect(ReleaseTime(seconds: seconds).description == text)
    #expect(ReleaseTime(text.utf8)?.seconds == seconds)
  }

  @Test("the calendar is that of Foundation, for days of 8,000 years", .rule("signature.2"))
  func calendar() throws {
    let formatter = ISO8601DateFormatter()
    for day in stride(from: 0, to: 2_900_000, by: 5) where day % 365 < 10 || day % 1461 == 59 {
      let time = ReleaseTime(seconds: day * 86_400 + day % 86_400)
      let text = time.description
      try #require(ReleaseTime(text.utf8) == time, "\(text)")
      if day % 7 == 0 { try #require(formatter.string(from: Date(timeIntervalSince1970: Double(time.seconds))) == text) }
    }
  }

  @Test(
    "other forms, and dates that do not exist, are refused", .rule("signature.2"),
    arguments: [
      "", "2026-11-22", "2026-11-22T00:00:00", "2026-11-22T00:00:00z", "2026-11-22 00:00:00Z", "2026-11-22T00:00:00Z ",
      "2026-11-22T00:00:00.0Z", "2026-11-22T00:00:00+00:00", "2026-00-22T00:00:00Z", "2026-13-22T00:00:00Z",
      "2026-11-00T00:00:00Z",
      "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-11-22T24:00:00Z", "2026-11-22T00:60:00Z",
      "2026-11-22T00:00:60Z", "1969-12-31T23:59:59Z", "-026-11-22T00:00:00Z", "2026-11-22T0a:00:00Z",
    ])
  func refused(text: String) { #expect(ReleaseTime(text.utf8) == nil) }

  @Test("Times outside of the notation become the nearest one inside")
  func bounds() {
    #expect(ReleaseTime(seconds: -1).seconds == 0)
    #expect(ReleaseTime(seconds: .max).description == "9999-12-31T23:59:59Z")
    #expect(ReleaseTime(seconds: 10).adding(seconds: .min).seconds == 0)
    #expect(ReleaseTime(seconds: 10).adding(seconds: .max).description == "9999-12-31T23:59:59Z")
  }
}
