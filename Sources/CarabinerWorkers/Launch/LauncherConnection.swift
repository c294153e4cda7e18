internal import CLaunching
internal import CLinux
internal import CarabinerBridge
internal import Glibc
internal import Synchronization

/// A launcher that runs, and the requests to it.
///
/// It has a thread of its own, which starts the launcher, receives its messages and reaps it. The kernel ends the launcher with the
/// thread that started it, so this thread ends after the launcher.
final class LauncherConnection: Sendable {
  private enum Request {
    case starting(WaitingResult<Start>, WorkerLauncher, onEnd: @Sendable (WorkerEnd) -> Void)
    case running(StartedWorker, onEnd: @Sendable (WorkerEnd) -> Void)
    /// Its caller has stopped waiting. The worker is killed when it starts.
    case abandoned
  }
  private enum Start {
    case worker(StartedWorker)
    case refusal(HostError)
    case end
  }
  private struct State {
    var requests: [UInt64: Request] = [:]
    var next: UInt64 = 1
    var process: Int32?
    var isEnded = false
  }

  /// How long a launcher may take to make its root, and to start a worker.
  private static let (helloLimit, startLimit) = (Duration.seconds(5), Duration.seconds(10))

  private let state = Mutex(State())
  private let hello = WaitingResult<Result<LauncherLayers, HostError>>()
  private let files: LauncherFiles
  private let words: [String]
  private let (socket, launcherSocket): (Int32, Int32)

  var isEnded: Bool { state.withLock { $0.isEnded } }
  var process: Int32? { state.withLock { $0.process } }

