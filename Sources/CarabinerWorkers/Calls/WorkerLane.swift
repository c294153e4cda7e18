internal import CCrossing
internal import CLinux
internal import CarabinerABI
internal import CarabinerBridge
internal import Glibc
internal import Synchronization

/// The host's side of one lane: a thread of a worker, and the memory that the host shares with it.
///
/// The host writes `down` and only reads `up`. It does not trust `up`: each value is copied once and then checked.
@safe final class WorkerLane: @unchecked Sendable {
  // `state` guards the ring, the slots and the space of `down`. The functions of CCrossing read `up` with atomic loads.

  /// A slot of the lane, from the post until its answer is copied.
  struct Ticket: Sendable {
    let slot: UInt32
    let generation: UInt32
    fileprivate let block: UInt32
    fileprivate let bytes: Int
    /// Whether the message belongs to another slot.
    fileprivate let isFollower: Bool

    /// The ticket of a hook that waits for a worker.
    static let none = Ticket(slot: absentLength, generation: 0, block: 0, bytes: 0, isFollower: false)
  }

  /// The answer of a worker. Its message is a copy.
  struct Answer: Sendable {
    /// The verdict of a hook, the status of a control operation.
    let verdict: Int32
    /// Whether the worker keeps memory for the call.
    let isKept: Bool
    /// Whether the hook was called. A follower's is not if a stage before it did not let the message pass.
    let wasRun: Bool
    /// When the lane took the post, as the worker says, in nanoseconds of the monotonic clock; 0 if it does not.
    let began: UInt64
    let message: [UInt8]
  }

  /// The result of a post.
  enum Outcome: Sendable {
    case answered(Answer)
    case pending
    case notYet
    /// The worker broke the protocol.
    case invalid(String)
  }

  /// An open slot of a worker that ended.
  struct Lost: Sendable {
    let crossing: WorkerCrossing
    /// Whether the worker had taken the post from the ring.
    let hadBegun: Bool
    let slot: UInt32
  }

  private struct Slot {
    var generation: UInt32 = 0
    /// The newest generation that the worker has named in `up`.
    var named: UInt32 = 0
    var instance: UInt32 = 0
    /// Nil before its post.
    var operation: UInt16?
    /// Whether the worker has named it as running.
    var wasNamed = false
    /// When it was posted, in nanoseconds of the monotonic clock; 0 for a follower.
    var postedAt: UInt64 = 0
    var isOpen = false
    var crossing: WorkerCrossing?
    /// The slot whose message a follower reads; nil if the message is its own.
    var leader: UInt32?
    /// The space of its message, which is free when this slot and those of all followers are.
    var space: (block: UInt32, bytes: Int)?
    /// The open followers that read its message.
    var readers = 0
  }

  @safe private struct State {
    var tail: UInt32 = 0
    /// How many posts the worker has taken, by its last valid count.
    var begun: UInt32 = 0
    /// The first rule that a count of the worker broke.
    var problem: String?
    var space = unsafe CCrossing_space()
    var slots = Array(repeating: Slot(), count: Int(CCROSSING_SLOTS))
    var free = Array((0..<UInt32(CCROSSING_SLOTS)).reversed())
    /// The slots whose tasks are suspended.
    var announced: Set<UInt32> = []
    /// Posts without a slot that came while the ring was full.
    var waiting: [CCrossing_post] = []
    /// How many hooks the worker has named as running when it was their turn.
    var begunHooks = 0
    var isEnded = false
  }

