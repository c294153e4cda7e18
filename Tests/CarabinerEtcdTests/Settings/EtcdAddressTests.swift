import CarabinerEtcd
import Foundation
import Testing

@Suite("Addresses and settings of etcd")
struct EtcdAddressTests {
  @Test("an address names the members, TLS and the prefix")
  func addresses() throws {
    let plain = try EtcdAddress("etcd://a:2379,[::1]:2380/carabiner/shop")
    #expect(plain.members.map(\.absoluteString) == ["http://a:2379", "http://[::1]:2380"])
    #expect(plain.prefix == "carabiner/shop")
    let secure = try EtcdAddress("etcds://etcd-1.internal:2379/shop/")
    #expect(secure.members.map(\.absoluteString) == ["https://etcd-1.internal:2379"] && secure.prefix == "shop")
  }

  @Test(
    "other addresses are refused, with the form to write",
    arguments: [
      "http://a:2379/p", "etcd://", "etcd:///p", "etcd://a:2379", "etcd://a:2379/", "etcd://a/p", "etcd://a:0/p",
      "etcd://a:99999/p",
      "etcd://a:1,,b:1/p", "etcd://a:1,a:1/p", "etcd://u:p@a:1/p", "etcd://a:1?x/p", "etcd://a:1/p q", "etcd://a:1/\u{e9}",
      "etcd://" + (1...17).map { "h\($0):1" }.joined(separator: ",") + "/p", "etcd://a:1/" + String(repeating: "p", count: 513),
    ])
  func refused(text: String) {
    let error = #expect(throws: EtcdError.self) { try EtcdAddress(text) }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message.contains(";") == true)
  }

  @Test("settings that contradict each other are refused")
  func settings() throws {
    let changes: [(inout EtcdSettings) -> Void] = [
      { $0.members = [] }, { $0.members = Array(repeating: $0.members[0], count: 17) },
      { $0.members = [URL(filePath: "/x")] }, { $0.login = .init(user: "", password: "x") },
      { $0.login = .init(user: "x", password: "") }, { $0.certificateFile = "/x" }, { $0.keyFile = "/x" },
      { $0.authorityFile = "/x" },
    ]
    for change in changes {
      let error = #expect(throws: EtcdError.self) { try EtcdTest.client("http://a:1", change: change) }
      #expect(error?.code == .invalidSettings)
    }
  }
}
