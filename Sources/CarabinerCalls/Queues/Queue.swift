/// A queue in an array. Taking an element does not move the others.
struct Queue<Element> {
  /// Elements that were taken are nil.
  private var elements: [Element?] = []
  /// How many of `elements` were taken.
  private var taken = 0

  var isEmpty: Bool { taken == elements.count }
  var count: Int { elements.count - taken }

  mutating func add(_ element: Element) { elements.append(element) }

  /// Removes and returns the first element; nil if there is none.
  mutating func take() -> Element? {
    guard taken < elements.count else { return nil }
    let element = elements[taken]
    elements[taken] = nil
    taken += 1
    // When more than half were taken, the rest is moved. Each element is moved once on average.
    if taken * 2 > elements.count {
      elements.removeFirst(taken)
      taken = 0
    }
    return element
  }
}

extension Queue: Sendable where Element: Sendable {}
