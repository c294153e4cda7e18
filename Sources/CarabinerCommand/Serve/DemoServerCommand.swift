internal import ArgumentParser
internal import CarabinerDemoServer
internal import Foundation
internal import UnixSignals

/// `carabiner demo-server`: a GraphQL server to try Carabiner with.
struct DemoServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo-server", abstract: "Serve a small GraphQL library on this machine, to try Carabiner.",
    discussion: """
      POST and GET /graphql answer with JSON, or with CBOR for Accept: application/cbor. Queries with @defer are answered in parts
      for multipart/mixed;deferSpec=20220824, and the subscription countdown for multipart/mixed;subscriptionSpec=1.0.
      GET is for queries and needs the header Apollo-Require-Preflight. A document sent with its SHA-256 is stored under this hash.
      POST /token issues tokens (OAuth 2 client credentials). GET /schema shows the schema, and GET /counters the counters.

      The server prints "listening PORT" when it accepts connections, and a line per request to standard error. SIGTERM and Ctrl-C
      end it with exit status 0. Running requests have 3 seconds to finish.

      Example: carabiner demo-server --port 8000 --require-auth --token-lifetime 60
      """)

  /// Environment variables for secrets, which other users cannot read from the process list.
  private static let keyVariable = "DEMO_SERVER_HMAC_KEY"
  private static let secretVariable = "DEMO_SERVER_CLIENT_SECRET"

  @Option(name: .long, help: "The port to listen on. 0 selects a free port.")
  var port = 0

  @Option(name: .long, help: "The address to listen on.")
  var host = "127.0.0.1"

  @Flag(name: .long, help: "Answer requests to /graphql without a valid token from /token with 401.")
  var requireAuth = false

  @Option(name: .long, help: ArgumentHelp("The lifetime of a token.", valueName: "seconds"))
  var tokenLifetime = 3600.0

  @Option(
    name: .long,
    help: ArgumentHelp("The number of requests that a token is valid for. Without it there is no limit.", valueName: "count"))
  var tokenUses: Int?

  @Option(name: .long, help: "The client_secret that /token requires, or $\(Self.secretVariable). Without it, any is accepted.")
  var clientSecret: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Require signed requests, and sign responses, like the plugin hmac-sign. Or set $\(Self.keyVariable).",
      valueName: "key"))
  var hmacKey: String?

  @Option(name: .long, help: ArgumentHelp("The largest request body.", valueName: "bytes"))
  var maximumBody = 1 << 20

  @Option(name: .long, help: ArgumentHelp("The deepest nesting of selections.", valueName: "levels"))
  var maximumDepth = 20

  @Option(
    name: .long,
    help: ArgumentHelp("The most fields of an operation. Fields of fragments count at each use.", valueName: "count")
  )
  var maximumFields = 1000

  @Option(
    name: .long,
    help: ArgumentHelp("The time without results after which a subscription sends a heartbeat.", valueName: "seconds"))
  var heartbeat = 5.0

  @Flag(name: .long, help: "Reject hashes instead of documents (automatic persisted queries).")
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
    let ends = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    do {
      try await server.run { for await _ in ends { return } }
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
