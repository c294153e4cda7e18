internal import CarabinerABI
internal import Synchronization

/// The stages that a call passes: their states and instances, and which of them are open.
///
/// It cannot be copied, because a copy would count references at each hook.
@safe package struct CallStages: ~Copyable {
  package typealias Word = UnsafeMutableRawPointer?

  package private(set) var group = PluginStageGroup.empty
  /// The state of each stage, one word a stage, in the call's scratch memory. Valid from `begin` to `reset`, as the next three.
  @safe package private(set) var states = unsafe CallStages.noWords
  @safe private(set) var instances = unsafe UnsafePointer(CallStages.noWords)
  /// Which stages are open: their first hook returned CONTINUE, so the host must call one of their ends.
  @safe private(set) var areOpen = unsafe CallStages.noFlags
  /// Identifies the code of each stage for a crash report.
  @safe private(set) var subjects = unsafe UnsafePointer(CallStages.noSubjects)
  @safe private(set) var bindings = unsafe PluginStageGroup.empty.bindings
  /// All open stages have lower numbers.
  private(set) var openEnd = 0
  /// All stages with a called hook have lower numbers.
  private var reach = 0
  /// The stages for which the call does not count as a success: they broke the contract, or were pending when the caller left.
  var unproven: [Int] = []
  /// The stage whose fault is counted before the chain reaches it; -1: none.
  var countedStage = -1
  private(set) var limits = PluginLimits()
  package private(set) var isTraced = false
  /// Whether all hooks can be called directly: no trace, no plugin with serial hooks, and no revoked token.
  private(set) var isPlain = true
  /// Whether a plugin whose token was revoked may still call functions of the host for this call.
  private(set) var isContested = false

  // The pointers of a call before its first use.
  private nonisolated(unsafe) static let noWords = UnsafeMutablePointer<Word>.allocate(capacity: 1)
  private nonisolated(unsafe) static let noFlags = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
  private nonisolated(unsafe) static let noSubjects = UnsafeMutablePointer<UInt>.allocate(capacity: 1)

  // MARK: The call's life

  mutating func begin(_ group: PluginStageGroup, _ shared: PluginCall, in scratch: inout Arena) throws {
    let count = max(group.count, 1)
    let word = unsafe MemoryLayout<Word>.stride
    let words = group.hasInstancesPerCall ? 2 * count : count
    guard let memory = unsafe scratch.allocate(words * word + count, alignment: word, limit: .max) else {
      throw GroupCall.noRoom(group, "no memory for another call; send fewer at once")
    }
    group.tally.begun.wrappingAdd(1, ordering: .relaxed)
    states = unsafe memory.bindMemory(to: Word.self, capacity: count)
    areOpen = unsafe (memory + words * word).bindMemory(to: Bool.self, capacity: count)
    instances = unsafe group.instances
    if group.hasInstancesPerCall {
      let own = unsafe (memory + count * word).bindMemory(to: Word.self, capacity: count)
      unsafe try Self.makeInstances(of: group, own)
      instances = unsafe UnsafePointer(own)
    }
    subjects = unsafe group.subjects
    bindings = unsafe group.bindings
    self.group = group
    limits = shared.limits
    isTraced = shared.isTraced
    isPlain = !isTraced && !group.hasSerialPlugins
  }

  /// Makes the instances of a call, one a stage.
  private static func makeInstances(of group: PluginStageGroup, _ instances: UnsafeMutablePointer<Word>) throws {
    for index in group.stages.indices {
      do {
        unsafe instances[index] = unsafe try group.stages[index].plugin.instanceForCall()
      } catch {
        for made in 0..<index { unsafe group.stages[made].plugin.endOfCall(instances[made]) }
        group.tally.ended.wrappingAdd(1, ordering: .releasing)
        throw error
      }
    }
  }

  /// Releases the states that the stages keep for a request.
  func releaseStates(request: UInt64) {
    for index in 0..<group.count {
      guard let state = unsafe states[index], let release = unsafe group.tails[index].release else { continue }
      plugin(index).subject.during(.release, request: request) { unsafe release(instances[index], state) }
    }
  }

  func endInstances() {
    for index in group.stages.indices { unsafe plugin(index).endOfCall(instances[index]) }
  }

  /// Reports a success to the circuit breakers of the plugins that kept the contract.
  func informBreakers(_ shared: PluginCall) {
    for index in group.guarded where index < reach && !unproven.contains(index) {
      guard let breaker = plugin(index).breaker else { continue }
      breaker.noteSuccess(shared.probe(of: breaker))
    }
  }

  mutating func reset() {
    group = .empty
    openEnd = 0
    reach = 0
    if !unproven.isEmpty {
      unproven = []
      countedStage = -1
    }
    isContested = false
  }

  // MARK: One stage

  func plugin(_ index: Int) -> PluginInstance { group.stages[index].plugin }

  func name(_ index: Int) -> String { plugin(index).name }

  func instance(_ index: Int) -> UnsafeMutableRawPointer? { unsafe instances[index] }

  package func isOpen(_ index: Int) -> Bool { areOpen[index] }

  mutating func open(_ index: Int) {
    areOpen[index] = true
    noteOpen(before: index + 1)
  }

  /// Records that stages with a lower number are open.
  mutating func noteOpen(before end: Int) {
    openEnd = max(openEnd, end)
    noteReach(end)
  }

  /// Records that the call has passed the stages with a lower number, also those without the hook.
  mutating func noteReach(_ end: Int) { reach = max(reach, end) }

  mutating func close(_ index: Int) {
    areOpen[index] = false
    if index == openEnd - 1 { openEnd = index }
  }

  /// Closes the open stages from number `last` outward, up to the first with an `on_end`.
  ///
  /// - Returns: That stage, still open; nil if there is none.
  mutating func closeSilently(from last: Int) -> Int? {
    let last = min(last, openEnd - 1)
    guard group.hasEnds else {
      for index in stride(from: last, through: 0, by: -1) { areOpen[index] = false }
      if last == openEnd - 1 { openEnd = 0 }
      return nil
    }
    for index in stride(from: last, through: 0, by: -1) where isOpen(index) {
      guard unsafe group.tails[index].onEnd == nil else { return index }
      close(index)
    }
    return nil
  }

  /// Records that a plugin may call functions of the host although its token was revoked.
  mutating func contest() {
    isContested = true
    isPlain = false
  }
}
