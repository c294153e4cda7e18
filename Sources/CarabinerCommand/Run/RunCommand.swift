public import ArgumentParser
public import Carabiner
internal import CarabinerBridge
internal import CarabinerHost
internal import CarabinerManifest
public import CarabinerWire
internal import Foundation

/// `carabiner run`: runs an operation once or many times.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run an operation through the chain of a manifest.",
    discussion: """
      Results go to standard output as they arrive, all messages to standard error.

      Example: carabiner run -m chain.yaml --endpoint http://127.0.0.1:8000/graphql --variables '{"id":"1"}' hero.graphql

      Files are passed as variables with --file. They are read while they are sent:
      carabiner run --endpoint http://127.0.0.1:8000/graphql --file picture=cat.png --file pages.0=a.txt upload.graphql

      Subscriptions use multipart HTTP, or a WebSocket if --websocket or the manifest's settings: {websocket: …} sets one:
      carabiner run --websocket ws://127.0.0.1:8000/graphql --output jsonl countdown.graphql

      --get and --apq set what the manifest sets as settings: {get-for-queries: true} and
      built-ins: {persisted-queries: {enabled: true}}. To send hashes by GET and documents by POST, use the manifest's
      built-ins: {persisted-queries: {get-for-hashes: true}}.
      """)

  @OptionGroup var source: ManifestOptions
  @OptionGroup var trust: TrustOptions
  @OptionGroup var pluginCache: PluginCacheOptions

  @Option(name: .long, help: "The URL of the GraphQL server. It overrides the manifest's endpoint.")
  var endpoint: String?

  @Option(
    name: .long,
    help:
      "The WebSocket URL for subscriptions, ws or wss. Without an endpoint, all operations use it. It overrides the manifest's."
  )
  var websocket: String?

  @Option(
    name: .long,
    help: "The WebSocket subprotocol: \(WebSocketProtocol.allCases.map(\.rawValue).joined(separator: ", ")).")
  var websocketProtocol: WebSocketProtocol?

  @Option(
    name: .long, help: ArgumentHelp("The variables as a JSON object, or @FILE to read them from a file.", valueName: "json|@file")
  )
  var variables: String?

  @Option(name: .long, help: "The name of the operation to run, if the document has several.")
  var operationName: String?

  @Option(
    name: .long, help: ArgumentHelp("A header for every request, 'Name: value'. May be repeated.", valueName: "name: value"))
  var header: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A PEM file with the certificates to trust instead of the system's. It overrides the manifest's ca-file and SSL_CERT_FILE.",
      valueName: "file"))
  var cacert: String?

  @Option(name: .long, help: "The use of cache and network: \(CachePolicy.allCases.map(\.rawValue).joined(separator: ", ")).")
  var cachePolicy: CachePolicy = .default

  @Option(name: .long, help: "The time limit of one attempt in seconds, including interceptors.")
  var timeout: Double?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A file for a variable, such as picture=cat.png or pages.0=a.txt. May be repeated.", valueName: "variable=path"))
  var file: [FileArgument] = []

  @Flag(name: .long, help: "Send queries by GET. Mutations, subscriptions and uploads are still sent by POST.")
  var get = false

  @Flag(name: .long, help: "Send the hash of the document first, and the document only if the server does not know it.")
  var apq = false

  @Flag(name: .long, help: "Print the stages that the request passes to standard error.")
  var trace = false

  @Option(name: .long, help: "The format of results: pretty, json or jsonl.")
  var output: OutputFormat = .pretty

  @Option(name: .long, help: "Run the operation this many times, and print a summary instead of the results.")
  var `repeat`: Int?

  @Option(name: .long, help: "The number of concurrent requests with --repeat.")
  var concurrency = 1

  @Argument(help: ArgumentHelp("The document, or - for standard input.", valueName: "file|-"))
  var document: String

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout < 1e6) { throw ValidationError("--timeout takes seconds above 0") }
    if let count = self.repeat, count < 1 { throw ValidationError("--repeat takes a number above 0") }
    guard (1...10_000).contains(concurrency) else { throw ValidationError("--concurrency takes a number from 1 to 10000") }
    if let cacert, !FileManager.default.isReadableFile(atPath: cacert) {
      throw ValidationError("--cacert takes a file of certificates, and \(cacert) cannot be read")
    }
    _ = try HeaderArgument.fields(header)
  }

  func run() async throws {
    do {
      try CrashReporter.install()
      let operation = try operation()
      let host = try await PluginHost(manifestOrNone: source.path, try hostConfiguration())
      try host.requireGraphQL("use carabiner call")
      if apq { try host.requirePersistedQueries(for: operation) }
      if let count = self.repeat {
        let load = LoadRun(
          host: host, operation: operation, files: file.map(\.file), policy: cachePolicy, count: count, concurrency: concurrency)
        try await host.untilShutDown { try await load.run(format: output) }
      } else {
        try await host.untilShutDown { try await runOnce(host, operation) }
      }
    } catch let status as ExitStatus {
      throw status
    } catch is CancellationError {
      // After Ctrl-C no message is needed.
      throw ExitStatus.cancelled
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func runOnce(_ host: PluginHost, _ operation: DynamicOperation) async throws {
    let drawing = trace ? TraceDrawing() : nil
    defer { drawing?.finish() }
    let policy = cachePolicy
    let files = file.map(\.file)
    let format = output
    let client = ApolloClient(networkTransport: host.transport)
    let interrupt = InterruptSignal()
    defer { interrupt.stop() }
    // Ctrl-C cancels this task. It prefers the event loop, so the request never changes threads.
    let task = Task(executorPreference: host.executor) {
      var hasErrors = false
      let results = try client.results(of: operation, files, cachePolicy: policy, tracer: drawing)
      for try await response in results {
        Terminal.emit(try format.text(of: response))
        hasErrors = hasErrors || response.hasErrors
      }
      return hasErrors
    }
    interrupt.handle { task.cancel() }
    if try await task.value { throw ExitStatus.graphQLErrors }
  }

  // MARK: Arguments

  private func hostConfiguration() throws -> PluginHost.Configuration {
    var configuration = PluginHost.Configuration.once(trust, pluginCache)
    configuration.endpoint = endpoint
    configuration.headers = try HeaderArgument.fields(header)
    configuration.requestTimeout = timeout
    configuration.returnsGraphQLErrors = false
    configuration.wire = WireChoice(
      usesGET: get, usesPersistedQueries: apq, webSocket: websocket, webSocketProtocol: websocketProtocol,
      certificateAuthorityFile: cacert)
    return configuration
  }

  private func operation() throws -> DynamicOperation {
    let text = try read(document == "-" ? nil : document)
    let chosen = try OperationChoice(document: text, name: operationName)
    var variables = JSONObject()
    if let argument = self.variables {
      let json = try argument.hasPrefix("@") ? read(String(argument.dropFirst())) : argument
      do {
        guard case .object(let object) = try JSONValue(parsing: json) else {
          throw usageError("--variables must be a JSON object")
        }
        variables = object
      } catch let error as JSONError {
        throw usageError("--variables is not JSON: \(error)")
      }
    }
    return DynamicOperation(
      document: text, operationName: chosen.name, operationType: chosen.type, variables: variables)
  }

  private func read(_ path: String?) throws -> String {
    let data: Data?
    if let path {
      data = FileManager.default.contents(atPath: path)
    } else {
      data = try FileHandle.standardInput.readToEnd() ?? Data()
    }
    guard let data else { throw usageError("the file \(path ?? "-") cannot be read") }
    guard let text = String(validating: data, as: UTF8.self) else { throw usageError("\(path ?? "-") is not UTF-8") }
    return text
  }
}

extension CachePolicy: ExpressibleByArgument {}
extension WebSocketProtocol: ExpressibleByArgument {}

/// The notation of results.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case pretty
  case json
  case jsonl

  func text(of response: GraphQLResponse<DynamicOperation>) throws -> String {
    guard self == .pretty else {
      // One result per line: the response's body without its line breaks between members.
      let value = try JSONValue(parsing: [UInt8](response.body.bytes))
      return value.description
    }
    return String(decoding: try JSONValue(parsing: [UInt8](response.body.bytes)).serialized(pretty: true), as: UTF8.self)
  }
}
