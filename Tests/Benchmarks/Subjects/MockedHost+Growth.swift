internal import CarabinerManifest
internal import CarabinerProvider

/// Hosts with one plugin stage, in which one quantity has grown that should not affect requests.
extension MockedHost {
  /// A host that has loaded `count` libraries.
  package init(loaded count: Int, plugins: String) throws {
    let copies = try PluginCopies(of: "\(plugins)/noop.so")
    let files = try (0..<count).map { _ in try copies.next() }
    try self.init(HostedChain(Manifest(text: Samples.manifest(plugins: files, staged: 1))))
  }

  /// A host whose manifest has `count` rules. None of them applies to the operation.
  package init(rules count: Int, plugins: String) throws {
    try self.init(HostedChain(Manifest(text: Samples.rules(count, plugins: ["\(plugins)/noop.so"]))))
  }

  /// The newest generation of a host that has made and dropped `count` generations. The code of all of them stays mapped.
  package init(retired count: Int, _ copies: PluginCopies) async throws {
    for _ in 0..<count { try await MockedHost(newest: copies).run(1) }
    try self.init(newest: copies)
  }

  private init(newest copies: PluginCopies) throws {
    try self.init(HostedChain(Manifest(text: Samples.manifest(plugins: [copies.next()]))))
  }
}
