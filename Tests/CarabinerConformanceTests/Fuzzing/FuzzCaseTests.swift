import Synchronization
import Testing

@testable import CarabinerConformance

/// Cases that are generated from a seed and a number.
@Suite("Fuzzed cases")
struct FuzzCaseTests {
  @Test("a name is the same case on every thread")
  func sameCase() async {
    let first = (0..<64).map { FuzzCase(seed: 11, number: $0) }
    await withTaskGroup(of: [String].self) { group in
      for _ in 0..<8 {
        group.addTask {
          (0..<64).map { number in
            let one = FuzzCase(seed: 11, number: number)
            return "\(one.base) \(one.parts) \(one.setup().exchanges)"
          }
        }
      }
      for await texts in group { #expect(texts == first.map { "\($0.base) \($0.parts) \($0.setup().exchanges)" }) }
    }
  }

  @Test("a name is read back, and other texts are refused")
  func names() {
    #expect(FuzzCase("7:5310")?.name == "7:5310")
    for text in ["", "7", "7:", ":1", "7:-1", "7:1:2", "x:1", "7:99999999999999999999"] {
      #expect(FuzzCase(text) == nil, "\(text)")
    }
  }

  @Test("without its ingredients a case is the usual exchanges")
  func withoutIngredients() {
    for number in 0..<32 {
      let one = FuzzCase(seed: 2, number: number)
      #expect(one.setup(keeping: []).exchanges.count == one.exchanges.count)
    }
  }
}
