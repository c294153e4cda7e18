import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Costs of large documents")
struct CostLimitsTests {
  @Test("a chain of 10,000 fragments is measured without deep calls", .rule("validate.6"))
  func chain() throws {
    let links = (0..<10_000).map { "fragment F\($0) on FilmConnection { edges { cursor } ...F\($0 + 1) }" }
    let end = "fragment F10000 on FilmConnection { edges { node { id } } }"
    let text = "query ($n: Int) { films(first: $n) { ...F0 } }\n\(links.joined(separator: "\n"))\n\(end)"
    let costs = try CostSample.costs(text, ["n": 100])
    #expect(costs.fields == 1 + 10_001 + 100 && costs.types == 1 + 1 + 10_001 * 100 + 100)
  }

  @Test("fragments that each spread the next one twice are measured once each, and sums end at 2^53", .rule("validate.6"))
  func doubling() throws {
    let links = (0..<2_000).map { "fragment F\($0) on FilmConnection { ...F\($0 + 1) ...F\($0 + 1) }" }.joined(separator: "\n")
    let end = "fragment F2000 on FilmConnection { edges { node { users(max: $n) { age } } } }"
    let costs = try CostSample.costs("query ($n: Int) { films(first: $n) { ...F0 } }\n\(links)\n\(end)", ["n": 2])
    #expect(costs.fields == 1 << 53 && costs.types == 1 << 53 && costs.faults == [])
  }

  @Test("a long value that many arguments use is looked at once", .rule("validate.6"))
  func longValue() throws {
    let fields = (0..<2_000).map { "f\($0): topProducts(filter: $f)" }.joined(separator: " ")
    let value = JSONValue.object(["all": .array(Array(repeating: ["inner": [:]], count: 10_000))])
    let costs = try CostSample.costs("query ($f: Filter) { \(fields) }", ["f": value])
    #expect(costs.fields == 2_000 * (5 + 15 + 1 + 10_000))
  }

  @Test("a cycle of fragments is refused", .rule("validate.6"))
  func cycle() throws {
    #expect(throws: DocumentMeasures.Fault.cycle("F")) {
      try CostSample.costs("{ films(first: 1) { ...F } } fragment F on FilmConnection { edges { cursor } ...F }")
    }
  }
}
