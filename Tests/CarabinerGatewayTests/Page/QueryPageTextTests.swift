import NIOCore
import Testing

@testable import CarabinerGateway

@Suite("The text of the query page")
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

  @Test("each end of a request replaces the text that it runs, also if it was not sent")
  func ends() throws {
    let failed = try #require(page.firstMatch(of: #/catch \(error\) \{\n\s+part\("status"\)\.textContent = /#))
    let running = try #require(page.firstRange(of: #""running…""#))
    #expect(running.upperBound < failed.range.lowerBound)
    #expect(page.contains("the variables are not JSON"))
  }

  @Test("no column and no field is wider than the window of a phone")
  func width() {
    #expect(page.matches(of: #/grid-template: [^;]*/ ([^;]*);/#).allSatisfy { $0.1.contains("minmax(0, 1fr)") })
    #expect(page.contains("flex-wrap: wrap") && page.contains("min-width: 0; flex: 0 1 auto"))
  }
}
