import CarabinerRESP
import TestTools
import Testing

@testable import CarabinerRedis

/// The commands of a login and what answers mean for it, without a connection.
@Suite("The login at Redis")
struct LoginTests {
  private func login(
    user: String? = "carabiner", password: String? = "s3cret", url: String = "redis://cache", channels: [String] = []
  ) throws -> Login {
    var settings = RedisSettings(urls: [try RedisURL(url)], node: "n1")
    (settings.user, settings.password) = (user, password)
    return Login(settings, settings.urls[0], channels: channels)
  }

  private func words(_ commands: CommandBatch) throws -> String {
    var reader = ReplyReader()
    reader.append(commands.bytes)
    var lines: [String] = []
    while let reply = try reader.next() { lines.append(reply.values.map { $0.string ?? "?" }.joined(separator: " ")) }
    return lines.joined(separator: "; ")
  }

  /// The words of the commands that an answer causes, or the other step.
  private func step(_ login: inout Login, _ answer: String) throws -> String {
    var reader = ReplyReader()
    reader.append(Array(answer.utf8))
    switch login.received(try #require(try reader.next())) {
    case .send(let commands, let isPing): return try words(commands) + (isPing ? "!" : "")
    case .wait: return "wait"
    case .opened: return "opened"
    case .failed(let error): return "\(error.code): \(error.message)"
    }
  }

  private static let hello = "%1\r\n$5\r\nproto\r\n:3\r\n"

  @Test("a connection begins with HELLO 3 and the login, and a PING must be answered", .rule("redis.3"))
  func resp3() throws {
    var login = try login()
    #expect(try words(login.greeting) == "HELLO 3 AUTH carabiner s3cret SETNAME carabiner-n1")
    #expect(try step(&login, Self.hello) == "PING!")
    #expect(try step(&login, "+PONG\r\n") == "opened")
    #expect(login.isRESP3)
  }

  @Test("without a user the default user logs in, and without a password there is no login", .rule("redis.3"))
  func withoutUser() throws {
    #expect(try words(login(user: nil).greeting) == "HELLO 3 AUTH default s3cret SETNAME carabiner-n1")
    #expect(try words(login(user: nil, password: nil).greeting) == "HELLO 3 SETNAME carabiner-n1")
  }

  @Test(
    "a server without HELLO or RESP3 gets AUTH, and RESP2 is used", .rule("redis.3"),
    arguments: [
      "-ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'carabiner' 's3cret' \r\n",
      "-ERR unknown command `HELLO`\r\n", "-NOPROTO unsupported protocol version\r\n",
    ])
  func resp2(refusal: String) throws {
    var named = try login(url: "redis://cache/2")
    #expect(try step(&named, refusal) == "AUTH carabiner s3cret")
    #expect(try step(&named, "+OK\r\n") == "CLIENT SETNAME carabiner-n1")
    #expect(try step(&named, "-ERR unknown subcommand\r\n") == "SELECT 2")
    #expect(try step(&named, "+OK\r\n") == "PING!")
    #expect(try step(&named, "+PONG\r\n") == "opened")
    #expect(!named.isRESP3)
    var unnamed = try login(user: nil)
    #expect(try step(&unnamed, refusal) == "AUTH s3cret")
    var open = try login(user: nil, password: nil)
    #expect(try step(&open, refusal) == "CLIENT SETNAME carabiner-n1")
  }

  @Test(
    "a refused login fails the connection, and the password is in no message", .rule("redis.3"),
    arguments: [
      ("-WRONGPASS invalid username-password pair or user is disabled.\r\n", "(WRONGPASS); check user and password"),
      ("-NOAUTH HELLO must be called with the client already authenticated\r\n", "(NOAUTH)"),
      ("-NOPERM this user has no permissions to run the 'hello' command\r\n", "(NOPERM)"),
      ("-ERR wrong number of arguments for 'hello' 's3cret'\r\n", "(ERR); check user and password"),
      ("-s3cret\r\n", "(an unknown error)"),
    ])
  func refused(answer: String, message: String) throws {
    var hello = try login()
    let first = try step(&hello, answer)
    #expect(first.hasPrefix("loginRefused: ") && first.contains(message) && !first.contains("s3cret"), "\(first)")
    var auth = try login()
    _ = try step(&auth, "-NOPROTO\r\n")
    let second = try step(&auth, answer)
    #expect(second.hasPrefix("loginRefused: ") && second.contains(message) && !second.contains("s3cret"), "\(second)")
  }

  @Test("without AUTH before, a PING that needs a login fails the connection", .rule("redis.3"))
  func pingNeedsLogin() throws {
    var login = try login(user: nil, password: nil)
    _ = try step(&login, "-ERR unknown command\r\n")
    _ = try step(&login, "+OK\r\n")
    #expect(try step(&login, "-NOAUTH Authentication required.\r\n").contains("set user and password"))
  }

  @Test(
    "a server that is not ready has not refused the login", .rule("redis.3"),
    arguments: ["-LOADING Redis is loading", "-ERR max number of clients reached", "-DENIED Redis is running in protected mode"])
  func notReady(answer: String) throws {
    var login = try login()
    #expect(try step(&login, answer + "\r\n").hasPrefix("serverRefused"))
  }

  @Test("a database that cannot be selected fails the connection", .rule("redis.3"))
  func database() throws {
    var login = try login(url: "redis://cache/99")
    #expect(try step(&login, Self.hello) == "SELECT 99")
    #expect(try step(&login, "-ERR DB index is out of range\r\n").contains("refused its database (ERR)"))
  }

  @Test("channels are confirmed before a connection is open", .rule("redis.3"), arguments: [true, false])
  func channels(isRESP3: Bool) throws {
    var login = try login(user: nil, password: nil, channels: ["a", "b"])
    if isRESP3 {
      _ = try step(&login, Self.hello)
    } else {
      _ = try step(&login, "-NOPROTO\r\n")
      _ = try step(&login, "+OK\r\n")
    }
    #expect(try step(&login, "+PONG\r\n") == "SUBSCRIBE a b")
    let type = isRESP3 ? ">" : "*"
    #expect(try step(&login, "\(type)3\r\n+subscribe\r\n+a\r\n:1\r\n") == "wait")
    #expect(try step(&login, "\(type)3\r\n+message\r\n+a\r\n+x\r\n") == "wait")
    #expect(try step(&login, "\(type)3\r\n+subscribe\r\n+b\r\n:2\r\n") == "opened")
  }

  @Test("a channel that the user may not use fails the connection", .rule("redis.3"))
  func channelRefused() throws {
    var login = try login(channels: ["a"])
    _ = try step(&login, Self.hello)
    _ = try step(&login, "+PONG\r\n")
    let step = try step(&login, "-NOPERM this user has no permissions to access one of the channels\r\n")
    #expect(step.hasPrefix("loginRefused: ") && step.contains("refused to subscribe (NOPERM)"))
  }

  @Test(
    "answers that no Redis gives to a login end the connection", .rule("redis.3"),
    arguments: [":1\r\n", "+OK\r\n", "$-1\r\n", "#t\r\n"])
  func violations(answer: String) throws {
    var login = try login()
    #expect(try step(&login, answer).hasPrefix("protocolViolation"))
  }
}
