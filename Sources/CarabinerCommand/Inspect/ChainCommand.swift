public import ArgumentParser
public import Carabiner
internal import CarabinerBridge
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// `carabiner chain`: the stages of an operation. No plugin is loaded.
struct ChainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chain", abstract: "Print the stages that an operation passes, in order.",
    discussion: """
      With --admin, the command shows the current chain of a running gateway. Each plugin has its digest, the override that enables
      or disables it, its calls, failures and faults, and the mean time of its hooks in timed operations.

      With protocol: connect or grpc-web, the name of an operation is that of its method, as in package.Service/Method. The type of a
      call without side effects is query, of any other unary call and of a client stream mutation, and of other streams subscription.

      With --trust, the manifest must be signed. The files of plugins are not read.

      Example: carabiner chain --admin unix:/run/carabiner.sock --operation GetBook
      """)

  @OptionGroup var source: ManifestOptions
  @OptionGroup var trust: TrustOptions
  @Option(name: .long, help: ArgumentHelp("Ask the gateway with this admin socket.", valueName: "unix:path"))
  var admin: String?
  @Option(name: .long, help: "The operation's name.") var operation: String?
  @Option(name: .long, help: "query, mutation or subscription.") var type: GraphQLOperationType = .query
  @Option(name: .long, help: "text, json or dot.") var format: ChainDrawing.Format = .text

  func validate() throws {
    guard admin != nil else { return }
    if trust.policy != nil { throw ValidationError("give --admin or --trust, not both: a gateway has its own trust") }
    if source.path != nil { throw ValidationError("give --admin or a manifest, not both: a gateway has its own manifest") }
  }

  func run() async throws {
    if let admin { return try await show(AdminClient(admin)) }
    do {
      let manifest = try source.manifest(trusting: trust.policy)
      let overrides = StageOverrides(environment: ProcessInfo.processInfo.environment)
      let isolation = IsolationOverrides(environment: ProcessInfo.processInfo.environment)
      let refusals = manifest.refusals(of: overrides)
      guard refusals.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(refusals)) }
      for warning in manifest.warnings(about: overrides) + manifest.warnings(about: isolation) {
        Terminal.complain("warning: \(warning)")
      }
      let drawing = ChainDrawing(
        manifest.stagePlan(operationName: operation, type: type, overrides: overrides), of: operation, type,
        manifest.callProtocol, workers: manifest.workerGroups(isolation))
      switch format {
      case .text: Terminal.emit(drawing.text)
      case .json: Terminal.emit(String(decoding: drawing.json.serialized(pretty: true), as: UTF8.self))
      case .dot: Terminal.emit(drawing.dot)
      }
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func show(_ client: AdminClient) async throws {
    var query = URLComponents()
    query.queryItems = [URLQueryItem(name: "type", value: type.rawValue), URLQueryItem(name: "format", value: format.rawValue)]
    if let operation { query.queryItems?.append(URLQueryItem(name: "operation", value: operation)) }
    let answer = try await client.ask("GET", "/chain?\(query.percentEncodedQuery ?? "")")
    let text = String(decoding: answer.body, as: UTF8.self)
    guard answer.status == 200 else {
      Terminal.complain("error: the gateway refuses: \(text)")
      throw ExitStatus.refused
    }
    Terminal.emit(text.hasSuffix("\n") ? String(text.dropLast()) : text)
  }
}

extension GraphQLOperationType: ExpressibleByArgument {}
extension ChainDrawing.Format: ExpressibleByArgument {}
