internal import ArgumentParser
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerFiles
internal import CarabinerHost
internal import CarabinerSchema
internal import CarabinerWire
internal import Foundation

/// `carabiner schema fetch`: the schema of a server, by introspection.
struct SchemaFetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Fetch the schema of a server by introspection.",
    discussion: """
      The request passes the chain of the manifest, so its plugins can sign it. Without a manifest, no plugin runs.

      The schema is printed in the schema definition language. A file whose name ends with .json gets the introspection result instead,
      with the directives that each schema has. A server that does not know the newest members of introspection is asked for older ones.

      Example: carabiner schema fetch https://example.org/graphql --header 'Authorization: Bearer TOKEN' --output schema.graphqls

      Exit status: 0 ok, 1 the server refused the introspection, 2 usage, 3 manifest or plugin refused, or the file cannot be written,
      4 network, TLS or timeout, 5 HTTP status, 6 the response is not an introspection result, 7 an interceptor failed, 8 cancelled.
      """)

  @OptionGroup var source: ManifestOptions
  @OptionGroup var trust: TrustOptions
  @OptionGroup var pluginCache: PluginCacheOptions

  @Option(
    name: .long, help: ArgumentHelp("A header of the request, 'Name: value'. May be repeated.", valueName: "name: value"))
  var header: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A PEM file with the certificates to trust instead of the system's. It overrides the manifest's ca-file and SSL_CERT_FILE.",
      valueName: "file"))
  var cacert: String?

  @Option(name: .long, help: "The time limit of one attempt in seconds, including interceptors.")
  var timeout: Double?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the schema to this file instead of standard output; with a name that ends with .json, the introspection result.",
      valueName: "file"))
  var output: String?

  @Flag(name: .long, help: "Sort types, fields, arguments and values by name.") var sorted = false

  @Argument(help: "The URL of the server. Without it, the manifest's endpoint is asked.")
  var url: String?

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout < 1e6) { throw ValidationError("--timeout takes seconds above 0") }
    if url == nil, source.path == nil { throw ValidationError("give the URL of the server, or a manifest with its endpoint") }
    if let cacert, !FileManager.default.isReadableFile(atPath: cacert) {
      throw ValidationError("--cacert takes a file of certificates, and \(cacert) cannot be read")
    }
    _ = try HeaderArgument.fields(header)
  }

  func run() async throws {
    do {
      try CrashReporter.install()
      var configuration = PluginHost.Configuration.once(trust, pluginCache)
      configuration.endpoint = url
      configuration.headers = try HeaderArgument.fields(header)
      configuration.requestTimeout = timeout
      configuration.returnsGraphQLErrors = false
      configuration.wire = WireChoice(certificateAuthorityFile: cacert)
      let host = try await PluginHost(manifestOrNone: source.path, configuration)
      try host.requireGraphQL("a service of Connect or gRPC has no schema of GraphQL")
      try await host.untilShutDown { try write(try await introspection(through: host)) }
    } catch let status as ExitStatus {
      throw status
    } catch let refusal as FetchedSchema.Refusal {
      Terminal.complain("error: \(refusal)")
      throw ExitStatus.graphQLErrors
    } catch let error as SchemaError {
      Terminal.complain("error: \(error)")
      throw ExitStatus.parsing
    } catch is CancellationError {
      // After Ctrl-C no message is needed.
      throw ExitStatus.cancelled
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func introspection(through host: PluginHost) async throws -> FetchedSchema {
    let interrupt = InterruptSignal()
    defer { interrupt.stop() }
    let task = Task(executorPreference: host.executor) {
      // Many servers answer a query that is not valid with status 400.
      try await FetchedSchema(isRefusal: { $0 is ResponseCodeError }) { try await Self.answer(to: $0, through: host) }
    }
    interrupt.handle { task.cancel() }
    return try await task.value
  }

  private static func answer(to query: IntrospectionQuery, through host: PluginHost) async throws -> JSONValue {
    let operation = DynamicOperation(
      document: query.document, operationName: IntrospectionQuery.operationName, operationType: .query, variables: [:])
    let results = try ApolloClient(networkTransport: host.transport).results(
      of: operation, cachePolicy: .networkOnly, configuration: RequestConfiguration(writeResultsToCache: false))
    for try await response in results { return try JSONValue(parsing: [UInt8](response.body.bytes)) }
    throw FetchedSchema.Refusal("there was no response")
  }

  private func write(_ fetched: FetchedSchema) throws {
    let text = fetched.text(for: output, isSorted: sorted)
    guard let output else { return Terminal.emit(String(text.dropLast())) }
    do throws(FileReplacement.Fault) {
      try FileReplacement.write(Array(text.utf8), to: output, mode: 0o644, isLasting: false)
    } catch {
      Terminal.complain("error: \(output) cannot be written: \(error.reason)")
      throw ExitStatus.refused
    }
  }
}
