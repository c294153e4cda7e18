import Carabiner
import CarabinerABI
import CarabinerManifest
import TestTools
import Testing

@Suite("Rules choose lists")
struct RuleTests {
  @Test(
    "a glob matches by Unicode scalars",
    arguments: [
      ("*", "", true), ("*", "Anything", true), ("?", "", false), ("?", "ä", true), ("Get*", "Get", true), ("Get*", "get", false),
      ("*Book", "GetBook", true), ("*Book", "GetBooks", false), ("G*t*k", "GetBook", true), ("a?c", "abc", true),
      ("a?c", "ac", false), ("**a**", "xax", true), ("", "", true), ("", "a", false), ("[a]", "a", false), ("a.c", "abc", false),
    ])
  func globs(pattern: String, name: String, fits: Bool) {
    #expect(Glob(pattern).matches(name) == fits)
  }

  @Test("a hostile glob is not slower than a simple one")
  func hostileGlob() {
    let glob = Glob(String(repeating: "*a", count: 500) + "b")
    let clock = ContinuousClock()
    let time = clock.measure { #expect(!glob.matches(String(repeating: "a", count: 5000))) }
    // With backtracking to every star this would practically never end. The bound is not a performance requirement.
    #expect(time < .seconds(60))
  }

  @Test("the index chooses the same rules as a linear search", arguments: 0..<40)
  func index(seed: Int) throws {
    var numbers = SeededGenerator(seed: UInt64(seed))
    let names = ["Get", "GetA", "GetB", "Put", "PutA", "A", "B", ""]
    let patterns = ["Get*", "Get?", "*A", "?", "*", "P*", "Get", "PutA", "A", "B?*"]
    var rules: [Manifest.Rule] = []
    for index in 0..<30 {
      var lists = Manifest.Lists()
      for list in StageKind.allCases where Bool.random(using: &numbers) {
        lists[list] = [Manifest.Entry(name: "\(list)-\(index)")]
      }
      var rule = Manifest.Rule(lists: lists)
      for _ in 0..<Int.random(in: 0...3, using: &numbers) {
        rule.operations += patterns.randomElement(using: &numbers).map { [Glob($0)] } ?? []
      }
      for type in GraphQLOperationType.allCases where Int.random(in: 0..<3, using: &numbers) == 0 { rule.types.insert(type) }
      rules.append(rule)
    }
    var manifest = Manifest()
    manifest.rules = rules
    for name in names {
      for type in GraphQLOperationType.allCases {
        let plan = manifest.stagePlan(operationName: name, type: type)
        for list in StageKind.allCases {
          let first = rules.indices.first { rules[$0].matches(name, type) && rules[$0].lists[list] != nil }
          let expected = first.flatMap { rules[$0].lists[list] }?.map(\.name) ?? list.builtIns
          #expect(plan.stages[list].map(\.name) == expected, "\(name) \(type) \(list)")
          #expect(plan.stages[list].allSatisfy { $0.rule == first })
        }
      }
    }
  }
}
