internal import CLinux
internal import CarabinerGateway
internal import CarabinerWire
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Gives the listening sockets of a gateway to its successor, over the admin socket.
///
/// The successor asks for the descriptors, loads its generation, listens, and commits. Until then, this gateway serves as before.
/// If the successor fails, this gateway continues.
///
/// Only one of the two accepts connections at a time, because NIO asserts that a socket that is ready has a connection. Meanwhile,
/// new connections wait in the accept queue.
final class HandOver: Sendable {
  /// The interim response that carries the descriptors. They must be sent before the final response, which NIO writes.
  static let interimResponse = "HTTP/1.1 102 Processing\r\n\r\n"

  /// A descriptor of an offer, and its description.
  private struct Item {
    let descriptor: Int32
    let json: JSONValue
  }

  private let listeners: Listeners
  private let readiness: Readiness
  private let configuration: Gateway.Configuration
  private let host: PluginHost
  /// The secret of the last offer. A commit must have it.
  private let token = Mutex<String?>(nil)

  init(_ listeners: Listeners, _ readiness: Readiness, _ configuration: Gateway.Configuration, _ host: PluginHost) {
    self.listeners = listeners
    self.readiness = readiness
    self.configuration = configuration
    self.host = host
  }

  /// Answers a request for the descriptors.
  ///
  /// - Throws: ``ServerError`` or `GatewayError`. Its text is sent to the successor.
  func offer(_ reply: GatewayReply) async throws -> JSONValue {
    try requireUsable()
    var items: [Item] = []
    defer { for item in items { close(item.descriptor) } }
    for server in listeners.clients {
      items.append(
        Item(
          descriptor: try await server.duplicateDescriptor(),
          json: ["kind": "listener", "address": .string(server.requestedName), "name": .string(server.name)]))
    }
    if let admin = listeners.admin {
      items.append(
        Item(
          descriptor: try await admin.duplicateDescriptor(),
          json: ["kind": "admin", "address": .string(admin.requestedName), "name": .string(admin.name)]))
    }
    if let lock = host.shareStateLock() { items.append(Item(descriptor: lock, json: ["kind": "state"])) }
    let connection = try await reply.duplicateDescriptor()
    defer { close(connection) }
    let bytes = Array(Self.interimResponse.utf8)
    let sent = unsafe bytes.withUnsafeBytes { bytes in
      unsafe items.map(\.descriptor).withUnsafeBufferPointer {
        unsafe CLinux_sendDescriptors(connection, bytes.baseAddress, bytes.count, $0.baseAddress, $0.count)
      }
    }
    guard sent == bytes.count else {
      throw ServerError(.inUse, unsafe "the descriptors cannot be sent: \(String(cString: strerror(errno)))")
    }
    let token = UUID().uuidString
    self.token.withLock { $0 = token }
    return [
      "process": .count(ProcessInfo.processInfo.processIdentifier), "token": .string(token), "sockets": .array(items.map(\.json)),
    ]
  }

  /// Checks that the commit is from the successor with the last offer, and stops accepting connections.
  func commit(_ token: String) async throws {
    try requireUsable()
    let isLast = self.token.withLock { last in
      guard last == token else { return false }
      last = nil
      return true
    }
    guard isLast else { throw ServerError(.inUse, "another process has asked to take over since; this one cannot") }
    readiness.end()
    for server in listeners.clients + [listeners.admin].compactMap(\.self) {
      server.leaveSocketFile()
      await server.stopListening()
    }
  }

  /// Starts the shutdown of this gateway.
  func begin(successor: String) {
    var logger = host.output.logger
    logger.logLevel = min(logger.logLevel, .notice)
    logger.notice("another process takes over, and this one ends", metadata: ["process": "\(successor)"])
    configuration.onHandedOver?()
  }

  private func requireUsable() throws {
    guard configuration.onHandedOver != nil else {
      throw ServerError(.inUse, "this program does not support --take-over; end it, and start the new one")
    }
    guard !readiness.isEnding else { throw ServerError(.inUse, "the gateway is ending; start the new one without --take-over") }
  }
}
