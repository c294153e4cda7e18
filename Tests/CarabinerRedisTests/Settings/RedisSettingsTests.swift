import CarabinerRESP
import Foundation
import TestTools
import Testing

@testable import CarabinerRedis

/// URLs and settings, and what is refused.
@Suite("Settings of a connection to Redis")
struct RedisSettingsTests {
  @Test(
    "a URL has scheme, host, port and database", .rule("redis.1"),
    arguments: [
      ("redis://localhost", "redis://localhost:6379"), ("rediss://cache.internal:6380/3", "rediss://cache.internal:6380/3"),
      ("REDIS://127.0.0.1:1/0", "redis://127.0.0.1:1"), ("redis://[::1]", "redis://[::1]:6379"),
      ("rediss://[2001:db8::1]:65535/15", "rediss://[2001:db8::1]:65535/15"), ("redis://localhost/", "redis://localhost:6379"),
    ])
  func urls(text: String, description: String) throws {
    let url = try RedisURL(text)
    #expect(url.description == description)
    #expect(url.usesTLS == text.lowercased().hasPrefix("rediss"))
    #expect(try RedisURL(description) == url)
  }

  @Test(
    "a malformed URL is refused with what to write", .rule("redis.1"),
    arguments: [
      ("http://localhost", "redis:// or rediss://"), ("localhost:6379", "redis:// or rediss://"), ("", "redis:// or rediss://"),
      ("redis://", "no valid host"), ("redis://:6379", "no valid host"), ("redis://::1", "no valid host"),
      ("redis://[::1", "IPv6"), ("redis://[::1]x", "IPv6"), ("redis://[host]", "IPv6"), ("redis://localhost:", "port"),
      ("redis://localhost:0", "port"), ("redis://localhost:65536", "port"), ("redis://localhost:x", "port"),
      ("redis://localhost:99999999999999999999", "port"), ("redis://localhost/x", "database"),
      ("redis://localhost/-1", "database"),
      ("redis://localhost/0/1", "database"), ("redis://localhost/99999999999", "database"),
      ("redis://localhost?db=1", "more than host"),
      ("redis://local host", "more than host"), ("redis://localhost#1", "more than host"),
      ("redis://lo\u{0}st", "more than host"),
    ])
  func malformed(text: String, message: String) {
    let error = #expect(throws: RedisError.self) { try RedisURL(text) }
    #expect(error?.code == .invalidSettings && error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test(
    "a password in a URL is refused with the advice to use the key, and is not repeated", .rule("redis.1"),
    arguments: [
      "redis://:secret@localhost", "rediss://user:secret@localhost:6379/0", "redis://secret@[::1]", "redis://a@b:secret@c",
    ])
  func passwords(text: String) {
    let error = #expect(throws: RedisError.self) { try RedisURL(text) }
    #expect(error?.message.contains("use the keys user and password") == true)
    #expect("\(String(describing: error))".contains("secret") == false)
  }

  private func refusal(_ change: (inout RedisSettings) throws -> Void) throws -> String? {
    var settings = RedisSettings(urls: [try RedisURL("rediss://localhost")], node: "a")
    try change(&settings)
    return #expect(throws: RedisError.self) { try RedisClient(settings) }?.message
  }

  @Test("settings that contradict each other are refused before anything connects", .rule("redis.1", "redis.4"))
  func contradictions() throws {
    let url = try RedisURL("redis://localhost")
    #expect(try refusal { $0.urls = [] }?.contains("set 1 to 16") == true)
    #expect(try refusal { $0.urls = Array(repeating: url, count: 17) }?.contains("set 1 to 16") == true)
    #expect(try refusal { $0.connections = 0 }?.contains("set 1 to 8") == true)
    #expect(try refusal { $0.connections = 9 }?.contains("set 1 to 8") == true)
    #expect(try refusal { $0.user = "a" }?.contains("set password") == true)
    #expect(try refusal { $0.password = "" }?.contains("is empty") == true)
    #expect(try refusal { $0.certificateFile = "a" }?.contains("certificate and key belong together") == true)
    #expect(
      try refusal {
        $0.urls = [url]
        $0.authorityFile = "a"
      }?.contains("rediss://") == true)
    #expect(try refusal { $0.authorityFile = "/no/such/file" }?.contains("ca-file /no/such/file cannot be read") == true)
    #expect(
      try refusal { ($0.certificateFile, $0.keyFile) = ("/no/such/file", "b") }?.contains("certificate /no/such/file") == true)
  }

  @Test("a cluster with a database, or with and without TLS, is refused", .rule("redis.1"))
  func clusters() throws {
    let (plain, database) = (try RedisURL("redis://localhost"), try RedisURL("rediss://localhost/1"))
    #expect(try refusal { ($0.isCluster, $0.urls) = (true, [database]) }?.contains("a cluster has database 0 only") == true)
    #expect(
      try refusal {
        $0.isCluster = true
        $0.urls.append(plain)
      }?.contains("write the same one in all") == true)
  }

  @Test("the name of a connection has visible ASCII only, and is short", .rule("redis.3"))
  func names() throws {
    func name(_ node: String) throws -> String { RedisSettings(urls: [try RedisURL("redis://a")], node: node).connectionName }
    #expect(try name("node-1.example") == "carabiner-node-1.example")
    #expect(try name("ä b\nc") == "carabiner---b-c")
    #expect(try name(String(repeating: "x", count: 1000)).count == 110)
  }
}
