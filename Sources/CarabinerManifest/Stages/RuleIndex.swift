package import Carabiner
internal import CarabinerABI

/// The rules of a manifest, indexed so that an operation is compared with few of them, and the stages of each rule.
///
/// Rules with exact names are found in a dictionary, and rules with patterns by the first character. Only the other rules are compared
/// each time. Candidates are in the order of the manifest, so the first rule that matches is used.
package struct RuleIndex: Sendable, Equatable {
  private struct Row: Sendable, Equatable {
    let rule: Manifest.Rule
    /// The stages of each list of the rule; nil for a list that the rule does not have.
    let stages: StageMap<[StagePlan.Stage]?>
  }

  private let rows: [Row]
  /// The stages of each list that no rule replaces.
  private let base: StageMap<[StagePlan.Stage]>
  private var byName: [String: [Int]] = [:]
  private var byFirst: [Unicode.Scalar: [Int]] = [:]
  private var others: [Int] = []
  /// Whether a rule has a timeout or an upstream.
  package private(set) var hasSettings = false
  /// Whether a rule has a path as condition.
  package private(set) var hasPaths = false

  /// - Parameters:
  ///   - defaults: Returns the stages of a list that the manifest does not have.
  ///   - stage: Returns the stage with a name, for the rule with a number.
  init(
    _ rules: [Manifest.Rule], _ lists: Manifest.Lists, defaults: (StageKind) -> [String],
    stage: (String, Int?) -> StagePlan.Stage
  ) {
    base = StageMap { list in (lists[list]?.map(\.name) ?? defaults(list)).map { stage($0, nil) } }
    rows = rules.enumerated().map { index, rule in
      Row(rule: rule, stages: StageMap { list in rule.lists[list]?.map { stage($0.name, index) } })
    }
    for (index, rule) in rules.enumerated() { add(index, rule.operations) }
    hasSettings = rules.contains { $0.timeout != nil || $0.upstream != nil }
    hasPaths = rules.contains { !$0.paths.isEmpty }
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

  /// The rule for each list of an operation, by number: the first rule that matches and has the list, or nil.
  ///
  /// Plans are cached by this choice and not by the operation's name: clients can send any number of names, but there are few choices.
  ///
  /// - Parameter path: The path of the gateway at which the operation arrived; nil if it did not arrive at a gateway.
  package func choice(_ name: String?, _ type: GraphQLOperationType, path: String? = nil) -> StageMap<Int?> {
    var chosen = StageMap<Int?> { _ in nil }
    guard !rows.isEmpty else { return chosen }
    let name = name ?? ""
    var candidates = candidates(name)
    var missing = StageKind.allCases.count
    while missing > 0, let index = candidates.next() {
      guard rows[index].rule.matches(name, type, path: path) else { continue }
      for list in StageKind.allCases where chosen[list] == nil {
        guard rows[index].stages[list] != nil else { continue }
        chosen[list] = index
        missing -= 1
      }
    }
    return chosen
  }

  /// The timeout and the upstream of an operation: for each, that of the first rule that matches and has it.
  package func settings(
    _ name: String?, _ type: GraphQLOperationType, path: String? = nil
  ) -> (timeout: Duration?, upstream: String?) {
    guard hasSettings else { return (nil, nil) }
    let name = name ?? ""
    var found: (timeout: Duration?, upstream: String?)
    var candidates = candidates(name)
    while found.timeout == nil || found.upstream == nil, let index = candidates.next() {
      let rule = rows[index].rule
      guard rule.timeout != nil || rule.upstream != nil, rule.matches(name, type, path: path) else { continue }
      found = (found.timeout ?? rule.timeout, found.upstream ?? rule.upstream)
    }
    return found
  }

  private func candidates(_ name: String) -> Candidates {
    Candidates(
      named: byName[name] ?? [], lettered: byFirst.isEmpty ? [] : name.unicodeScalars.first.flatMap { byFirst[$0] } ?? [],
      others: others)
  }

  /// The stages of each list for a choice.
  func stages(_ choice: StageMap<Int?>) -> StageMap<[StagePlan.Stage]> {
    StageMap { list in choice[list].flatMap { rows[$0].stages[list] } ?? base[list] }
  }
}

/// The rules that may match an operation, each once and in the order of the manifest.
private struct Candidates {
  let named: [Int]
  let lettered: [Int]
  let others: [Int]
  private var positions = (named: 0, lettered: 0, others: 0)

  init(named: [Int], lettered: [Int], others: [Int]) {
    self.named = named
    self.lettered = lettered
    self.others = others
  }

  mutating func next() -> Int? {
    let heads = (
      positions.named < named.count ? named[positions.named] : .max,
      positions.lettered < lettered.count ? lettered[positions.lettered] : .max,
      positions.others < others.count ? others[positions.others] : .max
    )
    let first = min(heads.0, heads.1, heads.2)
    guard first < .max else { return nil }
    // A rule with several names may be in more than one list.
    if heads.0 == first { positions.named += 1 }
    if heads.1 == first { positions.lettered += 1 }
    if heads.2 == first { positions.others += 1 }
    return first
  }
}
