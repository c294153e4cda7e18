import ScriptedServer

extension HTTP2Client {
  /// Connects to a gateway, which lives as long as the connection.
  convenience init(_ gateway: ServeProcess) throws { try self.init(port: gateway.port, of: gateway) }
}
