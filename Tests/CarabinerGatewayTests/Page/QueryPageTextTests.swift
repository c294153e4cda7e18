import NIOCore
import Testing

@testable import CarabinerGateway

@Suite("The text of the query page (issue 13, item 25)")
struct QueryPageTextTests {
  private let page = String(buffer: QueryPage().body)

  @Test("a field is as wide as its placeholder")
  func placeholders() {
    let fields = page.matches(of: /placeholder="([^"]+)" size="([0-9]+)"/)
    #expect(!fields.isEmpty)
    for field in fields { #expect(field.1.count <= Int(field.2) ?? 0, "\(field.1) is cut") }
  }

  @Test("a request shows that it runs, and a subscription that it waits for its first result")
  func waiting() throws {
    let asked = try #require(page.firstRange(of: #""running…""#))
    let sent = try #require(page.firstRange(of: "await fetch("))
    #expect(asked.upperBound < sent.lowerBound)
    let waiting = try #require(page.firstRange(of: #""connected, waiting for the first result…""#))
    let read = try #require(page.firstRange(of: "await reader.read()"))
    #expect(waiting.upperBound < read.lowerBound)
  }
}
