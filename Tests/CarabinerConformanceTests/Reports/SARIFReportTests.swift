import CarabinerWire
import Testing

@testable import CarabinerConformance

@Suite("The report in SARIF")
struct SARIFReportTests {
  @Test("each finding and each crash names the plugin's file, with the line that code scanning requires")
  func locations() throws {
    let check = try #require(Catalog.checks.first)
    let finding = Finding(check.id, .warning, "a message", place: "on_request")
    let outcomes = [
      CheckOutcome(check: check, status: .warn, findings: [finding], duration: .zero, output: ""),
      CheckOutcome(check: check, status: .crash("SIGSEGV", hook: "on_head"), findings: [], duration: .zero, output: ""),
    ]
    let report = ConformanceReport(plugin: "build/one.so", outcomes: outcomes, duration: .zero, lookedAt: 1)
    let results = try #require(JSONValue(parsing: SARIFReport.text([report]))["runs"]?[0]?["results"]?.array)
    #expect(
      results.map { $0["message"]?["text"]?.string } == ["a message (on_request)", "CRASH: SIGSEGV in on_head"])
    #expect(results.map { $0["level"]?.string } == ["warning", "error"])
    for result in results {
      let place = result["locations"]?[0]?["physicalLocation"]
      #expect(place?["artifactLocation"]?["uri"]?.string == "build/one.so")
      #expect(place?["region"]?["startLine"]?.int == 1)
    }
  }
}
