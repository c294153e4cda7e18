import Carabiner
import CarabinerWire
import Logging
import NIOCore
import NIOEmbedded
import NIOWebSocket

@testable import CarabinerGateway

/// A WebSocket of the gateway without a network: frames in, frames out.
struct SocketChannel {
  let channel: NIOAsyncTestingChannel
  let connections: OpenConnections

  /// - Parameter headers: The fields of the handshake.
  init(
    _ runner: any OperationRunner, limits: GatewayLimits = GatewayLimits(), policies: CurrentPolicy = CurrentPolicy(),
    headers: Carabiner.HTTPHeaders = [:], dialect: WebSocketProtocol = .graphQLTransportWS
  ) async throws {
    let service = SocketService(
      settings: CurrentSettings(limits: limits), runner: runner, policies: policies,
      gate: OperationGate(OperationRuleMetrics(), logger: Logger(label: "test")), admission: Admission(limits),
      metrics: GatewayMetrics(), tracing: nil, logger: Logger(label: "test"), redact: { $0 })
    let accepted = AcceptedSocket(service: service, dialect: dialect, headers: headers, client: "127.0.0.1", path: "/graphql")
    channel = NIOAsyncTestingChannel()
    connections = OpenConnections(unsent: UnsentTotal(limits))
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    try await channel.testingEventLoop.executeInContext { [channel, connections] in
      try channel.pipeline.syncOperations.addHandler(SocketHandler(accepted, connections: connections))
    }
  }

  /// Sends a masked message, like a client.
  func send(_ text: String) async throws {
    let key: WebSocketMaskingKey = [1, 2, 3, 4]
    var data = ByteBuffer(string: text)
    data.webSocketMask(key)
    try await channel.writeInbound(WebSocketFrame(fin: true, opcode: .text, maskKey: key, data: data))
  }

  /// Waits for the next frame of the gateway.
  func frame() async throws -> WebSocketFrame { try await channel.waitForOutboundWrite(as: WebSocketFrame.self) }

  /// Waits for the next message of the gateway, or its close code.
  func message() async throws -> JSONValue {
    let frame = try await frame()
    var data = frame.data
    guard frame.opcode != .connectionClose else {
      return ["close": .number(JSONNumber(Int(data.readInteger(as: UInt16.self) ?? 0)))]
    }
    return try JSONValue(parsing: Array(data.readableBytesView))
  }
}