  init(_ files: LauncherFiles, words: [String]) throws(HostError) {
    self.files = files
    self.words = words
    var ends: [Int32] = [-1, -1]
    guard unsafe CLaunching_pair(&ends) == 0 else { throw HostError(system: errno, "a socket pair cannot be created") }
    (socket, launcherSocket) = (ends[0], ends[1])
    let box = unsafe Unmanaged.passRetained(self)
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe CLinux_nameThisThread("workers")
        unsafe Unmanaged<LauncherConnection>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      close(launcherSocket)
      unsafe box.release()
      throw HostError(system: code, "a thread cannot be started")
    }
    pthread_detach(thread)
  }

  deinit { close(socket) }

  func end() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

  // MARK: Requests

  /// Waits for the launcher to be ready.
  func layers() throws(HostError) -> LauncherLayers {
    // The thread sets a result in any case.
    guard let result = hello.wait(within: Self.helloLimit + Self.startLimit) else { throw Self.slow }
    return try result.get()
  }

  /// Starts a worker.
  ///
  /// - Returns: Nil if the launcher has ended.
  func start(
    _ order: WorkerOrder, for launcher: WorkerLauncher, onEnd: @escaping @Sendable (WorkerEnd) -> Void
  ) throws(HostError) -> StartedWorker? {
    _ = try layers()
    let message = try StartMessage(order)
    let result = WaitingResult<Start>()
    let number: UInt64? = try state.withLock { state throws(HostError) in
      if state.isEnded { return nil }
      let number = state.next
      // This never waits. The answer is not handled before this lock is released.
      let code = message.send(to: socket, request: number)
      if code == EPIPE || code == ECONNRESET { return nil }
      guard code == 0 else { throw Self.notSent(code) }
      state.next += 1
      state.requests[number] = .starting(result, launcher, onEnd: onEnd)
      return number
    }
    guard let number else { return nil }
    switch result.wait(within: Self.startLimit) ?? abandon(number) ?? result.wait(within: .seconds(1)) {
    case .worker(let worker): return worker
    case .refusal(let error): throw error
    case .end, nil: return nil
    }
  }

  /// Stops waiting, unless the answer has come.
  private func abandon(_ number: UInt64) -> Start? {
    state.withLock { state in
      guard case .starting = state.requests[number] else { return nil }
      state.requests[number] = .abandoned
      return .refusal(Self.slow)
    }
  }

  // MARK: The thread

  private func run() {
    var process: pid_t = 0
    let code = launch(&process)
    close(launcherSocket)
    guard code == 0 else {
      return finish(HostError(system: code, "carabiner-launcher cannot be started", path: files.path))
    }
    let started = process
    state.withLock { $0.process = started }
    let greeting = receiveHello()
    if case .success = greeting {
      hello.set(greeting)
      while let (answer, descriptor) = receive() { handle(answer, descriptor) }
    }
    // No effect if it has ended, and it cannot be another process before it is reaped.
    kill(process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    if case .failure(let error) = greeting { finish(error) } else { finish(nil) }
  }

  private func launch(_ process: inout pid_t) -> Int32 {
    var pointers = unsafe words.map { unsafe UnsafePointer<CChar>(strdup($0)) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(UnsafeMutablePointer(mutating: pointers[index])) } }
    let runtime = unsafe SwiftRuntime.workerFolder.map { unsafe strdup($0) } ?? nil
    defer { unsafe free(runtime) }
    return unsafe CLaunching_launch(files.launcher, files.worker, launcherSocket, &pointers, runtime, &process) == 0 ? 0 : errno
  }

  private func finish(_ error: HostError?) {
    let requests = state.withLock { state in
      state.isEnded = true
      state.process = nil
      defer { state.requests = [:] }
      return state.requests
    }
    if let error { hello.set(.failure(error)) }
    for (_, request) in requests.sorted(by: { $0.key < $1.key }) {
      switch request {
      case .starting(let result, _, _): result.set(.end)
      case .running(let worker, let onEnd):
        // Without namespaces the kernel ends a worker only by a signal, which it may not have received yet.
        worker.signal(SIGKILL)
        _ = worker.waitForEnd(within: .seconds(1))
        onEnd(.withLauncher)
      case .abandoned: break
      }
    }
  }

  private func receiveHello() -> Result<LauncherLayers, HostError> {
    var message = CLaunching_hello()
    var descriptor: Int32 = -1
    let length = unsafe CLaunching_receive(
      socket, Self.helloLimit.milliseconds, &message, MemoryLayout<CLaunching_hello>.size, &descriptor)
    if length < 0 { return .failure(errno == ETIMEDOUT ? Self.slow : HostError(system: errno, "a socket cannot be read")) }
    guard length >= CLAUNCHING_HELLO_PREFIX, message.kind == CLAUNCHING_HELLO.rawValue else {
      return .failure(
        HostError(
          .launcherFailed, step: "launcher", path: files.path,
          "carabiner-launcher ended before it was ready. Its message is on standard error of this host"))
    }
    let build = unsafe withUnsafeBytes(of: message.build) { unsafe Self.text($0) }
    guard message.version == UInt32(CLAUNCHING_VERSION), build == CLAUNCHING_BUILD,
      length == MemoryLayout<CLaunching_hello>.size
    else {
      return .failure(
        HostError(
          .launcherVersion, step: "launcher", path: files.path,
          """
          carabiner-launcher is version \(build), protocol \(message.version); this host is version \(CLAUNCHING_BUILD), \
          protocol \(CLAUNCHING_VERSION). Install both from the same version, and restart the host
          """))
    }
    func reason(_ layer: some BinaryInteger, _ step: UnsafeRawBufferPointer, _ code: Int32) -> String? {
      if message.layers & UInt32(layer) != 0 { return nil }
      let text = unsafe Self.text(step)
      return code == 0 ? text : unsafe "\(text) failed: \(String(cString: strerror(code)))"
    }
    let namespaces = unsafe withUnsafeBytes(of: message.namespaces_step) {
      unsafe reason(CLAUNCHING_NAMESPACES, $0, message.namespaces_code)
    }
    let root = unsafe withUnsafeBytes(of: message.root_step) { unsafe reason(CLAUNCHING_ROOT, $0, message.root_code) }
    return .success(LauncherLayers(missingNamespaces: namespaces, missingRoot: root))
  }

  /// Returns nil if the launcher has ended, or sends something else.
  private func receive() -> (CLaunching_answer, Int32)? {
    var answer = CLaunching_answer()
    var descriptor: Int32 = -1
    let length = unsafe CLaunching_receive(socket, -1, &answer, MemoryLayout<CLaunching_answer>.size, &descriptor)
    if length == MemoryLayout<CLaunching_answer>.size { return (answer, descriptor) }
    if descriptor >= 0 { close(descriptor) }
    return nil
  }

  private func handle(_ answer: CLaunching_answer, _ descriptor: Int32) {
    switch answer.kind {
    case CLAUNCHING_STARTED.rawValue where descriptor >= 0: started(answer.request, descriptor)
    case CLAUNCHING_FAILED.rawValue:
      let request = state.withLock { $0.requests.removeValue(forKey: answer.request) }
      if case .starting(let result, _, _) = request { result.set(.refusal(Self.refusal(answer))) }
    case CLAUNCHING_ENDED.rawValue:
      let request = state.withLock { $0.requests.removeValue(forKey: answer.request) }
      if case .running(_, let onEnd) = request { onEnd(WorkerEnd(answer)) }
    default: if descriptor >= 0 { close(descriptor) }
    }
  }

  private func started(_ number: UInt64, _ descriptor: Int32) {
    let result: (WaitingResult<Start>, StartedWorker)? = state.withLock { state in
      guard case .starting(let result, let launcher, let onEnd) = state.requests[number] else { return nil }
      let worker = StartedWorker(descriptor: descriptor, launcher: launcher)
      state.requests[number] = .running(worker, onEnd: onEnd)
      return (result, worker)
    }
    if let (result, worker) = result { return result.set(.worker(worker)) }
    CLaunching_signal(descriptor, SIGKILL)
    close(descriptor)
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

// MARK: Errors

extension LauncherConnection {
  private static var slow: HostError {
    HostError(
      .launcherFailed, step: "launcher", path: "",
      """
      carabiner-launcher did not answer in time. Look for its messages on standard error of this host, and at the load of the \
      machine
      """)
  }

  private static func notSent(_ code: Int32) -> HostError {
    if code == EAGAIN {
      return HostError(
        .launcherFailed, step: "launcher", path: "", "carabiner-launcher is busy. Start fewer workers at the same time")
    }
    return HostError(system: code, "a worker cannot be asked for")
  }

  private static func refusal(_ answer: CLaunching_answer) -> HostError {
    let step = unsafe withUnsafeBytes(of: answer.step) { unsafe text($0) }
    let next =
      switch answer.code {
      case EACCES: "Name the folder in the entry's `read`"
      case EAGAIN, ENOMEM, EMFILE, ENFILE: "Start fewer workers, or raise the limits of processes, memory and open files"
      default: "Look for messages of carabiner-launcher on standard error of this host"
      }
    return HostError(
      .workerNotStarted, step: "worker", path: "",
      unsafe "the worker was not started: \(step): \(String(cString: strerror(answer.code))). \(next)")
  }
}

extension WorkerEnd {
  fileprivate init(_ answer: CLaunching_answer) {
    let signal = answer.code & 0x7F
    self.init(
      cause: signal == 0 ? .exit(answer.code >> 8 & 0xFF) : .signal(signal),
      userTime: .microseconds(Int64(clamping: answer.user)), systemTime: .microseconds(Int64(clamping: answer.system)),
      maximumMemory: UInt64(clamping: answer.kilobytes.multipliedReportingOverflow(by: 1024).partialValue))
  }
}
