import CarabinerEtcd
import CarabinerSources
import Foundation
import Testing

/// The sources that `-m` names.
struct ManifestAddressTests {
  @Test("a path is a file, also one with a colon")
  func file() throws {
    for path in ["chain.yaml", "/etc/carabiner/chain.yaml", "etcd:/chain.yaml", "https-chain.yaml", "a:b.yaml"] {
      #expect(try ManifestAddress(path) == .file(path))
      #expect(!ManifestAddress.isRemote(path))
    }
  }

  @Test("etcd:// and etcds:// name members and a prefix")
  func etcd() throws {
    let text = "etcds://a:2379,b:2379/fleet/prod"
    #expect(try ManifestAddress(text) == .etcd(EtcdAddress(text), text: text))
    #expect(try ManifestAddress(text).label == text)
    #expect(ManifestAddress.isRemote("etcd://a:1/p"))
  }

  @Test("the sidecar of a URL has the suffix behind the path, and messages leave the query out")
  func web() throws {
    guard case .web(let address) = try ManifestAddress("https://config.test/prod/chain.yaml?token=s3cret") else {
      Issue.record("this is not a URL")
      return
    }
    #expect(address.sidecar.absoluteString == "https://config.test/prod/chain.yaml.release?token=s3cret")
    #expect(address.label == "https://config.test/prod/chain.yaml")
  }

  @Test(
    "an address that cannot be used is refused, and the message says what to write",
    arguments: [
      ("etcd://a/p", "HOST:PORT"), ("etcd://a:1", "prefix"), ("etcd://u:p@a:1/p", "--source-user"),
      ("http://config.test/chain.yaml", "use https"), ("https://u:p@config.test/chain.yaml", "--source-user"),
      ("https://config.test/", "names no file"), ("https://config.test", "names no file"),
      ("https://config.test/chain.yaml#a", "fragment"), ("https:///chain.yaml", "not a URL"),
      ("https://config.test/a b", "not a URL"), ("https://config.test/" + String(repeating: "a", count: 3000), "not a URL"),
    ])
  func refused(text: String, reason: String) {
    let error = #expect(throws: SourceError.self) { try ManifestAddress(text) }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test("http is for this machine only")
  func loopback() throws {
    for host in ["localhost", "127.0.0.1", "[::1]"] { _ = try ManifestAddress("http://\(host):8080/chain.yaml") }
  }
}
