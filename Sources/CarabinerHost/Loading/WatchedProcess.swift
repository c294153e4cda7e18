internal import CLinux
internal import Glibc

/// A program in a process group of its own, watched until it ends or its time is over, and then killed with all it started.
package enum WatchedProcess {
  /// How it ended.
  package enum End: Sendable, Hashable {
    case exit(Int32)
    case signal(Int32)
    /// It did not end in time and was killed.
    case timeout
  }

  /// What is left of it.
  package struct Outcome: Sendable, Hashable {
    package let end: End
    package let output: String
    package let errors: String
  }

  /// The system would not do it.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ what: String, _ code: Int32) {
      description = unsafe "\(what): \(String(cString: strerror(code)))"
    }
  }

  /// How much is kept of what it writes, 4 MiB of each stream; the rest is read and dropped, so that it never waits for us.
  static let maximumKeptBytes = 4 << 20

  /// Runs a program, with nothing on its standard input.
  ///
  /// - Parameters:
  ///   - path: The program; the name it is called by is the same.
  ///   - environment: Lines of the form `NAME=value`.
  ///   - timeout: When its whole group is killed. It is killed as well once the program itself ended: what a program leaves
  ///     running would hold the pipes open, or go on unseen.
  package static func run(
    _ path: String, _ arguments: [String], environment: [String], timeout: Duration
  ) throws(Failure) -> Outcome {
    let output = try ReadEnd.make()
    let errors = try ReadEnd.make()
    defer {
      output.close()
      errors.close()
    }
    let process = try spawn(path, arguments, environment, output: output.writer, errors: errors.writer)
    output.closeWriter()
    errors.closeWriter()
    let watch = CLinux_openProcess(process)
    defer { if watch >= 0 { Glibc.close(watch) } }
    let isInTime = watch >= 0 && wait(watch, output, errors, until: .now + timeout)
    // Nobody has waited for the leader yet, so the number of its group cannot belong to anybody else.
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    output.read()
    errors.read()
    guard watch >= 0 else { throw Failure("the process cannot be watched", ENOSYS) }
    let signal = status & 0x7F
    let end: End = !isInTime ? .timeout : signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    return Outcome(end: end, output: output.text, errors: errors.text)
  }

  /// Reads what comes until the process has ended; false if that took too long.
  private static func wait(
    _ process: Int32, _ output: ReadEnd, _ errors: ReadEnd, until deadline: ContinuousClock.Instant
  ) -> Bool {
    while true {
      let left = (deadline - .now).components
      guard left.seconds >= 0, left.attoseconds >= 0 else { return false }
      let milliseconds = min(left.seconds, 3600) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1
      // A negative descriptor is one that poll passes over.
      var waited = [process, output.isOpen ? output.reader : -1, errors.isOpen ? errors.reader : -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard unsafe poll(&waited, nfds_t(waited.count), Int32(milliseconds)) >= 0 || errno == EINTR else { return false }
      if waited[1].revents != 0 { output.read() }
      if waited[2].revents != 0 { errors.read() }
      if waited[0].revents != 0 { return true }
    }
  }

  private static func spawn(
    _ path: String, _ arguments: [String], _ environment: [String], output: Int32, errors: Int32
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
    // Nothing else of ours is any business of a plugin that is only looked at.
    unsafe CLinux_closeFrom(&actions, 3)
    // Signals we block or ignore would stay so in the child.
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      for index in unsafe words.indices { unsafe free(words[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, path, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw Failure("the process cannot be started", code) }
    return process
  }
}

/// Our end of a pipe, which never makes us wait, and for a moment the other one.
private final class ReadEnd {
  let reader: Int32
  private(set) var writer: Int32
  private(set) var isOpen = true
  private var bytes: [UInt8] = []

  var text: String { String(decoding: bytes, as: UTF8.self) }

  private init(_ reader: Int32, _ writer: Int32) {
    self.reader = reader
    self.writer = writer
  }

  static func make() throws(WatchedProcess.Failure) -> ReadEnd {
    var ends: [Int32] = [-1, -1]
    guard unsafe CLinux_newPipe(&ends) == 0 else { throw WatchedProcess.Failure("no pipe can be made", errno) }
    return ReadEnd(ends[0], ends[1])
  }

  /// Reads what is there.
  func read() {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while isOpen {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(reader, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      guard count > 0 else {
        isOpen = false
        return
      }
      if bytes.count < WatchedProcess.maximumKeptBytes { bytes.append(contentsOf: chunk[..<count]) }
    }
  }

  func closeWriter() {
    if writer >= 0 { Glibc.close(writer) }
    writer = -1
  }

  func close() {
    closeWriter()
    Glibc.close(reader)
  }
}
