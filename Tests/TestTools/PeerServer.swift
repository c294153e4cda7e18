internal import Foundation
internal import Synchronization

/// A server of Tests/Peers on its own port, running as long as this value lives.
public class PeerServer: @unchecked Sendable {
  // Immutable except for a mutex. A class with subclasses cannot be checked as Sendable.

  /// The output of the server instead of its port.
  public struct DidNotStart: Error {
    public let output: String
  }

  /// The port on loopback.
  public let port: Int
  private let processID: Int32
  private let isEnded = Mutex(false)

  init(script: String, _ arguments: [String]) async throws {
    (port, processID) = try await offThePool { try Self.start(script, arguments) }
  }

  private static func start(_ script: String, _ arguments: [String]) throws -> (port: Int, processID: Int32) {
    let process = ChildProcess()
    process.executableURL = Repository.python
    process.arguments = [Repository.root.appending(path: "Tests/Peers/\(script)").path] + arguments
    let output = Pipe.notInherited()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let line = output.fileHandleForReading.line()
    guard let port = line.split(separator: " ").last.flatMap({ Int($0.filter(\.isNumber)) }) else {
      process.terminate()
      throw DidNotStart(output: line.isEmpty ? "run Scripts/install-test-peers first" : line)
    }
    return (port, process.processIdentifier)
  }

  /// Kills the server at once. Later requests find no server.
  public func end() {
    isEnded.withLock { isEnded in
      // The process id may belong to another process by then.
      if !isEnded { kill(processID, SIGKILL) }
      isEnded = true
    }
  }

  deinit { end() }
}

/// Strawberry on uvicorn.
public final class StrawberryServer: PeerServer, @unchecked Sendable {
  /// The URL of its GraphQL endpoint.
  public var endpoint: String { "http://127.0.0.1:\(port)/graphql" }

  public init(_ arguments: [String] = []) async throws { try await super.init(script: "strawberry_server.py", arguments) }
}

/// Ariadne on hypercorn.
public final class AriadneServer: PeerServer, @unchecked Sendable {
  /// The URL of its GraphQL endpoint.
  public var endpoint: String { "http://127.0.0.1:\(port)/" }

  public init(_ arguments: [String] = []) async throws { try await super.init(script: "ariadne_server.py", arguments) }
}

/// Graphene on uvicorn.
public final class GrapheneServer: PeerServer, @unchecked Sendable {
  /// The URL of its GraphQL endpoint.
  public var endpoint: String { "http://127.0.0.1:\(port)/" }

  public init() async throws { try await super.init(script: "graphene_server.py", []) }
}

/// A Connect server, by connect-python on uvicorn.
public final class ConnectServer: PeerServer, @unchecked Sendable {
  /// The URL in front of the services.
  public var host: String { "http://127.0.0.1:\(port)" }

  public init(_ arguments: [String] = []) async throws { try await super.init(script: "connect_server.py", arguments) }
}

/// A proxy that follows `/readyz` of its backends.
public final class ReadyProxy: PeerServer, @unchecked Sendable {
  /// - Parameter backends: The ports of the backends.
  public init(backends: [Int]) async throws { try await super.init(script: "ready_proxy.py", backends.map { "\($0)" }) }
}

/// An HTTP/2 server that ends each third request of a connection with an event.
public final class HTTP2Server: PeerServer, @unchecked Sendable {
  private let certificates: CertificateFiles
  /// The URL of the server.
  public var origin: String { "https://127.0.0.1:\(port)" }
  /// The certificate of the authority that signed the server's certificate.
  public var authorityFile: String { certificates.path("authority.pem") }

  /// - Parameter event: As Tests/Peers/http2_server.py takes it.
  public init(event: String) async throws {
    certificates = try await CertificateFiles()
    try await super.init(script: "http2_server.py", [certificates.path("server.pem"), certificates.path("server.key"), event])
  }
}
