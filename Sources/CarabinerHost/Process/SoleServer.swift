internal import CarabinerGateway

/// Checks that no other gateway uses an admin socket, before anything is loaded or written.
package enum SoleServer {
  /// - Throws: ``ServerError`` if a gateway listens there.
  package static func claim(adminSocket path: String) throws {
    guard case .process(let process) = UnixSocketFile.server(at: path) else { return }
    throw ServerError(
      .inUse,
      "another carabiner\(name(of: process)) answers at \(path); end it, take over from it with --take-over, or name another "
        + "path with --admin")
  }

  static func name(of process: Int32?) -> String { process.map { " (process \($0))" } ?? "" }
}
