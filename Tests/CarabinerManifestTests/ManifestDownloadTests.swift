import Carabiner
import CarabinerManifest
import TestTools
import Testing

@Suite("Manifests: plugins with URLs")
struct ManifestDownloadTests {
  private static let digest = String(repeating: "ab", count: 32)

  private func manifest(_ url: String = "https://h/a.so", digest: String = digest, downloads: String = "[]") throws -> Manifest {
    try ManifestFixtures.manifest(
      """
      carabiner: 1
      plugins: [{name: a, url: '\(url)', sha256: \(digest)}]
      chain: {http: [a]}
      downloads: \(downloads)
      """)
  }

  @Test(
    "https to any host, and http to this machine", .rule("fleet.9"),
    arguments: [
      "https://h/a.so", "HTTPS://h:8443/a.so?v=1", "http://localhost/a.so", "http://127.0.0.1:80/a.so", "http://127.8.9.10/a.so",
      "http://[::1]:8080/a.so",
    ])
  func accepted(url: String) throws {
    #expect(try manifest(url).plugins[0].source == .url(url, pin: Self.digest))
  }

  @Test("the digest is the pin, in lower case", .rule("fleet.9"))
  func pin() throws {
    #expect(try manifest(digest: Self.digest.uppercased()).plugins[0].source == .url("https://h/a.so", pin: Self.digest))
  }

  @Test("the entry with the longest prefix of a URL counts", .rule("fleet.9"))
  func prefixes() throws {
    let manifest = try manifest(
      "https://h/x/a.so",
      downloads: "[{prefix: 'https://h/'}, {prefix: 'https://h/x/', headers: {k: v}}, {prefix: 'https://h/x/b'}]")
    #expect(manifest.download(for: "https://h/x/a.so")?.headers["k"] == "v")
    #expect(manifest.download(for: "https://h/a.so")?.prefix == "https://h/")
    #expect(manifest.download(for: "https://h.example.org/a.so") == nil)
    // The others have no effect.
    #expect(manifest.warnings.map { "\($0.pointer) \($0.code)" } == ["/downloads/0 unusedSetting", "/downloads/2 unusedSetting"])
  }

  @Test("a change of the URL, the digest or the headers is a difference", .rule("fleet.9"))
  func differences() throws {
    let other = String(repeating: "cd", count: 32)
    func lines(_ next: Manifest) throws -> [String] { ManifestDifference(from: try manifest(), to: next).lines }
    #expect(try lines(try manifest("https://h/b.so")) == ["~ plugin a: url https://h/a.so becomes https://h/b.so"])
    #expect(try lines(try manifest("https://h/a.so?sig=s3cret")) == ["~ plugin a: the query of url"])
    #expect(try lines(try manifest(digest: other)) == ["~ plugin a: sha256"])
    #expect(try lines(try manifest(downloads: "[{prefix: 'https://h/'}]")) == ["~ downloads"])
    let file = try ManifestFixtures.manifest("carabiner: 1\nplugins: [{name: a, file: present.plugin}]\nchain: {http: [a]}")
    #expect(try lines(file) == ["~ plugin a: its source"])
  }

  @Test("the file of certificate authorities is watched with the manifest", .rule("fleet.9"))
  func watched() throws {
    let folder = "\(ManifestFixtures.folder)/accepted"
    let named = try #require(Manifest.namedFiles(path: "\(folder)/everything.json"))
    #expect(named.contains("\(folder)/../files/present.plugin"))
  }
}
