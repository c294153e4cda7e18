/// A part of a schema that is found by its name.
protocol Named: Sendable, Hashable {
  var name: String { get }
}

/// Parts of a schema with different names, in order. Two lists are equal if they have equal elements, in any order.
struct NamedList<Element: Named>: Sendable, Hashable {
  /// Up to this number of elements, a search in order is as fast as a dictionary and needs no memory.
  private static var searchedInOrder: Int { 8 }

  private(set) var elements: [Element] = []
  /// The positions by name; empty for a short list.
  private var positions: [String: Int] = [:]

  init() {}

  /// Creates a list. The last of several elements with one name is used.
  init(_ elements: some Sequence<Element>) {
    for element in elements { set(element) }
  }

  subscript(name: String) -> Element? { position(of: name).map { elements[$0] } }

  func position(of name: String) -> Int? {
    positions.isEmpty ? elements.firstIndex { $0.name == name } : positions[name]
  }

  /// Adds an element, or replaces the one of this name.
  ///
  /// - Returns: The element that was replaced; nil if there was none.
  @discardableResult mutating func set(_ element: Element) -> Element? {
    if let position = position(of: element.name) {
      let previous = elements[position]
      elements[position] = element
      return previous
    }
    if positions.isEmpty, elements.count == Self.searchedInOrder {
      for (position, element) in elements.enumerated() { positions[element.name] = position }
    }
    if elements.count >= Self.searchedInOrder { positions[element.name] = elements.count }
    elements.append(element)
    return nil
  }

  static func == (left: Self, right: Self) -> Bool {
    left.elements.count == right.elements.count && left.elements.allSatisfy { right[$0.name] == $0 }
  }

  func hash(into hasher: inout Hasher) {
    // A sum does not depend on the order, as equality does not.
    hasher.combine(
      elements.reduce(into: 0) { sum, element in
        var inner = Hasher()
        inner.combine(element)
        sum &+= inner.finalize()
      })
  }
}

/// A value that does not count when its owner is compared, such as a place in a text.
struct Uncompared<Value: Sendable>: Sendable, Hashable {
  let value: Value

  init(_ value: Value) { self.value = value }

  static func == (left: Self, right: Self) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}
