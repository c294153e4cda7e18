internal import CLinux
internal import Glibc

/// A program in a session and a process group of its own, watched until it ends or its time is over, and then killed with all it started.
package enum WatchedProcess {
  /// How it ended.
  package enum End: Sendable, Hashable {
    case exit(Int32)
    case signal(Int32)
    /// It did not end in time and was killed.
    case timeout
    /// We did not want to wait any longer.
    case stopped
    /// It started more processes than it may have, and was killed with them.
    case crowd
    /// It wrote more to descriptor 3 than any report has, and was killed.
    case flood
  }

  /// What a program gets beside its arguments, and how it is watched.
  package struct Surroundings: Sendable {
    /// Lines of the form `NAME=value`.
    package var environment: [String]
    /// Where it runs; where we do if nil.
    package var directory: String?
    /// Whether descriptor 3 is a pipe to us, whose contents become ``Outcome/report``.
    package var hasReport = false
    /// A descriptor of ours that becomes its descriptor 4.
    package var shared: Int32?
    /// It is killed when this descriptor becomes readable.
    package var stop: Int32?
    /// How long after its time is over, and it has been sent SIGABRT, it may still write where it was.
    package var abortGrace: Duration?
    /// How many bytes of the end of what it writes are kept; if nil, it is the first few mebibytes.
    package var lastOutput: Int?
    /// How many processes it may have beside itself; nil: any number.
    package var maximumProcesses: Int?

    /// An environment and nothing else.
    package init(environment: [String]) { self.environment = environment }
  }

  /// What is left of it.
  package struct Outcome: Sendable, Hashable {
    package let end: End
    package let output: String
    package let errors: String
    /// What it wrote to descriptor 3.
    package let report: String
    /// How many processes of its group were alive when it had ended.
    package let leftovers: Int
  }

  /// The system would not do it.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ what: String, _ code: Int32) {
      description = unsafe "\(what): \(String(cString: strerror(code)))"
    }
  }

  /// Runs a program, with nothing on its standard input.
  ///
  /// - Parameters:
  ///   - path: The program; the name it is called by is the same.
  ///   - timeout: When its whole group is killed. It is killed as well once the program itself ended: what a program leaves
  ///     running would hold the pipes open, or go on unseen.
  package static func run(
    _ path: String, _ arguments: [String], _ surroundings: Surroundings, timeout: Duration
  ) throws(Failure) -> Outcome {
    let output = try ReadEnd.make(keepingLast: surroundings.lastOutput)
    let errors = try ReadEnd.make(keepingLast: surroundings.lastOutput)
    let report = try surroundings.hasReport ? ReadEnd.make() : nil
    let ends = [output, errors] + (report.map { [$0] } ?? [])
    defer { for end in ends { end.close() } }
    let process = try spawn(path, arguments, surroundings, output: output.writer, errors: errors.writer, report: report?.writer)
    for end in ends { end.closeWriter() }
    let watch = CLinux_openProcess(process)
    defer { if watch >= 0 { Glibc.close(watch) } }
    var early: End?
    if watch >= 0 {
      let crowd = surroundings.maximumProcesses.map { most in { ProcessGroup.members(of: process) > most } }
      early = wait(watch, ends, report: report, stop: surroundings.stop, until: .now + timeout, isCrowd: crowd)
      if early == .timeout, let grace = surroundings.abortGrace {
        kill(process, SIGABRT)
        _ = wait(watch, ends, report: report, stop: surroundings.stop, until: .now + grace)
      }
    }
    let leftovers = surroundings.hasReport ? ProcessGroup.members(of: process) : 0
    // Nobody has waited for the leader yet, so the number of its group cannot belong to anybody else.
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    for end in ends { end.read() }
    guard watch >= 0 else { throw Failure("the process cannot be watched", ENOSYS) }
    let signal = status & 0x7F
    return Outcome(
      end: early ?? (signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)), output: output.text, errors: errors.text,
      report: report?.text ?? "", leftovers: leftovers)
  }

  /// Reads what comes until the process has ended; why we did not wait for that, if we did not.
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
      // A negative descriptor is one that poll passes over.
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
    _ path: String, _ arguments: [String], _ surroundings: Surroundings, output: Int32, errors: Int32, report: Int32?
  ) throws(Failure) -> pid_t {
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
    // Through numbers nobody has: one of ours may already be 3 or 4, and would be overwritten before it is its turn.
    let passed = [report, surroundings.shared]
    for (index, descriptor) in passed.enumerated() {
      if let descriptor { unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, firstSpare + Int32(index)) }
    }
    for (index, descriptor) in passed.enumerated() where descriptor != nil {
      unsafe posix_spawn_file_actions_adddup2(&actions, firstSpare + Int32(index), 3 + Int32(index))
    }
    // Nothing else of ours is any business of a plugin that is only looked at.
    unsafe CLinux_closeFrom(&actions, surroundings.shared != nil ? 5 : report != nil ? 4 : 3)
    if let directory = surroundings.directory { unsafe CLinux_changeDirectory(&actions, directory) }
    // Signals we block or ignore would stay so in the child.
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    // With a session comes a group of its own; and no terminal, to which it could write, or type.
    let flags = CLinux_NEW_SESSION | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    unsafe posix_spawnattr_setflags(&attributes, flags)
    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    var variables = unsafe surroundings.environment.map { unsafe strdup($0) } + [nil]
    defer {
      for index in unsafe words.indices { unsafe free(words[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, path, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw Failure("the process cannot be started", code) }
    return process
  }

  /// How often a process that may have only so many others is asked for them.
  private static let countInterval = Duration.milliseconds(200)

  /// Above all descriptors we are likely to have, below the least limit a system sets.
  private static let firstSpare: Int32 = 1000
}
