internal import Carabiner

/// The rules of a manifest, sorted so that an operation is compared with few of them.
///
/// Rules with exact names are found in a dictionary, rules with patterns by the first letter, and only the rest is tried each
/// time. Candidates come in the order of the manifest, so the first that matches still wins.
struct RuleIndex: Sendable, Equatable {
  private let rules: [Manifest.Rule]
  private var byName: [String: [Int]] = [:]
  private var byFirst: [Unicode.Scalar: [Int]] = [:]
  private var others: [Int] = []

  init(_ rules: [Manifest.Rule]) {
    self.rules = rules
    for (index, rule) in rules.enumerated() { add(index, rule.operations) }
  }

  private mutating func add(_ index: Int, _ operations: [Glob]) {
    if operations.isEmpty || operations.contains(where: { !$0.isExact && $0.firstScalar == nil }) {
      return others.append(index)
    }
    for name in Set(operations.lazy.filter(\.isExact).map(\.pattern)) { byName[name, default: []].append(index) }
    for first in Set(operations.lazy.filter { !$0.isExact }.compactMap(\.firstScalar)) {
      byFirst[first, default: []].append(index)
    }
  }

  /// Of each list the first rule that matches and names it.
  func choose(_ name: String?, _ type: GraphQLOperationType) -> [StageList: (rule: Int, entries: [Manifest.Entry])] {
    var chosen: [StageList: (rule: Int, entries: [Manifest.Entry])] = [:]
    let text = name ?? ""
    var queues = [byName[text] ?? [], text.unicodeScalars.first.flatMap { byFirst[$0] } ?? [], others].map { $0[...] }
    while chosen.count < StageList.allCases.count, let index = queues.compactMap(\.first).min() {
      for queue in queues.indices where queues[queue].first == index { queues[queue].removeFirst() }
      guard rules[index].matches(text, type) else { continue }
      for list in StageList.allCases where chosen[list] == nil {
        if let entries = rules[index].lists[list] { chosen[list] = (index, entries) }
      }
    }
    return chosen
  }
}
