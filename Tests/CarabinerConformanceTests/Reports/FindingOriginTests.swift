import CarabinerWire
import Testing

@testable import CarabinerConformance

@Suite("The origin of a finding")
struct FindingOriginTests {
  private static func report(_ exchange: Int, foundBy: String = "HI02") throws -> ConformanceReport {
    let check = try #require(Catalog.check("SE05"))
    var finding = Finding("SE05", .failure, "a message", place: "on_result")
    (finding.foundBy, finding.exchange) = (foundBy, exchange)
    let outcome = CheckOutcome(check: check, status: .fail, findings: [finding], duration: .zero, output: "")
    var report = ConformanceReport(plugin: "build/one.so", outcomes: [outcome], duration: .zero, lookedAt: 1)
    (report.seed, report.options) = (7, ["--config", "it's here.json"])
    return report
  }

  @Test("is the check and the exchange, with a command for a shell")
  func text() throws {
    let command = #"carabiner conform --reproduce SE05:HI02:17:7 --config 'it'\''s here.json' build/one.so"#
    let report = try Self.report(17)
    #expect(ConformanceText(isColoured: false).text(report).contains("          found by HI02, exchange 17: \(command)\n"))
    let finding = try JSONValue(parsing: ConformanceReport.json([report]))["plugins"]?[0]?["checks"]?[0]?["findings"]?[0]
    #expect(finding?["foundBy"] == "HI02" && finding?["exchange"]?.int == 17 && finding?["reproduce"]?.string == command)
    let sarif = try JSONValue(parsing: SARIFReport.text([report]))["runs"]?[0]?["results"]?[0]
    #expect(sarif?["properties"]?["reproduce"]?.string == command)
    #expect(JUnitReport.text([report]).contains("found by HI02, exchange 17: carabiner conform"))
  }

  @Test("has no exchange if none provoked it, and is nothing if no check found it")
  func parts() throws {
    let whole = try Self.report(0)
    #expect(
      whole.origin(of: whole.outcomes[0].findings[0])?.hasPrefix("found by HI02: carabiner conform --reproduce SE05:HI02:0:7 ")
        == true)
    let none = try Self.report(17, foundBy: "")
    #expect(none.origin(of: none.outcomes[0].findings[0]) == nil)
  }

  @Test("its name is read back, and other texts are refused")
  func names() {
    #expect(Provocation("se05:hi02:17:1")?.name == "SE05:HI02:17:1")
    for text in ["", "SE05", "SE05:HI02:17", "SE05:HI02:-1:1", "SE05:HI02:x:1", "SE05:HI02:1:-1", "SE05:HI02:1:1:1"] {
      #expect(Provocation(text) == nil, "\(text)")
    }
  }

  @Test("two findings are equal if only their origins differ")
  func equality() throws {
    let (one, other) = (try Self.report(17).outcomes[0].findings[0], try Self.report(3, foundBy: "SE04").outcomes[0].findings[0])
    #expect(one == other && Set([one, other]).count == 1)
  }
}
