internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import CarabinerWire
internal import Synchronization

/// The services a plugin may ask for. Their tables live as long as the process.
extension TestHost {
  func query(_ who: crb_self, _ id: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
    if use(.query) != nil { return nil }
    guard let id = unsafe id.map({ unsafe String(cString: $0) }) else { return nil }
    let grants = state.withLock { $0.grants }
    switch id {
    case "crb.timer/1": return unsafe UnsafeRawPointer(TestHostServices.timer)
    case "crb.fetch/1": return grants.contains("fetch") ? unsafe UnsafeRawPointer(TestHostServices.fetch) : nil
    case "crb.store/1": return grants.contains("store") ? unsafe UnsafeRawPointer(TestHostServices.store) : nil
    default: return nil
    }
  }

  func arm(
    _ delay: UInt64, _ fire: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, _ user: UnsafeMutableRawPointer?
  ) -> crb_timer {
    if use(.timerArm) != nil { return 0 }
    guard let fire = unsafe fire else { return 0 }
    let context = unsafe PluginContext(user)
    let timer = timers.schedule(after: delay) { unsafe fire(context.pointer) }
    interrupt()
    return timer
  }

  func cancel(_ timer: crb_timer) -> crb_status {
    if let fault = use(.timerCancel) { return fault }
    return timers.cancel(timer) ? Status.ok : Status.stale
  }

  typealias FetchDone =
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<crb_head>?, crb_view, UnsafePointer<crb_error>?) -> Void

  func startFetch(
    _ request: UnsafePointer<crb_fetch_request>?, _ done: FetchDone?, _ user: UnsafeMutableRawPointer?
  ) -> crb_status {
    if let fault = use(.fetchStart) { return fault }
    guard let request = unsafe request, let done = unsafe done else {
      breach("ER10", "crb.fetch/1 start() was given no request or no done() function")
      return Status.invalid
    }
    let url = unsafe InterceptorTable.copy(request, crb_fetch_request()).url.text
    guard url.hasPrefix("http://") || url.hasPrefix("https://") else { return Status.invalid }
    let context = unsafe PluginContext(user)
    let answer = state.withLock { state in
      state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? FetchAnswer()
    }
    _ = timers.schedule(after: 200_000) { unsafe self.deliver(answer, url, done, context.pointer) }
    interrupt()
    return Status.ok
  }

  private func deliver(_ answer: FetchAnswer, _ url: String, _ done: FetchDone, _ user: UnsafeMutableRawPointer?) {
    var memory = GuardedMemory()
    if let failure = answer.failure {
      let error = unsafe memory.error(failure)
      unsafe done(user, nil, .absent, memory.lend(error, named: "the error of a fetch"))
    } else {
      let head = unsafe memory.head(HeadSample(status: answer.status, headers: answer.headers), url: url, attempt: 0)
      let body = unsafe memory.view(answer.body, named: "the body of a fetch")
      unsafe done(user, memory.lend(head, named: "the head of a fetch"), body, nil)
    }
    memory.takeBack()
    collectTouches(at: "the done() function of a fetch")
    memory.forget()
  }
}

/// A plugin's own pointer on its way back to it.
@safe struct PluginContext: @unchecked Sendable {
  // The test host never dereferences it.

  let pointer: UnsafeMutableRawPointer?

  init(_ pointer: UnsafeMutableRawPointer?) { unsafe self.pointer = unsafe pointer }
}

/// The tables of the services.
enum TestHostServices {
  nonisolated(unsafe) static let timer: UnsafePointer<crb_timer_service> = {
    let table = UnsafeMutablePointer<crb_timer_service>.allocate(capacity: 1)
    unsafe table.initialize(to: crb_timer_service())
    unsafe table.pointee.size = UInt32(MemoryLayout<crb_timer_service>.size)
    unsafe table.pointee.now_ns = { TestHostTimers.now &+ CTestHost_warpedNanoseconds() }
    unsafe table.pointee.arm = { who, delay, fire, user in unsafe TestHost.current.arm(delay, fire, user) }
    unsafe table.pointee.cancel = { TestHost.current.cancel($0) }
    return unsafe UnsafePointer(table)
  }()

  nonisolated(unsafe) static let fetch: UnsafePointer<crb_fetch_service> = {
    let table = UnsafeMutablePointer<crb_fetch_service>.allocate(capacity: 1)
    unsafe table.initialize(to: crb_fetch_service())
    unsafe table.pointee.size = UInt32(MemoryLayout<crb_fetch_service>.size)
    unsafe table.pointee.start = { who, request, done, user in
      unsafe TestHost.current.keep(request: request)
      return unsafe TestHost.current.startFetch(request, done, user)
    }
    return unsafe UnsafePointer(table)
  }()

  nonisolated(unsafe) static let store: UnsafePointer<crb_store_service> = {
    let table = UnsafeMutablePointer<crb_store_service>.allocate(capacity: 1)
    unsafe table.initialize(to: crb_store_service())
    unsafe table.pointee.size = UInt32(MemoryLayout<crb_store_service>.size)
    unsafe table.pointee.load = { who, keys, count, done, user in
      unsafe TestHostStore.shared.load(keys, count, done, user)
    }
    unsafe table.pointee.publish = { who, records, done, user in
      unsafe TestHost.current.keep(.storePublish, "a record of the store", records)
      return unsafe TestHostStore.shared.publish(records, done, user)
    }
    unsafe table.pointee.remove = { who, keys, count, done, user in
      unsafe TestHostStore.shared.remove(keys, count, done, user)
    }
    unsafe table.pointee.remove_matching = { who, pattern, done, user in
      unsafe TestHostStore.shared.removeMatching(pattern, done, user)
    }
    return unsafe UnsafePointer(table)
  }()
}
