internal import Synchronization

/// The fields that an object of a response may have, from all selection sets that apply to it.
///
/// Type conditions are not looked at. If fields of several types share a name in the response, the scope has all of them.
final class SelectionScope: Sendable {
  struct Field: Sendable {
    /// The names of the fields that may have the name in the response.
    var names: Set<String>
    let scope: SelectionScope
  }

  private let document: Document
  private let sets: [Int]
  private let fields = Mutex<[String: Field]?>(nil)

  init(_ document: Document, _ sets: [Int]) {
    self.document = document
    self.sets = sets
  }

  /// The field that has a name in the response; nil if the operation does not select it.
  func field(_ key: String) -> Field? {
    fields.withLock { fields in
      if let fields { return fields[key] }
      let collected = collect()
      fields = collected
      return collected[key]
    }
  }

  private func collect() -> [String: Field] {
    var found: [String: (names: Set<String>, sets: [Int])] = [:]
    var waiting = sets
    var visited: Set<Int> = []
    while let set = waiting.popLast() {
      // A set that is spread twice, or a cycle of fragments, adds nothing.
      guard visited.insert(set).inserted else { continue }
      for selection in document.sets[set] {
        switch selection {
        case .field(let name, let key, let selections):
          found[key, default: ([], [])].names.insert(name)
          if let selections { found[key]?.sets.append(selections) }
        case .spread(let name): if let fragment = document.fragments[name] { waiting.append(fragment) }
        case .inline(let selections): waiting.append(selections)
        }
      }
    }
    return found.mapValues { Field(names: $0.names, scope: SelectionScope(document, $0.sets)) }
  }
}