  private let arena: UInt64
  // Their structs have atomic fields, which Swift does not import.
  private let down: OpaquePointer
  private let up: OpaquePointer
  /// The descriptors of both directions, which the worker inherits.
  let descriptors: (down: Int32, up: Int32)
  private let state: Mutex<State>
  /// The times until posts begin.
  private let begin: WorkerWaits?
  private let budget = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
  /// The number of the last post of each slot.
  private let posts = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: Int(CCROSSING_SLOTS))

  /// While the ring is full, at most this many posts wait. Each belongs to a call.
  private static let maximumWaiting = CallTable.maximumCalls
  /// Generations of a slot are 1 to this number.
  private static let generations = UInt32.max >> 1

  init(arena: UInt64, lanes: UInt32, plugins: UInt32, begin: WorkerWaits? = nil) throws(HostError) {
    var (downMap, upMap): (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) = (nil, nil)
    let downFile = unsafe CCrossing_make(arena, 1, &downMap)
    guard downFile >= 0, let downMemory = unsafe downMap else { throw Self.noMemory(errno) }
    let upFile = unsafe CCrossing_make(arena, 0, &upMap)
    guard upFile >= 0, let upMemory = unsafe upMap else {
      let code = errno
      unsafe CCrossing_unmap(downMemory, arena)
      Glibc.close(downFile)
      throw Self.noMemory(code)
    }
    self.arena = arena
    self.begin = begin
    unsafe down = OpaquePointer(downMemory)
    unsafe up = OpaquePointer(upMemory)
    descriptors = (downFile, upFile)
    unsafe budget.initialize(to: 0)
    for slot in 0..<Int(CCROSSING_SLOTS) { unsafe (posts + slot).initialize(to: Atomic(0)) }
    unsafe CCrossing_begin(down, arena, lanes, plugins)
    var first = State()
    let isOpen = unsafe CCrossing_openSpace(&first.space, arena) == 0
    state = Mutex(first)
    guard isOpen else { throw Self.noMemory(ENOMEM) }
  }

  deinit {
    state.withLock { unsafe CCrossing_closeSpace(&$0.space) }
    unsafe CCrossing_unmap(UnsafeRawPointer(down), arena)
    unsafe CCrossing_unmap(UnsafeRawPointer(up), arena)
    unsafe budget.deallocate()
    unsafe posts.deallocate()
    Glibc.close(descriptors.down)
    Glibc.close(descriptors.up)
  }

  private static func noMemory(_ code: Int32) -> HostError {
    HostError(system: code, "memory for a worker cannot be made; give the host more memory or lower `arena`")
  }

  // MARK: Posts

  /// Takes a slot and space for a message; nil if all are in use, or the worker has ended.
  func open(_ bytes: Int) -> Ticket? {
    state.withLock { state in Self.open(bytes, &state) }
  }

  /// The same, with a message.
  func open(holding message: [UInt8]) -> Ticket? {
    guard let ticket = open(message.count) else { return nil }
    unsafe message.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { unsafe memory(ticket).copyMemory(from: base, byteCount: bytes.count) }
    }
    return ticket
  }

  /// The same, with slots for followers. The array is empty, or shorter, if slots are scarce.
  func open(_ bytes: Int, followers: Int) -> (first: Ticket, followers: [Ticket])? {
    state.withLock { state in
      guard let first = Self.open(bytes, &state) else { return nil }
      let count = max(0, min(followers, state.free.count - Self.reservedSlots))
      var tickets: [Ticket] = []
      tickets.reserveCapacity(count)
      for _ in 0..<count {
        let slot = state.free.removeLast()
        let ticket = Ticket(
          slot: slot, generation: Self.nextGeneration(slot, state), block: first.block, bytes: first.bytes, isFollower: true)
        let named = state.slots[Int(slot)].named
        state.slots[Int(slot)] = Slot(generation: ticket.generation, named: named, isOpen: true, leader: first.slot)
        tickets.append(ticket)
      }
      state.slots[Int(first.slot)].readers = count
      return (first, tickets)
    }
  }

  /// The slots that are left to other calls, which would otherwise wait for one.
  private static let reservedSlots = Int(CCROSSING_SLOTS) / 4

  private static func open(_ bytes: Int, _ state: inout State) -> Ticket? {
    guard !state.isEnded, let slot = state.free.popLast() else { return nil }
    let block = unsafe CCrossing_take(&state.space, UInt64(bytes))
    guard block != .max else {
      state.free.append(slot)
      return nil
    }
    let generation = nextGeneration(slot, state)
    let named = state.slots[Int(slot)].named
    state.slots[Int(slot)] = Slot(generation: generation, named: named, isOpen: true, space: (block, bytes))
    return Ticket(slot: slot, generation: generation, block: block, bytes: bytes, isFollower: false)
  }

  private static func nextGeneration(_ slot: UInt32, _ state: borrowing State) -> UInt32 {
    let last = state.slots[Int(slot)].generation
    return last == generations ? 1 : last + 1
  }

  /// The memory of a ticket's message.
  func memory(_ ticket: Ticket) -> UnsafeMutableRawPointer { unsafe CCrossing_arena(UnsafeRawPointer(down), ticket.block) }

  /// A copy of a ticket's message; nil for a follower.
  func message(_ ticket: Ticket) -> [UInt8]? {
    guard !ticket.isFollower else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: memory(ticket), count: ticket.bytes))
  }

  /// Posts an operation. Its message is written already.
  ///
  /// - Parameters:
  ///   - row: The stages that the message names beside the first one.
  ///   - isCrowded: Whether the host has more calls under way than processors.
  /// - Returns: False if the ring has no room, or the worker has ended.
  func post(
    _ ticket: Ticket, _ operation: UInt16, kind: UInt16 = 0, instance: UInt32 = 0, call: UInt64 = 0, row: WorkerRow? = nil,
    isCrowded: Bool = false
  ) -> Bool {
    let post = CCrossing_post(
      operation: operation, kind: kind, slot: ticket.slot, generation: ticket.generation, instance: instance, call: call,
      block: ticket.block, length: UInt32(ticket.bytes))
    return state.withLock { state in
      guard !state.isEnded, hasRoom(&state) else { return false }
      unsafe posts[Int(ticket.slot)].store(state.tail, ordering: .relaxed)
      state.slots[Int(ticket.slot)].instance = instance
      state.slots[Int(ticket.slot)].operation = operation
      state.slots[Int(ticket.slot)].postedAt = MonotonicClock.nanoseconds
      for stage in row?.stages ?? [] {
        unsafe posts[Int(stage.ticket.slot)].store(state.tail, ordering: .relaxed)
        state.slots[Int(stage.ticket.slot)].instance = stage.instance.number
        state.slots[Int(stage.ticket.slot)].operation = operation
      }
      unsafe CCrossing_setCrowded(down, isCrowded ? 1 : 0)
      append(post, &state)
      return true
    }
  }

  /// Posts an operation without an answer.
  ///
  /// - Parameter generation: Of the slot of a pending hook; 0 for any.
  func post(_ operation: CCrossing_operation, kind: UInt16 = 0, instance: UInt32 = 0, call: UInt64 = 0, generation: UInt32 = 0) {
    let post = CCrossing_post(
      operation: UInt16(operation.rawValue), kind: kind, slot: absentLength, generation: generation, instance: instance,
      call: call, block: 0, length: 0)
    state.withLock { state in
      guard !state.isEnded, state.waiting.count < Self.maximumWaiting else { return }
      state.waiting.append(post)
      flush(&state)
    }
  }

  private func append(_ post: CCrossing_post, _ state: inout State) {
    unsafe withUnsafePointer(to: post) { state.tail = unsafe CCrossing_post(down, up, state.tail, $0) }
  }

  private func flush(_ state: inout State) {
    guard !state.waiting.isEmpty else { return }
    var sent = 0
    while sent < state.waiting.count, hasRoom(&state) {
      append(state.waiting[sent], &state)
      sent += 1
    }
    state.waiting.removeFirst(sent)
  }

  private func hasRoom(_ state: inout State) -> Bool { state.tail &- begun(&state) < UInt32(CCROSSING_RING) }

  /// How many posts the worker has taken. A count that goes back, or beyond the posts, is not used.
  private func begun(_ state: inout State) -> UInt32 {
    let count = unsafe CCrossing_begun(up)
    if count &- state.begun <= state.tail &- state.begun {
      state.begun = count
    } else if state.problem == nil {
      state.problem = "it has taken \(count) posts by its own count, and there are \(state.begun) to \(state.tail)"
    }
    return state.begun
  }

  // MARK: Answers

  /// Waits for the answer on this thread, until a time of the monotonic clock.
  ///
  /// - Parameter maximum: A longer message is not copied, as if it had not come.
  func wait(_ ticket: Ticket, until: UInt64, atMost maximum: UInt32 = .max) -> Outcome {
    var answer = CCrossing_answer()
    let found = unsafe CCrossing_await(down, up, ticket.slot, ticket.generation, until, budget, &answer)
    return outcome(found, answer, ticket, atMost: maximum)
  }

  /// Whether the worker has answered.
  func isAnswered(_ ticket: Ticket) -> Bool { unsafe CCrossing_stateOf(up, ticket.slot) == ticket.generation << 1 | 1 }

  /// The answer, if it is there.
  func look(_ ticket: Ticket) -> Outcome {
    var answer = CCrossing_answer()
    let found = unsafe CCrossing_look(up, ticket.slot, ticket.generation, &answer)
    return outcome(found, answer, ticket)
  }

  /// Requests that ``WorkerReader`` handles the answer, for a task that is suspended.
  ///
  /// - Returns: The outcome if it came in the meantime; nil if the worker has ended.
  func announce(_ ticket: Ticket, to crossing: WorkerCrossing) -> Outcome? {
    // Before the bell can ring. The thread that takes the slot out of `announced` completes the hook.
    let isOpen = state.withLock { state in
      guard !state.isEnded else { return false }
      state.slots[Int(ticket.slot)].crossing = crossing
      state.announced.insert(ticket.slot)
      return true
    }
    guard isOpen else { return nil }
    var answer = CCrossing_answer()
    let found = unsafe CCrossing_announce(down, up, ticket.slot, ticket.generation, &answer)
    let outcome = outcome(found, answer, ticket, atMost: WorkerInstance.directBytes)
    switch outcome {
    case .notYet, .pending: return outcome
    case .answered, .invalid: return take(ticket, from: crossing) ? outcome : .notYet
    }
  }

  /// Takes an announced hook, unless another thread has, or the worker has ended.
  private func take(_ ticket: Ticket, from crossing: WorkerCrossing) -> Bool {
    state.withLock { state in
      guard state.slots[Int(ticket.slot)].crossing === crossing else { return false }
      return state.announced.remove(ticket.slot) != nil
    }
  }

  /// The answers that have come for suspended tasks.
  func takeAnnounced(_ body: (WorkerCrossing, Ticket, Outcome) -> Void) {
    let waiting = state.withLock { state in
      flush(&state)
      return state.announced.compactMap { slot -> (WorkerCrossing, Ticket)? in
        let entry = state.slots[Int(slot)]
        return entry.crossing.map { ($0, $0.ticket) }
      }
    }
    for (crossing, ticket) in waiting {
      let outcome = look(ticket)
      switch outcome {
      case .notYet, .pending: continue
      case .answered, .invalid: if take(ticket, from: crossing) { body(crossing, ticket, outcome) }
      }
    }
  }

  private func outcome(
    _ found: Int32, _ answer: CCrossing_answer, _ ticket: Ticket, atMost maximum: UInt32 = .max
  ) -> Outcome {
    guard Int(found) == Int(CCROSSING_NOT_YET) || hasBegun(ticket) else {
      return .invalid("an answer came before its post was taken")
    }
    return switch Int(found) {
    case Int(CCROSSING_ANSWERED): answer.length > maximum && answer.length <= arena ? .notYet : read(answer)
    case Int(CCROSSING_IS_PENDING): .pending
    default: .notYet
    }
  }

  private func read(_ answer: CCrossing_answer) -> Outcome {
    let start = UInt64(answer.block) * UInt64(CCROSSING_BLOCK)
    let length = UInt64(answer.length)
    guard start <= arena, length <= arena - start else { return .invalid("the place of an answer is outside of its memory") }
    let message =
      length == 0
      ? []
      : unsafe Array(
        UnsafeRawBufferPointer(start: CCrossing_arena(UnsafeRawPointer(up), answer.block), count: Int(length)))
    return .answered(
      Answer(
        verdict: answer.verdict, isKept: answer.flags & UInt32(CCROSSING_KEPT) != 0,
        wasRun: answer.flags & UInt32(CCROSSING_NOT_RUN) == 0, began: answer.began, message: message))
  }

  /// Drops the answer of a slot, which stays in use.
  func forget(_ ticket: Ticket) {
    state.withLock { state in
      guard state.slots[Int(ticket.slot)].generation == ticket.generation else { return }
      state.slots[Int(ticket.slot)].crossing = nil
      state.announced.remove(ticket.slot)
    }
  }

  /// Gives a slot back, and the space of its message once no follower reads it.
  ///
  /// - Parameter began: When the lane took the post, as the worker says; 0 if it is unknown.
  func close(_ ticket: Ticket, began: UInt64 = 0) {
    state.withLock { state in
      let entry = state.slots[Int(ticket.slot)]
      guard entry.isOpen, entry.generation == ticket.generation else { return }
      if began > 0, entry.postedAt > 0 { begin?.record(began > entry.postedAt ? began - entry.postedAt : 0) }
      unsafe CCrossing_done(down, ticket.slot, ticket.generation)
      state.announced.remove(ticket.slot)
      state.slots[Int(ticket.slot)].isOpen = false
      state.slots[Int(ticket.slot)].crossing = nil
      freeIfUnread(ticket.slot, &state)
      if let leader = entry.leader {
        state.slots[Int(leader)].readers -= 1
        freeIfUnread(leader, &state)
      }
      flush(&state)
    }
  }

  private func freeIfUnread(_ slot: UInt32, _ state: inout State) {
    let entry = state.slots[Int(slot)]
    guard !entry.isOpen, entry.readers == 0 else { return }
    state.slots[Int(slot)] = Slot(generation: entry.generation, named: entry.named)
    state.free.append(slot)
    if let space = entry.space { unsafe CCrossing_give(&state.space, space.block, UInt64(space.bytes)) }
  }

  /// Whether the worker has taken a post from the ring.
  func hasBegun(_ ticket: Ticket) -> Bool {
    unsafe Int32(bitPattern: posts[Int(ticket.slot)].load(ordering: .relaxed) &- CCrossing_begun(up)) < 0
  }

  // MARK: The hook that runs

  /// The hook that the lane named as running: its slot, its generation and its operation; nil if it named none.
  var running: (slot: UInt32, generation: UInt32, operation: UInt8)? {
    let word = unsafe CCrossing_running(up)
    guard word != 0, UInt8(truncatingIfNeeded: word) > 0 else { return nil }
    return (UInt32(truncatingIfNeeded: word >> 8) & 0xFFFFFF, UInt32(word >> 32), UInt8(truncatingIfNeeded: word) - 1)
  }

  /// A hook that ran when the worker ended.
  struct Interrupted: Sendable {
    let instance: UInt32
    let hook: Hook
    /// The number of the request.
    let request: UInt64
    /// The lines that the hook had written to the log.
    let lines: [UInt8]
  }

  /// The hook that ran when the worker ended: its instance, its hook, the number of the request, and the lines that it had written to the
  /// log. Of the worker's memory only the running slot and the lines are used, and they are checked.
  var interrupted: Interrupted? {
    guard let running, let hook = Hook(rawValue: running.operation), running.slot < UInt32(CCROSSING_SLOTS) else { return nil }
    return state.withLock { state in
      let entry = state.slots[Int(running.slot)]
      guard entry.isOpen, entry.generation == running.generation else { return nil }
      var request: UInt64 = 0
      let space = entry.space ?? entry.leader.flatMap { state.slots[Int($0)].space }
      if let space, space.bytes >= MemoryLayout<CCrossing_snapshot>.size {
        request = unsafe CCrossing_arena(UnsafeRawPointer(down), space.block).load(as: CCrossing_snapshot.self).request_id
      }
      let lines = unsafe [UInt8](unsafeUninitializedCapacity: Int(CCROSSING_LINES)) { buffer, count in
        count = unsafe Int(CCrossing_copyLines(up, running.generation, buffer.baseAddress))
      }
      return Interrupted(instance: entry.instance, hook: hook, request: request, lines: lines)
    }
  }

  /// The number of slots in use.
  var openSlots: Int { state.withLock { Int(CCROSSING_SLOTS) - $0.free.count } }

  // MARK: Checks

  /// The rule that the counts and states of the lane break; nil if they break none.
  var problem: String? {
    state.withLock { state in
      _ = begun(&state)
      if state.problem == nil { state.problem = wrongState(&state) ?? wrongRunning(state) }
      return state.problem
    }
  }

  /// A slot whose state names a hook that was not posted, or an older one than it named before.
  private func wrongState(_ state: inout State) -> String? {
    for slot in state.slots.indices {
      let named = unsafe CCrossing_stateOf(up, UInt32(slot)) >> 1
      let (known, newest) = (state.slots[slot].named, state.slots[slot].generation)
      guard (named &- known) & Self.generations <= (newest &- known) & Self.generations else {
        return "slot \(slot) has the answer \(named), and the host asked for \(known) to \(newest)"
      }
      state.slots[slot].named = named
    }
    return nil
  }

  private func wrongRunning(_ state: borrowing State) -> String? {
    guard let running else { return nil }
    guard running.slot < UInt32(CCROSSING_SLOTS) else {
      return "the hook of a slot \(running.slot) runs, and there is no such slot"
    }
    let newest = state.slots[Int(running.slot)].generation
    guard running.generation <= Self.generations, (newest &- running.generation) & Self.generations <= Self.generations / 2 else {
      return "hook \(running.generation) of slot \(running.slot) runs, and the host posted \(newest)"
    }
    return nil
  }

  /// The progress of a lane that has hooks to run.
  ///
  /// A lane answers its posts in their order, so the oldest one without an answer is its work. Nothing else that the worker writes
  /// counts: each of its threads can write it.
  struct Progress: Equatable {
    /// The number of the oldest post with a hook that is neither answered nor pending, and how many of its hooks are left.
    let post: UInt32
    let left: Int
    /// How many hooks the worker has named as running, each once, when their post was the oldest one.
    let begunHooks: Int
    /// The first of these hooks, and whether the worker names one of them now.
    let hook: Hook
    let isNamed: Bool

    static func == (one: Progress, other: Progress) -> Bool {
      one.post == other.post && one.left == other.left && one.begunHooks == other.begunHooks
    }
  }

  /// The progress of the lane; nil if no hook waits for it.
  var progress: Progress? {
    let running = running
    return state.withLock { state in
      var (post, left, hook): (UInt32, Int, Hook?) = (0, 0, nil)
      for slot in state.slots.indices {
        guard let of = dueHook(slot, state) else { continue }
        let number = unsafe posts[slot].load(ordering: .relaxed)
        // The ring's numbers begin again after the largest one.
        let isOlder = Int32(bitPattern: number &- post) < 0
        if left == 0 || isOlder { (post, left, hook) = (number, 1, of) } else if number == post { left += 1 }
      }
      guard let hook else { return nil }
      let isNamed = running.map { note($0.slot, $0.generation, runningOf: post, &state) } ?? false
      return Progress(post: post, left: left, begunHooks: state.begunHooks, hook: hook, isNamed: isNamed)
    }
  }

  /// The hook of a slot that the worker has to answer; nil if there is none, or if it is pending.
  private func dueHook(_ slot: Int, _ state: borrowing State) -> Hook? {
    guard state.slots[slot].isOpen, let operation = state.slots[slot].operation,
      unsafe CCrossing_stateOf(up, UInt32(slot)) >> 1 != state.slots[slot].generation
    else { return nil }
    return Hook(rawValue: UInt8(truncatingIfNeeded: operation))
  }

  /// Counts a hook of the oldest post that the worker names as running for the first time.
  ///
  /// - Returns: Whether it is a hook of this post.
  private func note(_ slot: UInt32, _ generation: UInt32, runningOf post: UInt32, _ state: inout State) -> Bool {
    guard slot < UInt32(CCROSSING_SLOTS), state.slots[Int(slot)].isOpen, state.slots[Int(slot)].generation == generation,
      unsafe posts[Int(slot)].load(ordering: .relaxed) == post
    else { return false }
    if !state.slots[Int(slot)].wasNamed {
      state.slots[Int(slot)].wasNamed = true
      state.begunHooks += 1
    }
    return true
  }

  // MARK: Refused system calls, of the control lane

  /// How many different system calls the worker was refused.
  var refusedKinds: UInt32 { unsafe CCrossing_refusedKinds(up) }

  /// The refused calls by number, and the address of the first instruction. The last place counts all unusual numbers.
  var refusals: [(number: Int, count: Int, address: UInt64)] {
    guard refusedKinds > 0 else { return [] }
    return (0...UInt32(CCROSSING_CALL_NUMBERS)).compactMap { number in
      var address: UInt64 = 0
      let count = unsafe CCrossing_refused(up, number, &address)
      return count == 0 ? nil : (number < UInt32(CCROSSING_CALL_NUMBERS) ? Int(number) : -1, Int(count), address)
    }
  }

  // MARK: Callbacks, of the control lane

  /// Whether the worker is confined and takes posts.
  var isReady: Bool { unsafe CCrossing_isReady(up) == 1 }

  /// The callbacks that came since the generations in `seen`, which are updated. The messages are copies.
  ///
  /// - Parameters:
  ///   - next: The place that is looked at first. Afterwards, the one after the last callback.
  ///   - body: Returns false to leave further ones for later.
  /// - Returns: The rule that the worker breaks; nil if it breaks none.
  func takeCallbacks(_ seen: inout [UInt32], _ next: inout Int, _ body: (WorkerCallback) -> Bool) -> String? {
    let first = next
    for step in seen.indices {
      let number = (first + step) % seen.count
      var copy = CCrossing_question()
      let generation = unsafe CCrossing_asked(up, UInt32(number), seen[number], &copy)
      guard generation != seen[number] else { continue }
      seen[number] = generation
      let start = UInt64(copy.block) * UInt64(CCROSSING_BLOCK)
      let length = UInt64(copy.length)
      guard start <= arena, length <= arena - start else { return "the place of a callback is outside of its memory" }
      let message = unsafe Array(
        UnsafeRawBufferPointer(start: CCrossing_arena(UnsafeRawPointer(up), copy.block), count: Int(length)))
      next = (number + 1) % seen.count
      let callback = WorkerCallback(
        place: UInt32(number), generation: generation, request: copy.request, instance: copy.instance,
        argument: copy.argument, number: copy.number, message: message)
      guard body(callback) else { break }
    }
    return nil
  }

  func reply(to callback: WorkerCallback, _ status: Int32) {
    unsafe CCrossing_reply(down, callback.place, callback.generation, status)
  }

  func setLevels(_ levels: UInt32) { unsafe CCrossing_setLevels(down, levels) }

  // MARK: The end

  /// Marks the lane as ended, and returns the crossings that wait for it.
  func end() -> [Lost] {
    state.withLock { state in
      guard !state.isEnded else { return [] }
      state.isEnded = true
      state.waiting = []
      state.announced = []
      return state.slots.indices.compactMap { slot in
        let entry = state.slots[slot]
        guard let crossing = entry.crossing else { return nil }
        state.slots[slot].crossing = nil
        return Lost(crossing: crossing, hadBegun: hadBegun(UInt32(slot), &state), slot: UInt32(slot))
      }
    }
  }

  /// Whether the worker had taken a post from the ring when it ended.
  func hadBegun(_ ticket: Ticket) -> Bool { state.withLock { hadBegun(ticket.slot, &$0) } }

  /// If the worker broke a rule, its counts are not trusted. All its posts then count as taken, so that no call is also sent to the
  /// next process.
  private func hadBegun(_ slot: UInt32, _ state: inout State) -> Bool {
    let begun = begun(&state)
    guard state.problem == nil else { return true }
    return unsafe Int32(bitPattern: posts[Int(slot)].load(ordering: .relaxed) &- begun) < 0
  }
}

/// A request of a worker to the host.
struct WorkerCallback: Sendable {
  let place: UInt32
  let generation: UInt32
  let request: UInt32
  let instance: UInt32
  let argument: UInt32
  let number: UInt64
  let message: [UInt8]
}
