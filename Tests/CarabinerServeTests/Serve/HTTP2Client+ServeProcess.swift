import CommandTools
import ScriptedServer

extension HTTP2Client {
  /// Connects to a gateway, which runs as long as the connection exists.
  convenience init(_ gateway: ServeProcess) throws { try self.init(port: gateway.port, of: gateway) }
}
