internal import ArgumentParser
internal import CarabinerFiles
internal import CarabinerGenerateCommand
internal import CarabinerSchema
internal import CarabinerWire
internal import Foundation
internal import FoundationNetworking

/// `carabiner-generate fetch`: the schema of a server, for users who have no `carabiner`.
struct FetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Fetch the schema of a server by introspection.",
    discussion: """
      The schema is written in the schema definition language. A file whose name ends with .json gets the introspection result instead.
      carabiner schema fetch does the same with a request that plugins can sign.

      Example: swift package generate-graphql fetch https://example.org/graphql --header 'Authorization: Bearer TOKEN'

      Exit status: 0 ok, 1 the server refused the introspection, 2 usage, 3 the file cannot be written, 4 network, TLS or timeout,
      5 HTTP status, 6 the response is not an introspection result.
      """)

  @Option(
    name: .long, help: ArgumentHelp("A header of the request, 'Name: value'. May be repeated.", valueName: "name: value"))
  var header: [String] = []
  @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var output = "schema.graphqls"
  @Option(name: .long, help: "The time limit of a request in seconds.") var timeout = 60.0
  @Argument(help: "The URL of the server.") var url: String

  func validate() throws { _ = try request() }

  func run() async throws {
    let request = try request()
    do {
      let fetched = try await FetchedSchema(
        isRefusal: { ($0 as? SchemaDownload.Failure)?.isStatus == true },
        answer: { try await Self.answer(to: $0, request) })
      let text = fetched.text(for: output, isSorted: false)
      try FileReplacement.write(Array(text.utf8), to: output, mode: 0o644, isLasting: false)
      Console.emit("wrote \(output)")
    } catch let fault as FileReplacement.Fault {
      throw Self.failure("\(output) cannot be written: \(fault.reason)", status: 3)
    } catch let refusal as FetchedSchema.Refusal {
      throw Self.failure("\(refusal)", status: 1)
    } catch let failure as SchemaDownload.Failure {
      throw Self.failure("\(failure)", status: failure.isStatus ? 5 : 4)
    } catch {
      throw Self.failure("the response is not an introspection result: \(error)", status: 6)
    }
  }

  private static func failure(_ message: String, status: Int32) -> ExitCode {
    Console.complain("error: \(message)")
    return ExitCode(status)
  }

  private func request() throws -> URLRequest {
    guard let address = URL(string: url), ["http", "https"].contains(address.scheme), address.host != nil else {
      throw ValidationError("the URL of a server begins with http:// or https://, not \(url.debugDescription)")
    }
    guard timeout > 0, timeout < 1e6 else { throw ValidationError("--timeout takes seconds above 0") }
    var request = URLRequest(url: address)
    // Only this setter has an effect, and only with whole seconds.
    request.timeoutInterval = timeout.rounded(.up)
    request.httpMethod = "POST"
    for text in header {
      let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      // The text may be a secret.
      guard parts.count == 2, !parts[0].isEmpty, !text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw ValidationError("--header takes 'Name: value' without control characters")
      }
      request.addValue(parts[1], forHTTPHeaderField: parts[0])
    }
    for (name, value) in [
      ("Content-Type", "application/json"), ("Accept", "application/graphql-response+json, application/json"),
    ] where request.value(forHTTPHeaderField: name) == nil {
      request.setValue(value, forHTTPHeaderField: name)
    }
    return request
  }

  private static func answer(to query: IntrospectionQuery, _ request: URLRequest) async throws -> JSONValue {
    var request = request
    let body: JSONValue = .object(["query": .string(query.document), "operationName": .string(IntrospectionQuery.operationName)])
    request.httpBody = Data(body.serialized())
    let (status, bytes) = try await SchemaDownload.response(to: request)
    let json = Result { try JSONValue(parsing: bytes) }
    // Many servers answer a query that is not valid with status 400. A result may have errors beside a schema.
    if [200, 400].contains(status), (try? json.get())?["data"]?["__schema"]?.object == nil,
      let message = (try? json.get())?["errors"]?[0]?["message"]?.string
    {
      throw FetchedSchema.Refusal(message)
    }
    guard status == 200 else { throw SchemaDownload.Failure(status: status) }
    return try json.get()
  }
}
