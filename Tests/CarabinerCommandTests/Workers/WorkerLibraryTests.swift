import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import CommandTools
import Foundation
import Synchronization
import TestTools
import Testing

/// The libraries of plugins in workers, and the settings of a program that embeds a chain.
@Suite("Libraries of plugins in workers")
struct WorkerLibraryTests {
  private let folder: FixturePlugin.Folder

  init() throws {
    folder = try FixturePlugin.Folder()
    // The user of workers has to reach it.
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
  }

  /// A transport that notes the stamp of each request.
  private final class Transport: HTTPTransport {
    let stamps = Mutex<[String]>([])

    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      stamps.withLock { $0.append(request.headers["X-Stamp-Down"] ?? "none") }
      return HTTPResponse(
        response: Carabiner.HTTPURLResponse(url: request.url, statusCode: 200, headers: ["Content-Type": "application/json"]),
        chunks: PullStream(Data(#"{"data":{"a":1}}"#.utf8)))
    }
  }

  /// The first line of a file, as a plugin in a worker reads it.
  ///
  /// - Parameter allowed: `library-paths` of the manifest.
  private func firstLine(of path: String, read plugin: String, allowing allowed: String = "") async throws -> String? {
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins: [{name: p, file: \(plugin), config: {stamp-file: \(path)}, library-paths: [\(allowed)], isolation: worker}]
        chain: {http: [p]}
        """)
    let chain = try HostedChain(manifest)
    let transport = Transport()
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(interceptorProvider: chain, endpointURL: url, httpTransport: transport))
    let operation = DynamicOperation(document: "{ a }", operationName: nil)
    for try await _ in try client.results(of: operation, cachePolicy: .networkOnly) {}
    return transport.stamps.withLock { $0.first }
  }

  @Test(
    "a RUNPATH folder that the manifest allows is readable in a worker, its neighbour is not",
    .rule("worker-test.46", "worker.16"),
    arguments: ["enable", "disable"])
  func runPath(newTags: String) async throws {
    for name in ["libraries", "neighbour"] {
      let place = folder.file(name)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      try Data("read in \(name)\n".utf8).write(to: place.appending(path: "text"))
    }
    _ = try await FixturePlugin.compile(
      "library", defining: ["NUMBER=1"], into: folder, name: "libraries/libbeside.so", linking: ["-Wl,-soname,libbeside.so"])
    let libraries = folder.file("libraries").path
    let plugin = try await FixturePlugin.compile(
      "stamp", defining: ["STAMP_FILE=\"\""], into: folder,
      linking: [
        "-L\(libraries)", "-Wl,--no-as-needed", "-l:libbeside.so", "-Wl,--\(newTags)-new-dtags,-rpath,\(libraries)",
      ])
    // Without the folder, the worker could not map the plugin at all.
    #expect(try await firstLine(of: "\(libraries)/text", read: plugin, allowing: libraries) == "read in libraries")
    let neighbour = folder.file("neighbour").appending(path: "text").path
    #expect(try await firstLine(of: neighbour, read: plugin, allowing: libraries) == "")
    #expect(try await firstLine(of: "/etc/passwd", read: plugin, allowing: libraries) == "")
  }

  @Test(
    "a plugin does not choose what its worker may read, by none of the names in its dynamic section", .rule("worker.16"),
    arguments: ["-l:libown.so", "-f,server", "-F,server", "--audit,server", "--depaudit,server"])
  func granted(_ name: String) async throws {
    let application = folder.file("application")
    try FileManager.default.createDirectory(at: application, withIntermediateDirectories: false)
    try Data("hunter2\n".utf8).write(to: application.appending(path: "secret"))
    // A program is an ELF object of the same type as a library.
    try FileManager.default.copyItem(at: URL(filePath: "/bin/ls"), to: application.appending(path: "server"))
    _ = try await FixturePlugin.compile(
      "library", defining: ["NUMBER=1"], into: folder, name: "application/libown.so", linking: ["-Wl,-soname,libown.so"])
    let secret = application.appending(path: "secret").path
    let named = try await FixturePlugin.compile(
      "stamp", defining: ["STAMP_FILE=\"\""], into: folder,
      linking: ["-L\(application.path)", "-Wl,--no-as-needed", "-Wl,\(name)", "-Wl,-rpath,\(application.path)"])
    let error = await #expect(throws: HostError.self) { _ = try await firstLine(of: secret, read: named) }
    #expect(error?.code == .unsafeLibrary && error?.message.contains("library-paths: [") == true, "\(String(describing: error))")
    // A path for one entry is not one for what another entry names.
    let other = await #expect(throws: HostError.self) { _ = try await firstLine(of: secret, read: named, allowing: "/opt/lib") }
    #expect(other?.code == .unsafeLibrary)
  }

  @Test("a plugin in Swift that names no folder of libraries comes up in a worker without LD_LIBRARY_PATH", .rule("worker.16"))
  func swift() async throws {
    let plugin = CommandRun.root.appending(path: "Plugins/token-auth/build/token-auth.so").path
    let run = try await CommandRun(["inspect", "--load", "--format", "json", plugin], environment: ["LD_LIBRARY_PATH": ""])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try JSONValue(parsing: run.output)["interceptors"]?[0]?["id"] == "org.carabiner.token-auth")
  }

  @Test(
    "a program that embeds a chain gets the problems of workers with line and column, as from check",
    .rule("worker.8", "worker-input.31"))
  func embedded() throws {
    guard (try? ControlGroup().check("cpu")) == nil else { return }
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
          - {name: p, file: \(CommandRun.root.path)/Plugins/noop/build/noop.so, isolation: {mode: worker, cpu: 50%}}
        chain: {http: [p]}
        """)
    let error = #expect(throws: ManifestError.self) { _ = try HostedChain(manifest) }
    let problem = try #require(error?.problems.first)
    #expect(problem.position.map { "\($0.line)" } == "3")
    #expect(problem.message.contains("cpu needs a delegated cgroup v2 with the cpu controller"), "\(problem.message)")
    #expect(problem.message.contains("or remove cpu"))
  }
}
