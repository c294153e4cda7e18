internal import CCarabiner
internal import CCrossing
internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import FoundationEssentials
internal import Glibc

/// Runs the host's readers of worker memory on arbitrary bytes. For tests and `Scripts/scenario fuzz`.
///
/// There is no process: the caller writes the bytes of a worker.
@safe package final class WorkerRehearsal {
  // One thread uses an object. `up` is memory that lives as long as `process`.

  private let process: WorkerProcess
  private let up: [UnsafeMutableRawPointer]
  private let down: UnsafeMutableRawPointer
  /// The number of posts to the lane, and the time that the checks see.
  private var (posts, time): (UInt32, UInt64) = (0, 0)

  private static let arena = 1 << 20
  /// More bytes than the pages have, so that some writes reach the arena.
  private static let reach = Int(CCROSSING_ARENA) + 4096
  /// The place of the number of posts that the lane has taken.
  private static let begun = 72

  /// Creates the memory of a worker with one lane.
  package init() throws {
    var lanes: [WorkerLane] = []
    var maps: [UnsafeMutableRawPointer] = unsafe []
    for _ in 0..<2 {
      let lane = try WorkerLane(arena: UInt64(Self.arena), lanes: 1, plugins: 1)
      guard let map = unsafe CCrossing_map(lane.descriptors.up, UInt64(Self.arena), 0) else {
        throw HostError(system: 12, "memory cannot be mapped")
      }
      lanes.append(lane)
      unsafe maps.append(map)
    }
    unsafe up = unsafe maps
    guard let map = unsafe CCrossing_map(lanes[1].descriptors.down, UInt64(Self.arena), 1) else {
      throw HostError(system: 12, "memory cannot be mapped")
    }
    unsafe down = unsafe map
    process = WorkerProcess(
      WorkerSettings(group: "rehearsal"), generation: 1, lanes: lanes, bell: -1,
      process: StartedWorker(descriptor: -1, launcher: WorkerLauncher(reading: [])), report: -1, output: -1,
      counters: WorkerCounters(holding: Self.arena), controlGroup: nil)
  }

  deinit {
    for index in unsafe up.indices { unsafe CCrossing_unmap(up[index], UInt64(Self.arena)) }
    unsafe CCrossing_unmap(down, UInt64(Self.arena))
  }

  // MARK: Memory

  /// Posts, and reads what a worker would write into its memory, as the bytes say: eight for each step.
  ///
  /// - Returns: A property that does not hold; nil if all hold.
  package func play(_ bytes: [UInt8]) -> String? {
    var open: [WorkerLane.Ticket] = []
    for step in stride(from: 0, to: bytes.count - 7, by: 8) {
      let (action, pick) = (bytes[step] % 12, Int(bytes[step + 1]))
      let place = (Int(bytes[step + 2]) | Int(bytes[step + 3]) << 8 | (pick & 3) << 16) * 4 % Self.reach
      let value = bytes[step + 4..<step + 8].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let lane = process.lanes[pick >> 2 & 1]
      switch action {
      case 0, 1: unsafe (up[Int(action)] + place).storeBytes(of: value, as: UInt32.self)
      case 2:
        guard open.count < Int(CCROSSING_SLOTS), let ticket = lanes(1).open(Int(value % 40_000)) else { continue }
        guard lanes(1).post(ticket, UInt16(pick % 8)) else {
          lanes(1).close(ticket)
          continue
        }
        open.append(ticket)
        posts += 1
      case 3: answer(open, pick, value)
      case 4 where !open.isEmpty: lanes(1).close(open.remove(at: pick % open.count))
      case 5 where !open.isEmpty:
        if case .answered(let answer) = lanes(1).wait(open[pick % open.count], until: 0), answer.message.count > Self.arena {
          return "an answer is longer than the memory"
        }
      case 6: _ = (lane.problem, lane.progress, lane.running, lane.openSlots)
      case 7: process.readAnnouncements(rings: UInt64(value))
      case 8:
        time += UInt64(value)
        process.look(at: time)
      case 9: process.check()
      case 10: _ = lane.end()
      default: lane.post(CCROSSING_RELEASE, call: UInt64(value))
      }
    }
    for ticket in open { lanes(1).close(ticket) }
    guard lanes(1).openSlots == 0 else { return "a slot is open that was closed" }
    return process.reason == nil || !process.reasonText.isEmpty ? nil : "the worker ended without a reason"
  }

  private func lanes(_ index: Int) -> WorkerLane { process.lanes[index] }

  /// Answers a post, with a message anywhere.
  private func answer(_ open: [WorkerLane.Ticket], _ pick: Int, _ value: UInt32) {
    guard !open.isEmpty else { return }
    let ticket = open[pick % open.count]
    var post = CCrossing_post()
    (post.slot, post.generation) = (ticket.slot, ticket.generation)
    var answer = CCrossing_answer()
    (answer.block, answer.length) = (value >> 24, value & 0xFF_FFFF)
    unsafe (up[1] + Self.begun).storeBytes(of: posts, as: UInt32.self)
    _ = unsafe CCrossing_publish(OpaquePointer(down), OpaquePointer(up[1]), &post, &answer)
  }

  // MARK: Messages

  /// Reads a message as the answer to each operation of the control thread, and as each request of a worker.
  ///
  /// - Returns: A property that does not hold; nil if all hold.
  package func readMessage(_ bytes: [UInt8]) -> String? {
    let answer = WorkerLane.Answer(verdict: 0, isKept: false, wasRun: true, began: 0, message: bytes)
    let isWhole = unsafe WorkerRecords.problem(in: bytes) == nil
    if !isWhole, WorkerRefusal.found(in: answer) == nil { return "a message that is cut is taken" }
    do throws(WorkerRefusal) {
      let description = try WorkerDescription(bytes)
      guard isWhole else { return "a description that is cut is taken" }
      if try WorkerDescription(bytes) != description { return "a description is read differently" }
      let table = WorkerTable(description)
      let note = PluginNote(id: description.interceptors.first?.id ?? "", version: "")
      _ = try? unsafe RegistrationReader(table.plugin, path: "").interceptors(note: note)
    } catch {
      if error.text.isEmpty { return "a refusal without words" }
    }
    for request in UInt32(0)..<7 {
      WorkerServices.answer(
        WorkerCallback(
          place: 0, generation: 1, request: request, instance: 1, argument: request << 4 | 1, number: 1, message: bytes),
        of: process)
    }
    return nil
  }

  // MARK: Edits

  /// Stages a message as the answer of a hook.
  ///
  /// - Parameter pick: Which hook.
  /// - Returns: A property that does not hold; nil if all hold.
  package func stage(_ bytes: [UInt8], of pick: UInt8) throws -> String? {
    _ = process.add(key: 1, "rehearsal.key")
    let hooks: [Hook] = [.onRequest, .onResult, .onError, .onEnd]
    let hook = hooks[Int(pick) % hooks.count]
    let shared = PluginCall(
      context: RequestContext(), operationName: nil, operationType: .query, limits: PluginLimits())
    let call = try shared.beginPass(through: Self.group.get(), timeout: nil)
    defer { shared.endPass(call) }
    call.beginStep(Message())
    defer { call.endStep() }
    call.open(hook, 0)
    var problem: String?
    let status = CallTable.shared.enter(call.handle) { call, hook, stage in
      problem = unsafe bytes.withUnsafeBytes { unsafe WorkerEdits(call, hook, stage, of: process).apply($0) }
      return Status.ok
    }
    let effects = call.takeEffects()
    guard status == Status.ok else { return "the hook is not open" }
    if problem?.isEmpty == true { return "a problem without words" }
    if problem == nil, unsafe WorkerRecords.problem(in: bytes) != nil { return "a message that is cut is taken" }
    guard effects.elementBytes <= bytes.count, effects.elements.count <= bytes.count / 32 else {
      return "more is staged than the message has"
    }
    return nil
  }

  private final class Message: HookMessage {
    func headers(of source: Contract.HeaderSource) -> HTTPHeaders? { [:] }
    func content(of part: Parts) -> MessageContent { .absent }
    var responseURL: URL? { nil }
  }

  /// A plugin that may change everything.
  private static let group = Result { () throws -> PluginStageGroup in
    let note = PluginNote(id: "org.carabiner.rehearsal", version: "1")
    let interceptors = try unsafe RegistrationReader(registration, path: "").interceptors(note: note)
    let subject = CrashSubject(entry: note.id, file: "", digest: "", generation: 0)
    let host = unsafe HostTable.make(for: note.id, subject: subject, library: "")
    let instance = try unsafe PluginInstance(
      interceptors[0], host, path: "", digest: "", PluginInstance.Options(name: "rehearsal"))
    return PluginStageGroup(.graphQL, [StageBinding(instance, .graphQL)])
  }

  /// Its table, which is never freed.
  private nonisolated(unsafe) static let registration: UnsafeMutablePointer<crb_plugin> = {
    let all = (UInt32(1) << 12) - 1
    let stage = UnsafeMutablePointer<crb_graphql_stage>.allocate(capacity: 1)
    unsafe stage.initialize(to: crb_graphql_stage())
    unsafe stage.pointee.size = UInt32(MemoryLayout<crb_graphql_stage>.size)
    unsafe (stage.pointee.needs, stage.pointee.mutates) = (all, all)
    unsafe stage.pointee.on_request = { _, _, _ in Verdict.continue }
    let id = unsafe strdup("org.carabiner.rehearsal")
    let table = UnsafeMutablePointer<crb_interceptor>.allocate(capacity: 1)
    unsafe table.initialize(to: crb_interceptor())
    unsafe table.pointee.size = UInt32(MemoryLayout<crb_interceptor>.size)
    unsafe table.pointee.thread_class = UInt32(CRB_THREADS_CONCURRENT)
    unsafe (table.pointee.id, table.pointee.version) = unsafe (UnsafePointer(id), UnsafePointer(id))
    unsafe table.pointee.graphql = unsafe UnsafePointer(stage)
    unsafe table.pointee.create = { _, _, _, _ in Status.ok }
    let items = UnsafeMutablePointer<UnsafePointer<crb_interceptor>?>.allocate(capacity: 1)
    unsafe items.initialize(to: UnsafePointer(table))
    let plugin = UnsafeMutablePointer<crb_plugin>.allocate(capacity: 1)
    unsafe plugin.initialize(to: crb_plugin())
    unsafe plugin.pointee.size = UInt32(MemoryLayout<crb_plugin>.size)
    unsafe plugin.pointee.abi_major = UInt16(CRB_ABI_MAJOR)
    unsafe plugin.pointee.count = 1
    unsafe plugin.pointee.items = unsafe UnsafePointer(items)
    return unsafe plugin
  }()
}
