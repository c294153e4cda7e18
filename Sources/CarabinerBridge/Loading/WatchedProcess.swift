internal import CLinux
internal import Glibc

/// Runs a program in its own session and process group. At its end or after the timeout, the whole group is killed.
package enum WatchedProcess {
  /// How the program ended.
  package enum End: Sendable, Hashable {
    case exit(Int32)
    case signal(Int32)
    /// It ran longer than the timeout and was killed.
    case timeout
    /// It was killed because the caller asked for it through ``Settings/stop``.
    case stopped
    /// It started more processes than allowed and was killed with them.
    case crowd
    /// It wrote more to descriptor 3 than is kept, and was killed.
    case flood
  }

  /// The environment of a program and how it is watched.
  package struct Settings: Sendable {
    /// Variables in the form `NAME=value`.
    package var environment: [String]
    /// The working folder; nil for that of this process.
    package var directory: String?
    /// Whether descriptor 3 is a pipe whose contents are returned in ``Outcome/report``.
    package var hasReport = false
    /// A descriptor of this process that becomes descriptor 4 of the program.
    package var shared: Int32?
    /// The program is killed when this descriptor becomes readable.
    package var stop: Int32?
    /// How long after the timeout and SIGABRT the program may go on to report where it was, before it is killed.
    package var abortGrace: Duration?
    /// How many of the last bytes of its output are kept; nil keeps the first ``ReadEnd/maximumKeptBytes``.
    package var lastOutput: Int?
    /// How many processes it may have in addition to itself; nil for any number.
    package var maximumProcesses: Int?

    /// Creates settings with an environment only.
    package init(environment: [String]) { self.environment = environment }
  }

  /// The result of a run.
  package struct Outcome: Sendable, Hashable {
    package let end: End
    package let output: String
    package let errors: String
    /// The bytes it wrote to descriptor 3.
    package let report: String
    /// How many other processes of its group were alive when it ended. Counted only with ``Settings/hasReport``.
    package let leftovers: Int
  }

  /// Runs a program with an empty standard input.
  ///
  /// - Parameters:
  ///   - path: The program, also passed as its first argument.
  ///   - timeout: When the whole group is killed. The group is also killed when the program ends: a process it left running
  ///     would keep the pipes open.
  package static func run(
    _ path: String, _ arguments: [String], _ settings: Settings, timeout: Duration
  ) throws(HostError) -> Outcome {
    let output = try ReadEnd.make(keepingLast: settings.lastOutput)
    let errors = try ReadEnd.make(keepingLast: settings.lastOutput)
    let report = try settings.hasReport ? ReadEnd.make() : nil
    let ends = [output, errors] + (report.map { [$0] } ?? [])
    defer { for end in ends { end.close() } }
    let process = try spawn(path, arguments, settings, output: output.writer, errors: errors.writer, report: report?.writer)
    for end in ends { end.closeWriter() }
    let watch = CLinux_openProcess(process)
    defer { if watch >= 0 { Glibc.close(watch) } }
    var early: End?
    if watch >= 0 {
      let crowd = settings.maximumProcesses.map { most in { ProcessGroup.members(of: process) > most } }
      early = wait(watch, ends, report: report, stop: settings.stop, until: .now + timeout, isCrowd: crowd)
      if early == .timeout, let grace = settings.abortGrace {
        kill(process, SIGABRT)
        _ = wait(watch, ends, report: report, stop: settings.stop, until: .now + grace)
      }
    }
    let leftovers = settings.hasReport ? ProcessGroup.members(of: process) : 0
    // The leader has not been reaped yet, so its group number cannot belong to another process.
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    for end in ends { end.read() }
    guard watch >= 0 else { throw HostError(system: ENOSYS, "the process cannot be watched") }
    let signal = status & 0x7F
    return Outcome(
      end: early ?? (signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)), output: output.text, errors: errors.text,
      report: report?.text ?? "", leftovers: leftovers)
  }

  /// Reads the output until the process ends.
  ///
  /// - Returns: Why the wait ended early; nil if the process ended.
  private static func wait(
    _ process: Int32, _ ends: [ReadEnd], report: ReadEnd?, stop: Int32?, until deadline: ContinuousClock.Instant,
    isCrowd: (() -> Bool)? = nil
  ) -> End? {
    var nextCount = ContinuousClock.now + countInterval
    while true {
      if let isCrowd, nextCount <= .now {
        if isCrowd() { return .crowd }
        nextCount = .now + countInterval
      }
      let left = (deadline - .now).components
      guard left.seconds >= 0, left.attoseconds >= 0 else { return .timeout }
      let longest = isCrowd == nil ? 3600 * 1000 : countInterval.components.attoseconds / 1_000_000_000_000_000
      let milliseconds = min(min(left.seconds, 3600) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1, longest)
      // poll ignores negative descriptors.
      var waited = ([process, stop ?? -1] + ends.map { $0.isOpen ? $0.reader : -1 }).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard unsafe poll(&waited, nfds_t(waited.count), Int32(milliseconds)) >= 0 || errno == EINTR else { return .timeout }
      for (index, end) in ends.enumerated() where waited[index + 2].revents != 0 { end.read() }
      if report?.isFull == true { return .flood }
      if waited[0].revents != 0 { return nil }
      if waited[1].revents != 0 { return .stopped }
    }
  }

  private static func spawn(
    _ path: String, _ arguments: [String], _ settings: Settings, output: Int32, errors: Int32, report: Int32?
  ) throws(HostError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
    // Each is first copied to a high number: a descriptor may be 3 or 4 already and would be overwritten by the other.
    let passed = [report, settings.shared]
    for (index, descriptor) in passed.enumerated() {
      if let descriptor { unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, firstSpare + Int32(index)) }
    }
    for (index, descriptor) in passed.enumerated() where descriptor != nil {
      unsafe posix_spawn_file_actions_adddup2(&actions, firstSpare + Int32(index), 3 + Int32(index))
    }
    // The program must not inherit other descriptors of this process.
    unsafe CLinux_closeFrom(&actions, settings.shared != nil ? 5 : report != nil ? 4 : 3)
    if let directory = settings.directory { unsafe CLinux_changeDirectory(&actions, directory) }
    // A child inherits blocked and ignored signals; these are reset.
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    // The session has its own process group, and no terminal that the program could write to or read from.
    let flags = CLinux_NEW_SESSION | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    unsafe posix_spawnattr_setflags(&attributes, flags)
    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    var variables = unsafe settings.environment.map { unsafe strdup($0) } + [nil]
    defer {
      for index in unsafe words.indices { unsafe free(words[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, path, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw HostError(system: code, "the process cannot be started", path: path) }
    return process
  }

  /// How often the processes of a group are counted.
  private static let countInterval = Duration.milliseconds(200)

  /// Higher than the descriptors in use, lower than the smallest usual limit.
  private static let firstSpare: Int32 = 1000
}
