internal import CCarabiner
internal import CarabinerBridge
internal import Synchronization

/// Hands over the state of instances of an interceptor to other instances.
struct StateTrial {
  private let trial: InterceptorTrial
  private let place: String

  init(_ trial: InterceptorTrial) {
    self.trial = trial
    place = trial.interceptor.id
  }

  /// - Throws: ``TrialNotes/Skip`` if the interceptor neither hands over nor takes a state.
  func run() throws {
    guard trial.interceptor.threadClass != UInt32(CRB_THREADS_PER_CALL) else {
      throw TrialNotes.Skip("it has an instance for each call, so it hands over no state")
    }
    let old = try trial.instance()
    defer { old.destroy() }
    guard let table = old.stateTable, unsafe table.save != nil || table.adopt != nil else {
      throw TrialNotes.Skip("it hands over no state")
    }
    work(old, Exchange.usual + Exchange.callers(trial.words))
    var state = old.save(table, trial.notes)
    if state == nil {
      work(old, Exchange.varied(trial.words))
      state = old.save(table, trial.notes)
    }
    // The second state may have other times in it, but it must not be empty or much smaller.
    if let state, let again = unsafe table.save != nil ? old.save(table, trial.notes)?.bytes.count ?? 0 : nil {
      trial.notes.expect(
        again * 2 >= state.bytes.count,
        "its second save() has \(again) bytes, and the first \(state.bytes.count): the instance serves on after save(), and may save again",
        at: place)
    }
    if let state { try handOver(state, table) }
    if unsafe table.adopt != nil { try refuse(state?.bytes ?? [], table) }
    if unsafe table.save != nil { saveAmongCalls(old, table) }
    if state == nil, unsafe table.adopt == nil { throw TrialNotes.Skip("it had no state to hand over") }
  }

  private func work(_ instance: TestHostInstance, _ exchanges: [Exchange] = Exchange.usual) {
    for stage in trial.stages { _ = trial.travel(exchanges, stage, instance) }
  }

  /// Another instance takes the state, and works with it.
  private func handOver(_ state: PluginState, _ table: crb_state) throws {
    guard unsafe table.adopt != nil else { return }
    let new = try trial.instance()
    defer { new.destroy() }
    if let refusal = new.adopt(state, table, trial.notes) {
      trial.notes.fail("it refuses the state that another instance has just handed over: \(refusal)", at: place)
    }
    work(new)
    _ = new.save(table, trial.notes)
  }

  /// Offers invalid states, which must be refused or do no harm. A newer version must be refused.
  private func refuse(_ bytes: [UInt8], _ table: crb_state) throws {
    let own = table.version
    let newer = [1, 2, 1000, UInt32.max].map { own.addingReportingOverflow($0) }.filter { !$0.overflow }.map(\.partialValue)
    for version in newer + (own < .max ? [.max] : []) {
      try offer(PluginState(version: version, bytes: bytes), table, "a state of version \(version)") { isTaken in
        trial.notes.expect(
          !isTaken,
          "it takes a state of version \(version), which is newer than its own, \(own); refuse it with CRB_E_UNSUPPORTED",
          at: place)
      }
    }
    var generator = SeededGenerator(trial.options.seed)
    for (number, damaged) in damaged(bytes, &generator).enumerated() {
      let version = number % 4 == 3 ? UInt32.random(in: 0...own, using: &generator) : own
      try offer(PluginState(version: version, bytes: damaged), table, "damaged state \(number)") { _ in }
    }
  }

  /// Offers a state to a new instance, and then runs a call in it.
  private func offer(_ state: PluginState, _ table: crb_state, _ name: String, then: (_ isTaken: Bool) -> Void) throws {
    FlightRecord.note(name, inHook: false)
    let instance = try trial.instance()
    defer { instance.destroy() }
    // The comparison is valid only if new instances have equal states.
    let fresh = try untouched(table)
    let before = instance.save(table, trial.notes)
    let refusal = instance.adopt(state, table, trial.notes)
    then(refusal == nil)
    if refusal != nil, before == fresh {
      trial.notes.expect(
        instance.save(table, trial.notes) == before, "its own state has changed although it refused the other state", at: place)
    }
    work(instance, [Exchange("a query")])
  }

  /// The state of an instance without calls.
  private func untouched(_ table: crb_state) throws -> PluginState? {
    let instance = try trial.instance()
    defer { instance.destroy() }
    return instance.save(table, trial.notes)
  }

  /// Bytes as in a truncated file, of another plugin, or of damaged memory.
  private func damaged(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [[UInt8]] {
    let count = trial.options.times(400, atLeast: 40)
    var all: [[UInt8]] = [
      [], bytes + [0], bytes + bytes, Array(repeating: 0, count: bytes.count), Array(repeating: 255, count: bytes.count),
    ]
    // All short prefixes: the beginning of a state often contains lengths.
    all += (0..<min(bytes.count, count / 4)).map { Array(bytes.prefix($0)) }
    while all.count < count {
      var changed = bytes
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: changed = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
      case 1: changed = (0..<Int.random(in: 0...256, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
      default:
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          guard let index = changed.indices.randomElement(using: &generator) else { break }
          changed[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
        }
      }
      all.append(changed)
    }
    return all
  }

  /// Saves the state while hooks of the instance run, if its thread class permits concurrent hooks.
  private func saveAmongCalls(_ instance: TestHostInstance, _ table: crb_state) {
    guard trial.interceptor.threadClass == UInt32(CRB_THREADS_CONCURRENT) else { return }
    trial.testHost.state.withLock { $0.isGuarded = false }
    defer { trial.testHost.state.withLock { $0.isGuarded = true } }
    FlightRecord.note("save() among calls", inHook: false)
    let isOver = Atomic(false)
    let crowd = (0..<4).map { _ in
      TestHostThread { while !isOver.load(ordering: .relaxed) { work(instance) } }
    }
    for _ in 0..<trial.options.times(200, atLeast: 20) { _ = instance.save(table, trial.notes) }
    isOver.store(true, ordering: .relaxed)
    for thread in crowd { thread.join() }
  }
}
