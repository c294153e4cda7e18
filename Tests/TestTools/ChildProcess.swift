internal import CLinux
public import Foundation
internal import Synchronization

/// A process of another program, with the interface of Foundation's `Process`.
///
/// Foundation notices the end of a process by a socket, and another process that is started at the same moment can inherit it. Then
/// `waitUntilExit()` waits for both. That is about one start in a thousand where many threads start processes, enough for a test that
/// waits for minutes in each run of all tests.
public final class ChildProcess: Sendable {
  /// The program could not be started.
  public struct DidNotStart: Error {
    public let program: String
    public let reason: String
  }

  /// How a process ended, as in `Process`.
  public typealias TerminationReason = Process.TerminationReason

  private struct State {
    var executable = URL(filePath: "/")
    var arguments: [String] = []
    var environment: [String: String]?
    var folder: URL?
    var streams: [any ChildStream] = [FileHandle.standardInput, FileHandle.standardOutput, FileHandle.standardError]
    var identifier: pid_t = 0
  }

  /// The end of a process, which a thread waits for.
  private final class End: Sendable {
    private let ended = DispatchGroup()
    private let status = Mutex<Int32?>(nil)

    /// The number that waitpid() gives; nil while the process runs.
    var value: Int32? { status.withLock(\.self) }

    func wait() { ended.wait() }

    /// Calls `body` unless the process has ended. Its number belongs to no other process meanwhile.
    func whileRunning(_ body: () -> Void) { status.withLock { if $0 == nil { body() } } }

    func await(_ process: pid_t) {
      ended.enter()
      Thread.detachNewThread { [self] in
        // Without reaping first, so that the number is still that of this process when `status` is set.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        status.withLock { status in
          var number: Int32 = 0
          while unsafe waitpid(process, &number, 0) < 0, errno == EINTR {}
          status = number
        }
        ended.leave()
      }
    }
  }

  private let state = Mutex(State())
  private let end = End()

  public init() {}

  // MARK: Before it runs

  public var executableURL: URL? {
    get { state.withLock(\.executable) }
    set { state.withLock { $0.executable = newValue ?? URL(filePath: "/") } }
  }
  public var arguments: [String]? {
    get { state.withLock(\.arguments) }
    set { state.withLock { $0.arguments = newValue ?? [] } }
  }
  /// The variables; those of the tests if nil.
  public var environment: [String: String]? {
    get { state.withLock(\.environment) }
    set { state.withLock { $0.environment = newValue } }
  }
  /// The working directory; that of the tests if nil.
  public var currentDirectoryURL: URL? {
    get { state.withLock(\.folder) }
    set { state.withLock { $0.folder = newValue } }
  }
  public var standardInput: any ChildStream {
    get { state.withLock { $0.streams[0] } }
    set { state.withLock { $0.streams[0] = newValue } }
  }
  public var standardOutput: any ChildStream {
    get { state.withLock { $0.streams[1] } }
    set { state.withLock { $0.streams[1] = newValue } }
  }
  public var standardError: any ChildStream {
    get { state.withLock { $0.streams[2] } }
    set { state.withLock { $0.streams[2] = newValue } }
  }

  // MARK: Running

  /// Starts the program in a process group of its own. It inherits its three streams and no other descriptor.
  ///
  /// - Throws: ``DidNotStart``
  public func run() throws {
    try state.withLock { state in
      state.identifier = try Self.start(state)
      end.await(state.identifier)
      for (number, stream) in state.streams.enumerated() { stream.closeInParent(isInput: number == 0) }
    }
  }

  private static func start(_ state: State) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    // First to numbers that no stream has, because a stream may be 0, 1 or 2 itself.
    let streams = state.streams.enumerated().map { $1.descriptor(isInput: $0 == 0) }
    let spare = (streams.max() ?? 0) + 3
    for (number, stream) in streams.enumerated() {
      if stream < 0 {
        unsafe posix_spawn_file_actions_addopen(&actions, spare + Int32(number), "/dev/null", O_RDWR, 0)
      } else {
        unsafe posix_spawn_file_actions_adddup2(&actions, stream, spare + Int32(number))
      }
    }
    for number in 0..<Int32(streams.count) { unsafe posix_spawn_file_actions_adddup2(&actions, spare + number, number) }
    unsafe CLinux_closeFrom(&actions, 3)
    if let folder = state.folder { unsafe CLinux_changeDirectory(&actions, folder.path) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))

    let environment = state.environment ?? ProcessInfo.processInfo.environment
    var arguments = unsafe ([state.executable.path] + state.arguments).map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
      for index in unsafe arguments.indices { unsafe free(arguments[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var identifier: pid_t = 0
    let status = unsafe posix_spawn(&identifier, state.executable.path, &actions, &attributes, &arguments, &variables)
    guard status == 0 else {
      throw DidNotStart(program: state.executable.path, reason: unsafe String(cString: strerror(status)))
    }
    return identifier
  }

  /// The number of the process; 0 before ``run()``.
  public var processIdentifier: Int32 { state.withLock(\.identifier) }

  /// Whether it was started and has not ended.
  public var isRunning: Bool { processIdentifier != 0 && end.value == nil }

  /// Sends SIGTERM, if it runs.
  public func terminate() {
    let process = processIdentifier
    if process != 0 { end.whileRunning { kill(process, SIGTERM) } }
  }

  // MARK: Its end

  public func waitUntilExit() { if processIdentifier != 0 { end.wait() } }

  /// The exit status, or the number of the signal that ended it; 0 while it runs.
  public var terminationStatus: Int32 {
    let status = end.value ?? 0
    return status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f
  }

  public var terminationReason: TerminationReason { (end.value ?? 0) & 0x7f == 0 ? .exit : .uncaughtSignal }
}

/// A stream of a ``ChildProcess``.
public protocol ChildStream: Sendable {
  /// The descriptor that the process inherits; negative for the null device.
  func descriptor(isInput: Bool) -> Int32
  /// Closes what only the process needs, when it has been started.
  func closeInParent(isInput: Bool)
}

extension FileHandle: ChildStream {
  public func descriptor(isInput: Bool) -> Int32 { fileDescriptor }
  public func closeInParent(isInput: Bool) {}
}

extension Pipe: ChildStream {
  private func end(isInput: Bool) -> FileHandle { isInput ? fileHandleForReading : fileHandleForWriting }

  public func descriptor(isInput: Bool) -> Int32 { end(isInput: isInput).fileDescriptor }
  public func closeInParent(isInput: Bool) { try? end(isInput: isInput).close() }
}
