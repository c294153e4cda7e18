internal import Carabiner

/// The order in which the records of a large write are sent: those that are referred to first, and the roots last.
///
/// So no reference points to a record that is not there, also between two transactions. Only records that refer to each other in a
/// circle cannot be ordered.
enum RecordOrder {
  static func childrenFirst(_ records: [Record]) -> [Record] {
    // A key may occur twice. The later values win, so all of its records stay together.
    var places: [String: [Int]] = [:]
    for (place, record) in records.enumerated() { places[record.key, default: []].append(place) }
    var (ordered, roots, visited): ([Record], [Record], Set<String>) = ([], [], [])
    for record in records where !visited.contains(record.key) {
      // Without recursion, because a response may be a long list of objects in each other.
      var path: [(key: String, rest: [String])] = []
      func enter(_ key: String) {
        guard let own = places[key], visited.insert(key).inserted else { return }
        path.append((key, own.flatMap { references(of: records[$0]) }))
      }
      enter(record.key)
      while let last = path.indices.last {
        if let next = path[last].rest.popLast() {
          enter(next)
        } else {
          let own = (places[path[last].key] ?? []).map { records[$0] }
          if StoreLayout.isRoot(path[last].key) { roots += own } else { ordered += own }
          path.removeLast()
        }
      }
    }
    return ordered + roots
  }

  /// The same order in groups: no record refers to one of its own group or of a later one, but for circles.
  static func levels(_ records: [Record]) -> [[Record]] {
    var (levels, known): ([[Record]], [String: Int]) = ([], [:])
    for record in childrenFirst(records) {
      let below = references(of: record).compactMap { known[$0] }.max() ?? -1
      // A key may occur twice. The later values win.
      let level = max(below, known[record.key] ?? -1) + 1
      known[record.key] = level
      if level == levels.count { levels.append([]) }
      levels[level].append(record)
    }
    return levels
  }

  private static func references(of record: Record) -> [String] {
    record.table.names.indices.flatMap { Reference.keys(in: record.table.bytes(at: $0).span) }
  }
}
