internal import Glibc
internal import NIOCore

/// A socket in the file system that a server is to listen on.
///
/// The file of a server that is gone stays and is replaced. The file of a server that runs must stay: without it no client finds that server,
/// which goes on without knowing.
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

  /// How long another start may hold the folder.
  private static let patience = (attempts: 100, pause: Duration.milliseconds(10))

  /// Asks who listens on a socket, by connecting to it.
  package static func server(at path: String) -> Server {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard name.count < place.count else { return false }
      unsafe place.copyBytes(from: name)
      return true
    }
    // A path that is too long for a socket is refused where the server is bound.
    guard isShort else { return .none }
    // Without waiting: a server that takes no connections has a full queue, and runs all the same.
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return .none }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, length) }
    }
    guard code == 0 else {
      return errno == EAGAIN || errno == EACCES || errno == EPROTOTYPE ? .process(nil) : .none
    }
    var credentials = Credentials()
    var size = socklen_t(MemoryLayout<Credentials>.size)
    // Of the process that began to listen.
    let isKnown = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0
    return .process(isKnown && credentials.process > 0 ? credentials.process : nil)
  }

  /// Binds a server where no other one listens.
  ///
  /// The folder is locked meanwhile, so that of two starts at once the second sees the socket of the first.
  ///
  /// - Throws: ``GatewayServer/BindFailure`` if another process listens there, and what binding throws.
  static func withoutServer<Result>(at path: String, _ bind: () async throws -> Result) async throws -> Result {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let lock = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if lock >= 0 { close(lock) } }
    var attempts = lock < 0 ? 0 : patience.attempts
    while attempts > 0, flock(lock, LOCK_EX | LOCK_NB) != 0 {
      attempts -= 1
      try await Task.sleep(for: patience.pause)
    }
    if case .process(let process) = server(at: path) {
      throw GatewayServer.BindFailure(
        description: "another process\(process.map { " (\($0))" } ?? "") answers at \(path); end it, or name another path")
    }
    return try await bind()
  }
}
