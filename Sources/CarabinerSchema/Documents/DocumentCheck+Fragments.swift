internal import CarabinerWire

extension DocumentCheck {
  /// Checks that each fragment is used, and that none contains itself.
  mutating func checkFragments() {
    var used = [Bool](repeating: false, count: definitions.count)
    for (number, definition) in definitions.enumerated() where definition.operation != nil { markReachable(from: number, &used) }
    for (number, definition) in definitions.enumerated() where definition.operation == nil && !used[number] {
      let name = definition.name ?? ""
      // A second definition of a name is reported as such.
      guard fragments[name] == number else { continue }
      report(.noUnusedFragments, "the fragment \(name) is not used; spread it, or remove it", at: definition.offset)
    }
    checkCycles()
  }

  /// Marks a definition, and the fragments that it contains at any depth.
  ///
  /// - Returns: Those that were not marked, in the order in which they were found.
  @discardableResult func markReachable(from start: Int, _ marks: inout [Bool]) -> [Int] {
    guard !marks[start] else { return [] }
    marks[start] = true
    var found = [start]
    var next = 0
    while next < found.count {
      for spread in definitions[found[next]].spreads where !marks[spread.fragment] {
        marks[spread.fragment] = true
        found.append(spread.fragment)
      }
      next += 1
    }
    return found
  }

  /// Reports each cycle of fragments, with the spreads on it. Each fragment is looked at once.
  private mutating func checkCycles() {
    var isDone = [Bool](repeating: false, count: definitions.count)
    for start in definitions.indices where definitions[start].operation == nil && !isDone[start] {
      var path: [(fragment: Int, next: Int)] = [(start, 0)]
      var positions = [start: 0]
      isDone[start] = true
      while let top = path.last {
        guard top.next < definitions[top.fragment].spreads.count else {
          positions[top.fragment] = nil
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let spread = definitions[top.fragment].spreads[top.next]
        if let position = positions[spread.fragment] {
          reportCycle(path[position...].map { ($0.fragment, definitions[$0.fragment].spreads[$0.next - 1].offset) })
        } else if !isDone[spread.fragment] {
          isDone[spread.fragment] = true
          positions[spread.fragment] = path.count
          path.append((spread.fragment, 0))
        }
      }
    }
  }

  private mutating func reportCycle(_ cycle: [(fragment: Int, offset: Int)]) {
    let names = cycle.dropFirst().prefix(8).compactMap { definitions[$0.fragment].name }
    let way = names.isEmpty ? "" : " through \(names.joined(separator: ", "))\(cycle.count > 9 ? ", …" : "")"
    report(
      .noFragmentCycles, "the fragment \(definitions[cycle[0].fragment].name ?? "") contains itself\(way); remove a spread",
      at: cycle.map(\.offset))
  }
}
