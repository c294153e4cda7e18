import CarabinerWire
import Testing

@testable import CarabinerConformance

@Suite("Equal causes in a report")
struct EqualCauseTests {
  @Test("a fault that is found several times is one finding with a count, also when a child reports it")
  func findings() throws {
    let notes = TrialNotes(check: "SE05")
    for place in ["on_result", "on_error", "on_result", "on_result"] { notes.fail("a message", at: place) }
    let read = try notes.findings.map { try #require(Finding($0.record)) }
    #expect(read.map(\.count) == [3, 1])
    #expect(read.map(\.text) == ["a message (on_result), 3 times", "a message (on_error)"])
    let check = try #require(Catalog.check("SE05"))
    let outcome = CheckOutcome(check: check, status: .fail, findings: read, duration: .zero, output: "")
    let report = ConformanceReport(plugin: "one.so", outcomes: [outcome], duration: .zero, lookedAt: 1)
    let results = try JSONValue(parsing: SARIFReport.text([report]))["runs"]?[0]?["results"]
    #expect(results?[0]?["occurrenceCount"]?.int == 3 && results?[1]?["occurrenceCount"] == nil)
    let findings = try JSONValue(parsing: ConformanceReport.json([report]))["plugins"]?[0]?["checks"]?[0]?["findings"]
    #expect(findings?[0]?["count"]?.int == 3 && findings?[1]?["count"] == nil)
  }

  @Test("a finding beyond the maximum is not kept, and those that are kept are still counted")
  func maximum() {
    let notes = TrialNotes(check: "SE05")
    for number in 0..<TrialNotes.maximumFindings + 10 { notes.fail("message \(number)") }
    notes.fail("message 0")
    #expect(notes.findings.count == TrialNotes.maximumFindings)
    #expect(notes.findings.first?.count == 2)
  }

  @Test("checks that crash on the same stack are one entry with their names, and one alert in SARIF")
  func crashes() throws {
    func outcome(_ id: String, _ offset: UInt64, _ what: String = "SIGSEGV", isOfPlugin: Bool = true) throws -> CheckOutcome {
      var outcome = CheckOutcome(
        check: try #require(Catalog.check(id)), status: .crash(what, hook: id), findings: [], duration: .zero, output: "")
      outcome.stack = [StackFrame(library: "one.so", isOfPlugin: isOfPlugin, offset: offset)]
      return outcome
    }
    let outcomes = [
      try outcome("SE01", 16), try outcome("SE02", 32), try outcome("SE05", 16), try outcome("ME01", 48, isOfPlugin: false),
      try outcome("ME02", 48, isOfPlugin: false), try outcome("ME03", 16, "SIGBUS"), try outcome("FZ01", 16),
    ]
    let report = ConformanceReport(plugin: "one.so", outcomes: outcomes, duration: .zero, lookedAt: 1)
    let lines = ConformanceText(isColoured: false).text(report).split(separator: "\n")
    #expect(
      lines.filter { $0.hasPrefix("CRASH") }.map { $0.dropFirst(8).prefix(4) } == [
        "SE01", "SE02", "ME01", "ME02", "ME03", "FZ01",
      ])
    #expect(lines.contains("          2 checks end so (SE01, SE05)"))
    let results = try #require(JSONValue(parsing: SARIFReport.text([report]))["runs"]?[0]?["results"]?.array)
    #expect(results.map { $0["ruleId"]?.string } == ["SE01", "SE02", "ME01", "ME02", "ME03", "FZ01"])
    #expect(results.map { $0["occurrenceCount"]?.int } == [2, nil, nil, nil, nil, nil])
    #expect(results[0]["properties"]?["checks"]?.array?.map(\.string) == ["SE01", "SE05"])
  }
}
