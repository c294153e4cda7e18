internal import ArgumentParser
internal import CarabinerDemoServer
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `carabiner demo-server`: a GraphQL server to try Carabiner with.
struct DemoServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo-server", abstract: "Serve a small GraphQL library on this machine, to try Carabiner with.",
    discussion: """
      POST and GET /graphql answer JSON, or CBOR to Accept: application/cbor; queries with @defer in parts to
      multipart/mixed;deferSpec=20220824, and the subscription countdown to multipart/mixed;subscriptionSpec=1.0.
      GET is for queries, with the header Apollo-Require-Preflight. A document that came with its SHA-256 is known by it.
      POST /token gives out tokens (OAuth 2 client credentials), GET /schema shows the schema, GET /counters what happened.

      Prints "listening PORT" once it accepts connections, and a line for each request on standard error. SIGTERM and Ctrl-C
      end it with exit status 0; answers under way may take 3 seconds more.

      Example: carabiner demo-server --port 8000 --require-auth --token-lifetime 60
      """)

  /// Environment variables for secrets, which other users cannot read from the process list.
  private static let keyVariable = "DEMO_SERVER_HMAC_KEY"
  private static let secretVariable = "DEMO_SERVER_CLIENT_SECRET"

  @Option(name: .long, help: "The port to listen on; 0 takes any free one.")
  var port = 0

  @Option(name: .long, help: "The address to listen on.")
  var host = "127.0.0.1"

  @Flag(name: .long, help: "Answer 401 at /graphql without a valid token of /token.")
  var requireAuth = false

  @Option(name: .long, help: ArgumentHelp("How long a token is good.", valueName: "seconds"))
  var tokenLifetime = 3600.0

  @Option(
    name: .long, help: ArgumentHelp("For how many requests a token is good; without it, for any number.", valueName: "count"))
  var tokenUses: Int?

  @Option(name: .long, help: "The client_secret /token wants; $\(Self.secretVariable) serves as well. Without it, any will do.")
  var clientSecret: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Require signed requests, and sign responses, as the plugin hmac-sign does; $\(Self.keyVariable) serves as well.",
      valueName: "key"))
  var hmacKey: String?

  @Option(name: .long, help: ArgumentHelp("How large a request's body may be.", valueName: "bytes"))
  var maximumBody = 1 << 20

  @Option(name: .long, help: ArgumentHelp("How deep selections may be nested.", valueName: "levels"))
  var maximumDepth = 20

  @Option(
    name: .long,
    help: ArgumentHelp("How many fields may be asked for, those of fragments counted wherever they are used.", valueName: "count")
  )
  var maximumFields = 1000

  @Option(
    name: .long, help: ArgumentHelp("After how long a silence a subscription shows it is alive.", valueName: "seconds"))
  var heartbeat = 5.0

  @Flag(name: .long, help: "Refuse hashes in place of documents (automatic persisted queries).")
  var noPersistedQueries = false

  @Flag(name: .long, help: "Do not write a line for each request.")
  var quiet = false

  @Flag(name: .long, help: "Print the schema and exit.")
  var printSchema = false

  func validate() throws {
    func check(_ isGood: Bool, _ message: String) throws { if !isGood { throw ValidationError(message) } }
    try check((0...65_535).contains(port), "--port takes a number from 0 to 65535")
    try check(!host.isEmpty, "--host takes an address, such as 127.0.0.1")
    try check((0.001...1e9).contains(tokenLifetime), "--token-lifetime takes seconds from 0.001 to 1000000000")
    try check(tokenUses ?? 1 > 0, "--token-uses takes a number above 0")
    try check((1...1 << 28).contains(maximumBody), "--maximum-body takes bytes from 1 to 268435456")
    try check((1...30).contains(maximumDepth), "--maximum-depth takes a number from 1 to 30")
    try check((1...10_000).contains(maximumFields), "--maximum-fields takes a number from 1 to 10000")
    try check((0.01...3600).contains(heartbeat), "--heartbeat takes seconds from 0.01 to 3600")
    try check(hmacKey?.isEmpty != true, "--hmac-key takes a key that is not empty")
  }

  func run() async throws {
    if printSchema { return Terminal.emit(DemoServer.schema.trimmingCharacters(in: .newlines)) }
    let note: DemoServer.Note = { line, time in Terminal.complain("\(line), \(time.microseconds)") }
    let server = DemoServer(serverConfiguration, note: quiet ? nil : note) { port in Terminal.emit("listening \(port)") }
    do {
      let services = ServiceGroupConfiguration(
        services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "demo-server"))
      try await ServiceGroup(configuration: services).run()
    } catch {
      Terminal.complain("error: cannot serve on \(host):\(port): \(error); try another --port or --host")
      throw ExitStatus.network
    }
  }

  private var serverConfiguration: DemoServer.Configuration {
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    var configuration = DemoServer.Configuration()
    configuration.host = host
    configuration.port = port
    configuration.maximumBodyBytes = maximumBody
    configuration.requiresToken = requireAuth
    configuration.tokenLifetime = tokenLifetime
    configuration.tokenUses = tokenUses
    configuration.clientSecret = clientSecret ?? environment[Self.secretVariable]
    configuration.signatureKey = hmacKey ?? environment[Self.keyVariable]
    configuration.maximumDepth = maximumDepth
    configuration.maximumFields = maximumFields
    configuration.keepsDocuments = !noPersistedQueries
    configuration.heartbeat = .seconds(heartbeat)
    return configuration
  }
}
