import CarabinerManifest
import TestTools
import Testing

@Suite("CARABINER_ISOLATE puts plugins into workers")
struct IsolationOverrideTests {
  private let manifest: Manifest

  init() throws {
    manifest = try ManifestFixtures.manifest(
      """
      carabiner: 1
      plugins:
        - {name: token-auth, file: present.plugin}
        - {name: token-log, file: secret.txt}
        - {name: hmac, file: schema.graphql, isolation: {mode: worker, group: token-log, memory: 64MiB}}
        - name: token-crc
          ffi: {library: libz.so.1, function: crc32, returns: u64, header: X-CRC, arguments: []}
      chain: {http: [token-auth, token-log, hmac, token-crc]}
      """)
  }

  private func groups(_ patterns: String?) -> [String: String] {
    manifest.workerGroups(IsolationOverrides(environment: patterns.map { ["CARABINER_ISOLATE": $0] } ?? [:]))
  }

  @Test("a pattern isolates the entries that match, and ~all~ every entry with a file", .rule("worker.5"))
  func patterns() {
    let always = ["hmac": "token-log"]
    #expect(groups(nil) == always)
    #expect(groups(" , ") == always)
    #expect(groups("token-auth") == always.merging(["token-auth": "token-auth"]) { $1 })
    let all = always.merging(["token-auth": "token-auth", "token-log": "token-log"]) { $1 }
    for patterns in ["token-*", "token-l?g, token-auth", "~all~", "other,~all~"] {
      #expect(groups(patterns) == all, "\(patterns)")
    }
  }

  @Test("an entry that joins a group of the manifest has the settings of the group, any other the defaults", .rule("worker.5"))
  func settings() throws {
    let overrides = IsolationOverrides("~all~")
    func isolation(_ name: String) throws -> Isolation {
      manifest.isolation(of: try #require(manifest.plugin(named: name)), overrides)
    }
    #expect(try isolation("token-auth") == .worker(WorkerSettings(group: "token-auth")))
    #expect(try isolation("token-log") == isolation("hmac"))
    #expect(try isolation("hmac").worker?.memoryBytes == 64 << 20)
    #expect(try isolation("token-crc") == .inProcess)
  }

  @Test("a pattern that matches no plugin with a file is a warning", .rule("worker.5"))
  func idle() {
    let messages = manifest.warnings(about: IsolationOverrides("token-aut,~all~,token-crc,t*")).map(\.message)
    #expect(
      messages == [
        "CARABINER_ISOLATE=token-aut fits no plugin with a file (did you mean token-auth?) and isolates nothing",
        "CARABINER_ISOLATE=token-crc fits no plugin with a file (did you mean token-log?) and isolates nothing",
      ])
  }
}
