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

  @Test("a crash with debug information has its line, and the frames of its stack")
  func stack() throws {
    let check = try #require(Catalog.checks.first)
    var outcome = CheckOutcome(
      check: check, status: .crash("SIGSEGV", hook: "on_head"), findings: [], duration: .zero, output: "")
    var own = StackFrame(library: "build/one.so", isOfPlugin: true, offset: 0x1139)
    (own.function, own.file, own.line) = ("on_head", "src/on head.c", 41)
    outcome.stack = [StackFrame(library: "/lib/libc.so.6", isOfPlugin: false, offset: 16), own]
    let report = ConformanceReport(plugin: "build/one.so", outcomes: [outcome], duration: .zero, lookedAt: 1)
    let result = try #require(JSONValue(parsing: SARIFReport.text([report]))["runs"]?[0]?["results"]?[0])
    let location = result["locations"]?[0]
    #expect(location?["physicalLocation"]?["artifactLocation"]?["uri"] == "src/on%20head.c")
    #expect(location?["physicalLocation"]?["region"]?["startLine"]?.int == 41)
    #expect(location?["logicalLocations"]?[0]?["fullyQualifiedName"] == "on_head")
    let frames = try #require(result["stacks"]?[0]?["frames"]?.array)
    #expect(frames.map { $0["module"]?.string } == ["/lib/libc.so.6", "build/one.so"])
    #expect(
      frames.map { $0["location"]?["message"]?["text"]?.string } == [
        "libc.so.6+0x10", "on_head at src/on head.c:41 (one.so+0x1139)",
      ])
  }
}
