/// Elements that are ready to go outward, in order. Nearly always it is one, and one needs no array.
struct PendingElements<Element> {
  private var first: Element?
  private var rest: ArraySlice<Element> = []

  var isEmpty: Bool { first == nil }

  mutating func append(_ element: Element) {
    if first == nil { first = element } else { rest.append(element) }
  }

  mutating func popFirst() -> Element? {
    defer { first = rest.popFirst() }
    return first
  }
}
