internal import ArgumentParser
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerCalls
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// `carabiner call`: calls a method of a Connect or gRPC-Web service.
struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", abstract: "Call a method of a Connect or gRPC-Web service through the chain of a manifest.",
    discussion: """
      Messages are JSON. Each message of the response is one line on standard output. Everything else goes to standard error: the error
      of the server as one line of JSON with code, message and details, and with -v the headers and trailers.

      The manifest has protocol: connect or grpc-web. Without a manifest, the protocol is that of --protocol, and no plugin runs.

      Example: carabiner call --endpoint http://127.0.0.1:8080 shop.v1.Carts/Get '{"id":"1"}'

      --stream reads a stream of messages. --client-stream sends each line of the input as a message; with both, messages go in both
      directions:
      printf '1\\n2\\n' | carabiner call --client-stream --endpoint http://127.0.0.1:8080 shop.v1.Numbers/Add -

      Exit status: 0 ok, 1 the server answered with an error of the protocol, 2 usage, 3 manifest or plugin refused, 4 network, TLS or
      timeout, 5 HTTP status, 6 the response cannot be read, 7 an interceptor failed, 8 cancelled.
      """)

  @OptionGroup var source: ManifestOptions
  @OptionGroup var trust: TrustOptions
  @OptionGroup var pluginCache: PluginCacheOptions

  @Option(name: .long, help: "The URL of the server, in front of the service. It overrides the manifest's endpoint.")
  var endpoint: String?

  @Option(name: .long, help: "The protocol without a manifest: connect or grpc-web.")
  var `protocol`: CallNetwork = .connect

  @Flag(name: .long, help: "Read a stream of messages.")
  var stream = false

  @Flag(name: .long, help: "Send each line of the input as a message.")
  var clientStream = false

  @Flag(name: .long, help: "Send the call by GET, which needs a method without side effects. gRPC-Web has no GET.")
  var get = false

  @Flag(
    name: .long,
    help: "The method has no side effects: the manifest may send it by GET, and it is sent again if a kept connection is dead.")
  var noSideEffects = false

  @Option(
    name: .long, help: ArgumentHelp("A header of the request, 'Name: value'. May be repeated.", valueName: "name: value"))
  var header: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A PEM file with the certificates to trust instead of the system's. It overrides the manifest's ca-file and SSL_CERT_FILE.",
      valueName: "file"))
  var cacert: String?

  @Option(name: .long, help: "The time limit of the call in seconds, including interceptors. It overrides the manifest's.")
  var timeout: Double?

  @Flag(name: .long, help: "Print the stages that the request passes to standard error.")
  var trace = false

  @Flag(name: .shortAndLong, help: "Print headers and trailers to standard error.")
  var verbose = false

  @Argument(help: ArgumentHelp("The method.", valueName: "package.Service/Method"))
  var method: String

  @Argument(help: ArgumentHelp("The message, or - for standard input. Without it, the message is {}.", valueName: "json|-"))
  var message = "{}"

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout < 1e6) { throw ValidationError("--timeout takes seconds above 0") }
    if get, stream || clientStream { throw ValidationError("--get is for calls with one message in each direction") }
    if let cacert, !FileManager.default.isReadableFile(atPath: cacert) {
      throw ValidationError("--cacert takes a file of certificates, and \(cacert) cannot be read")
    }
    guard CallMethod(method) != nil else {
      throw ValidationError("the method is package.Service/Method, not \(method.debugDescription)")
    }
    _ = try HeaderArgument.fields(header)
  }

  func run() async throws {
    do {
      try CrashReporter.install()
      let messages = try messages()
      let host = try await PluginHost(manifestOrNone: source.path, try hostConfiguration())
      let call = try call(host)
      try await host.untilShutDown { try await send(messages, by: call, host) }
    } catch let status as ExitStatus {
      throw status
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func send(_ messages: [Data], by call: CallRun, _ host: PluginHost) async throws {
    let drawing = trace ? TraceDrawing() : nil
    defer { drawing?.finish() }
    let interrupt = InterruptSignal()
    defer { interrupt.stop() }
    let kind: MethodSpec.MethodType? =
      switch (stream, clientStream) {
      case (false, false): nil
      case (true, false): .serverStream
      case (false, true): .clientStream
      case (true, true): .bidirectionalStream
      }
    let task = Task(executorPreference: host.executor) {
      if let kind { return try await call.stream(kind, messages, tracer: drawing) }
      return try await call.unary(messages.first ?? Data(), tracer: drawing)
    }
    interrupt.handle { task.cancel() }
    try await task.value
  }

  // MARK: Arguments

  private func hostConfiguration() throws -> PluginHost.Configuration {
    var configuration = PluginHost.Configuration.once(trust, pluginCache)
    configuration.endpoint = endpoint
    configuration.headers = try HeaderArgument.fields(header)
    configuration.wire = WireChoice(
      certificateAuthorityFile: cacert, protocolWithoutManifest: self.protocol == .grpcWeb ? .grpcWeb : .connect)
    return configuration
  }

  private func call(_ host: PluginHost) throws -> CallRun {
    let settings = try host.callSettings()
    if settings.connect.codec != .json {
      let codec = settings.connect.codec.rawValue
      Terminal.complain("warning: connect: {codec: \(codec)} has no effect here: carabiner call sends JSON")
    }
    let compressFrom = settings.connect.compressFrom
    let options = ProtocolOptions(
      codecName: "json", requestPool: compressFrom.map { _ in GzipCompressionPool() }, compressFrom: compressFrom ?? 0,
      maximumMessageBytes: settings.maximumMessageBytes)
    let network: CallConfig.Network =
      settings.callProtocol == .grpcWeb ? .grpcWeb : .connect(getLimit: get ? .max : settings.connect.get.limit)
    let config = CallConfig(
      host: settings.endpoint.absoluteString, network: network, options: options,
      timeout: timeout ?? settings.connect.timeout.map { $0 / .seconds(1) })
    var headers: CarabinerCalls.Headers = [:]
    for field in settings.headers { headers[field.name, default: []].append(field.value) }
    return CallRun(
      path: CallMethod(method)?.path ?? method, headers: headers, level: get || noSideEffects ? .noSideEffects : .unknown,
      config: config, transport: settings.transport, stages: ManifestProvider(host), showsFields: verbose)
  }

  /// The messages of the request, each as JSON in one line.
  private func messages() throws -> [Data] {
    let text: String
    if message == "-" {
      guard let input = String(validating: try FileHandle.standardInput.readToEnd() ?? Data(), as: UTF8.self) else {
        throw usageError("the input is not UTF-8")
      }
      text = input
    } else {
      text = message
    }
    let parts = clientStream ? text.split(whereSeparator: \.isNewline).map(String.init) : [text]
    return try parts.enumerated().map { index, part in
      do {
        return Data(try JSONValue(parsing: part).serialized())
      } catch {
        throw usageError("\(clientStream ? "line \(index + 1) of the input" : "the message") is not JSON: \(error)")
      }
    }
  }
}

/// The protocol of a call without a manifest.
enum CallNetwork: String, ExpressibleByArgument, CaseIterable {
  case connect
  case grpcWeb = "grpc-web"
}

extension Manifest.Connect.GET {
  /// The largest message that is sent by GET; nil for none.
  fileprivate var limit: Int? {
    switch self {
    case .never: nil
    case .always: .max
    case .upTo(let bytes): bytes
    }
  }
}
