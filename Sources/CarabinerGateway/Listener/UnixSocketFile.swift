package import Glibc
internal import NIOCore

/// A Unix domain socket that a server is to listen on.
///
/// The file of a server that has exited remains and is replaced. The file of a running server must not be replaced: clients could
/// no longer reach it, and it would not notice.
package enum UnixSocketFile {
  /// The server that listens on a socket.
  package enum Server: Sendable, Hashable {
    /// No process listens there.
    case none
    /// A process listens there; nil if the system does not say which.
    case process(Int32?)
  }

  /// `struct ucred` in C.
  private struct Credentials {
    var process: pid_t = 0
    var user: uid_t = 0
    var group: gid_t = 0
  }

  /// How often, and at what interval, the lock on the folder is tried.
  private static let patience = (attempts: 100, pause: Duration.milliseconds(10))

  /// Finds the server that listens on a socket, by connecting to it.
  package static func server(at path: String) -> Server {
    // Non-blocking: a running server whose accept queue is full would block the connect.
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return .none }
    defer { close(descriptor) }
    guard connect(descriptor, to: path) else {
      return errno == EAGAIN || errno == EACCES || errno == EPROTOTYPE ? .process(nil) : .none
    }
    let process = credentials(of: descriptor)?.process ?? 0
    return .process(process > 0 ? process : nil)
  }

  /// Connects a socket. If it fails, `errno` has the reason.
  package static func connect(_ descriptor: Int32, to path: String) -> Bool {
    unsafe withAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) } == 0
  }

  /// Returns a new socket that listens at a path. An existing socket file is replaced.
  ///
  /// - Parameter isForOwnerOnly: Whether only this user, and root, may connect. The mode of the file is set before the socket
  ///   listens.
  /// - Throws: `IOError`.
  static func listen(at path: String, isForOwnerOnly: Bool, backlog: Int32) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    remove(path)
    guard unsafe withAddress(path, { unsafe bind(descriptor, $0, $1) }) == 0, isForOwnerOnly ? restrict(path) : true,
      Glibc.listen(descriptor, backlog) == 0
    else {
      let error = IOError(errnoCode: errno, reason: "listen")
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func restrict(_ path: String) -> Bool { unsafe chmod(path, 0o600) == 0 }

  /// Removes the file of a socket. Other files stay.
  static func remove(_ path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    _ = unsafe unlink(path)
  }

  /// Calls `body` with the address of a path, and returns its result; -1 with an `errno` if the path is too long.
  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard name.count < place.count else { return false }
      unsafe place.copyBytes(from: name)
      return true
    }
    // A server cannot have bound a path that is too long.
    guard isShort else {
      errno = ENAMETOOLONG
      return -1
    }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }

  /// The user of the process that listens at the other end; nil if the system does not say which.
  package static func owner(of descriptor: Int32) -> uid_t? { credentials(of: descriptor)?.user }

  /// The credentials of the process that called `listen`.
  private static func credentials(of descriptor: Int32) -> Credentials? {
    var credentials = Credentials()
    var size = socklen_t(MemoryLayout<Credentials>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials : nil
  }

  /// Binds a server if no other process listens at the path.
  ///
  /// The folder is locked during the bind, so that of two concurrent starts the second one sees the socket of the first.
  ///
  /// - Throws: ``GatewayError`` if another process listens at the path, and the errors of `bind`.
  static func withoutServer<Result>(at path: String, _ bind: () async throws -> Result) async throws -> Result {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let lock = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer {
      if lock >= 0 {
        // A child process that is being started has a copy of the descriptor. Closing it here would not release the lock.
        flock(lock, LOCK_UN)
        close(lock)
      }
    }
    var attempts = lock < 0 ? 0 : patience.attempts
    while attempts > 0, flock(lock, LOCK_EX | LOCK_NB) != 0 {
      attempts -= 1
      try await Task.sleep(for: patience.pause)
    }
    if case .process(let process) = server(at: path) {
      throw GatewayError(
        .cannotListen, "another process\(process.map { " (\($0))" } ?? "") answers at \(path); end it, or name another path")
    }
    return try await bind()
  }
}
