internal import CarabinerGateway

/// The check that no other gateway answers at an admin socket, made before anything is loaded or written.
package enum SoleServer {
  /// - Throws: ``ServerError`` if a gateway answers there.
  package static func claim(adminSocket path: String) throws {
    guard case .process(let process) = UnixSocketFile.server(at: path) else { return }
    throw ServerError(
      .inUse, "another carabiner\(name(of: process)) answers at \(path); end it, or name another path with --admin")
  }

  static func name(of process: Int32?) -> String { process.map { " (process \($0))" } ?? "" }
}
