internal import ArgumentParser
internal import Carabiner
internal import CarabinerCurl
internal import CarabinerWire
internal import Foundation

/// Sends requests to the admin socket of a running gateway.
struct AdminClient: Sendable {
  private static let timeout = 60.0

  private let transport: CurlTransport
  private let path: String

  /// - Parameter address: `unix:/PATH`, as passed to `carabiner serve --admin`.
  init(_ address: String) throws {
    guard address.hasPrefix("unix:/") else { throw usageError("--admin takes unix:/PATH, as carabiner serve was given it") }
    path = String(address.dropFirst("unix:".count))
    var configuration = CurlTransport.Configuration()
    configuration.unixSocket = path
    configuration.proxy = .none
    transport = try CurlTransport(configuration: configuration)
  }

  /// Sends a request and returns the response.
  ///
  /// - Throws: ``ExitStatus/network`` after a message if no gateway answers.
  func ask(_ method: String, _ target: String, body: JSONValue? = nil) async throws -> (status: Int, body: Data) {
    do {
      return try await send(method, target, body: body)
    } catch let error as TransportError {
      Terminal.complain(
        "error: no gateway answers at \(path) (\(error.code.rawValue)); is carabiner serve running with --admin unix:\(path), as this user?"
      )
      throw ExitStatus.network
    }
  }

  /// Sends a request and returns the response, for callers that report errors themselves.
  ///
  /// - Throws: ``TransportError``.
  func send(_ method: String, _ target: String, body: JSONValue? = nil) async throws -> (status: Int, body: Data) {
    guard let url = URL(string: "http://carabiner\(target)") else { throw usageError("\(target) is not a request target") }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.timeoutInterval = Self.timeout
    if let body {
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      request.httpBody = Data(body.serialized())
    }
    let response = try await transport.send(request)
    var bytes = Data()
    for try await chunk in response.chunks { bytes.append(chunk) }
    return (response.response.statusCode, bytes)
  }

  /// Sends a request and returns the response as JSON.
  func json(_ method: String, _ target: String, body: JSONValue? = nil) async throws -> (status: Int, json: JSONValue) {
    let (status, body) = try await ask(method, target, body: body)
    do {
      return (status, try JSONValue(parsing: [UInt8](body)))
    } catch {
      Terminal.complain("error: the server at \(path) is not a Carabiner gateway; check --admin")
      throw ExitStatus.parsing
    }
  }
}

/// Options for the gateway and the output format.
struct AdminOptions: ParsableArguments {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  /// The environment variable with the default socket.
  static let variable = "CARABINER_ADMIN"

  @Option(
    name: .long,
    help: ArgumentHelp("The admin socket of carabiner serve, or $\(Self.variable).", valueName: "unix:path"))
  var admin: String?

  @Option(name: .long, help: "text or json.") var format: Format = .text

  func client() throws -> AdminClient {
    guard let address = admin ?? ProcessInfo.processInfo.environment[Self.variable] else {
      throw usageError("give --admin unix:/PATH, or set \(Self.variable)")
    }
    return try AdminClient(address)
  }

  func show(_ json: JSONValue, _ text: (JSONValue) -> String) {
    switch format {
    case .text: Terminal.emit(text(json))
    case .json: Terminal.emit(String(decoding: json.serialized(pretty: true), as: UTF8.self))
    }
  }
}
