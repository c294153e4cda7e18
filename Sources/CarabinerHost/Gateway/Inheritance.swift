internal import CLinux
internal import CarabinerGateway
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// The sockets that a running gateway gives to this process, for `--take-over`.
package final class Inheritance: Sendable {
  /// A listening socket of the other process.
  struct Socket: Sendable {
    let descriptor: Int32
    /// The address that was requested from the other process, and the bound address.
    let identity: GatewayServer.Identity
  }

  /// The longest time for an answer of the other process, in seconds.
  private static let patience: Int32 = 10
  /// The largest answer, in bytes.
  private static let maximumAnswer = 1 << 20

  /// The process ID of the other process.
  package let process: Int
  private let adminPath: String
  private let token: String
  private let listeners: Mutex<[Socket]>
  private let admin: Mutex<Socket?>
  /// The lock of the state folder; nil if the other process has none.
  package let stateLock: Int32?

  /// Asks the gateway at an admin socket for its sockets.
  ///
  /// - Throws: ``ServerError`` if no gateway answers, or it refuses.
  package init(adminSocket path: String) throws {
    let (status, body, descriptors) = try Self.exchange(path, "/take-over", body: "")
    guard let answer = try? JSONValue(parsing: body), status == 200, let process = answer["process"]?.int,
      let token = answer["token"]?.string, let sockets = answer["sockets"]?.array, sockets.count == descriptors.count
    else {
      for descriptor in descriptors { close(descriptor) }
      let reason = (try? JSONValue(parsing: body))?["error"]?.string ?? "it answered with status \(status)"
      throw ServerError(.inUse, "the gateway at \(path) does not hand over: \(reason)")
    }
    self.process = process
    self.token = token
    adminPath = path
    var listeners: [Socket] = []
    var admin: Socket?
    var stateLock: Int32?
    for (socket, descriptor) in zip(sockets, descriptors) {
      let identity = GatewayServer.Identity(
        requested: socket["address"]?.string ?? "", name: socket["name"]?.string ?? "descriptor \(descriptor)")
      switch socket["kind"]?.string {
      case "listener": listeners.append(Socket(descriptor: descriptor, identity: identity))
      case "admin": admin = Socket(descriptor: descriptor, identity: identity)
      case "state": stateLock = descriptor
      default: close(descriptor)
      }
    }
    self.listeners = Mutex(listeners)
    self.admin = Mutex(admin)
    self.stateLock = stateLock
  }

  /// Removes and returns the listening socket of an address; nil if the other process has none.
  func takeListener(for address: GatewayServer.Address) -> Socket? {
    listeners.withLock { listeners in
      guard
        let index = listeners.firstIndex(where: { [$0.identity.requested, $0.identity.name].contains(address.description) })
      else { return nil }
      return listeners.remove(at: index)
    }
  }

  /// Removes and returns all listening sockets.
  func takeListeners() -> [Socket] {
    listeners.withLock { listeners in
      defer { listeners = [] }
      return listeners
    }
  }

  /// Removes and returns the socket for commands, if its path is this one.
  func takeAdmin(at path: String) -> Socket? {
    admin.withLock { admin in
      guard let found = admin, found.identity.requested == GatewayServer.Address.unix(path: path).description else { return nil }
      admin = nil
      return found
    }
  }

  /// Closes the sockets that were not taken.
  func closeRest() {
    for socket in takeListeners() { close(socket.descriptor) }
    let rest = admin.withLock { admin in
      defer { admin = nil }
      return admin
    }
    if let rest { close(rest.descriptor) }
  }

  /// Asks the other process to close its listeners and to end.
  ///
  /// - Throws: ``ServerError`` if it refuses. If it does not exist any more, there is nothing to end.
  package func commit() throws {
    let body = JSONValue.object(["token": .string(token), "process": .count(ProcessInfo.processInfo.processIdentifier)])
    let status: Int
    let answer: [UInt8]
    do {
      (status, answer, _) = try Self.exchange(adminPath, "/take-over/commit", body: body.description)
    } catch {
      guard kill(pid_t(truncatingIfNeeded: process), 0) != 0, errno == ESRCH else { throw error }
      return
    }
    guard status == 200 else {
      let reason = (try? JSONValue(parsing: answer))?["error"]?.string ?? "it answered with status \(status)"
      throw ServerError(.inUse, "the gateway at \(adminPath) does not end: \(reason)")
    }
  }

  // MARK: Requests

  /// Sends a request, and returns the final response and the descriptors that came with it.
  private static func exchange(
    _ path: String, _ target: String, body: String
  ) throws -> (status: Int, body: [UInt8], descriptors: [Int32]) {
    let connection = try connect(path)
    defer { close(connection) }
    let request =
      "POST \(target) HTTP/1.1\r\nHost: carabiner\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
      + "Connection: close\r\n\r\n\(body)"
    let bytes = Array(request.utf8)
    let sent = unsafe bytes.withUnsafeBytes { unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard sent == bytes.count else { throw failure(path) }
    var received: [UInt8] = []
    var descriptors: [Int32] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    var found = [Int32](repeating: -1, count: CLinux_MAXIMUM_DESCRIPTORS)
    while received.count < maximumAnswer {
      var count = 0
      let size = unsafe piece.withUnsafeMutableBytes { piece in
        unsafe found.withUnsafeMutableBufferPointer {
          unsafe CLinux_receiveDescriptors(connection, piece.baseAddress, piece.count, $0.baseAddress, &count)
        }
      }
      descriptors += found[..<count]
      if size < 0, errno == EINTR { continue }
      guard size > 0 else { break }
      received += piece[..<size]
    }
    if let (status, body) = finalResponse(received) { return (status, body, descriptors) }
    for descriptor in descriptors { close(descriptor) }
    throw failure(path)
  }

  /// The status and body of the response after interim ones. The body ends with the connection.
  private static func finalResponse(_ bytes: [UInt8]) -> (status: Int, body: [UInt8])? {
    var rest = bytes[...]
    let end = Array("\r\n\r\n".utf8)
    while let range = rest.firstRange(of: end) {
      let head = String(decoding: rest[..<range.lowerBound], as: UTF8.self)
      guard let status = head.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
      rest = rest[range.upperBound...]
      if status >= 200 { return (status, Array(rest)) }
    }
    return nil
  }

  private static func connect(_ path: String) throws -> Int32 {
    let connection = socket(AF_UNIX, CLinux_STREAM | CLinux_CLOSE_ON_EXEC, 0)
    guard connection >= 0 else { throw failure(path) }
    CLinux_limitBlocking(connection, patience)
    guard UnixSocketFile.connect(connection, to: path) else {
      let error = failure(path)
      close(connection)
      throw error
    }
    guard let owner = UnixSocketFile.owner(of: connection), owner == getuid() || owner == 0 else {
      close(connection)
      throw ServerError(.inUse, "the socket \(path) belongs to another user; --take-over needs a gateway of this user")
    }
    return connection
  }

  private static func failure(_ path: String) -> ServerError {
    ServerError(
      .inUse,
      unsafe "no gateway answers at \(path): \(String(cString: strerror(errno))); start without --take-over, or name its admin socket"
    )
  }
}
