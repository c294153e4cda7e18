internal import Foundation

/// Unusual exchanges, generated only from a seed and a number, so that both reproduce them.
package struct FuzzCase: Sendable {
  package let seed: UInt64
  package let number: Int
  /// The usual exchanges it begins with, by their numbers.
  let exchanges: [Int]
  let ingredients: [FuzzMutation]

  /// How many ingredients a case has at most.
  private static let maximumIngredients = 8

  package init(seed: UInt64, number: Int) {
    self.seed = seed
    self.number = number
    var generator = SeededGenerator(seed &* 0x2545_F491_4F6C_DD1D &+ UInt64(truncatingIfNeeded: number))
    exchanges = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
      Int.random(in: Exchange.usual.indices, using: &generator)
    }
    ingredients = (0..<Int.random(in: 1...Self.maximumIngredients, using: &generator)).map { _ in
      FuzzMutation.random(&generator)
    }
  }

  /// The case's name: its seed and number.
  package var name: String { "\(seed):\(number)" }

  /// Reads a name; nil if the text is not one.
  package init?(_ name: String) {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let seed = UInt64(parts[0]), let number = Int(parts[1]),
      (0..<FuzzOrder.maximumCount).contains(number)
    else { return nil }
    self.init(seed: seed, number: number)
  }

  /// The number of the case in a step or a place; nil if it names none.
  static func number(in text: String, seed: UInt64) -> Int? {
    guard let range = text.range(of: "case \(seed):") else { return nil }
    return Int(text[range.upperBound...].prefix { $0.isNumber })
  }

  /// The exchanges of the case, for messages. They cannot be left out, but the ingredients can.
  package var base: String { exchanges.map { Exchange.usual[$0].name }.joined(separator: "; then ") }
  package var parts: [String] { ingredients.map(\.description) }

  /// How the case is sent.
  ///
  /// - Parameter kept: The numbers of the ingredients to use; nil for all.
  func setup(keeping kept: Set<Int>? = nil) -> FuzzMutation.Setup {
    var setup = FuzzMutation.Setup(exchanges: exchanges.map { Exchange.usual[$0] })
    for (index, ingredient) in ingredients.enumerated() where kept?.contains(index) ?? true { ingredient.change(&setup) }
    for index in setup.exchanges.indices { setup.exchanges[index].name = "case \(name), \(setup.exchanges[index].name)" }
    return setup
  }
}
