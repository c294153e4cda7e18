internal import CarabinerRESP

/// The beginning of a connection, without input and output: answers in, commands out.
///
/// `HELLO 3` with the login and a name. A server that does not know it gets `AUTH`, and RESP2 is used. Then the database is selected, a
/// PING must be answered, and channels are subscribed. No other command is sent before all of that succeeded.
struct Login {
  enum Step {
    /// Send these commands and pass on the next answer. A PING has a time limit of its own.
    case send(CommandBatch, isPing: Bool)
    /// Pass on the next answer.
    case wait
    case opened
    case failed(RedisError)
  }

  private enum Phase {
    case hello, authentication, name, database, ping
    /// The number of channels that are not confirmed.
    case subscription(Int)
    case over
  }

  private let settings: RedisSettings
  private let server: RedisURL
  private let channels: [String]
  private var phase = Phase.hello
  /// Whether pushes have a type of their own. In RESP2 they are arrays.
  private(set) var isRESP3 = false

  init(_ settings: RedisSettings, _ server: RedisURL, channels: [String]) {
    (self.settings, self.server, self.channels) = (settings, server, channels)
  }

  // MARK: Commands

  /// The first command.
  var greeting: CommandBatch {
    var commands = CommandBatch()
    commands.begin("HELLO", arguments: settings.password == nil ? 3 : 6)
    commands.add("3")
    if let password = settings.password {
      commands.add("AUTH")
      commands.add(settings.user ?? "default")
      commands.add(password)
    }
    commands.add("SETNAME")
    commands.add(settings.connectionName)
    return commands
  }

  private mutating func authenticate() -> Step {
    guard let password = settings.password else { return setName() }
    phase = .authentication
    var commands = CommandBatch()
    commands.begin("AUTH", arguments: settings.user == nil ? 1 : 2)
    if let user = settings.user { commands.add(user) }
    commands.add(password)
    return .send(commands, isPing: false)
  }

  private mutating func setName() -> Step {
    phase = .name
    var commands = CommandBatch()
    commands.begin("CLIENT", arguments: 2)
    commands.add("SETNAME")
    commands.add(settings.connectionName)
    return .send(commands, isPing: false)
  }

  private mutating func selectDatabase() -> Step {
    // Without the command, because the least permissions do not include it.
    guard server.database != 0 else { return ping() }
    phase = .database
    var commands = CommandBatch()
    commands.begin("SELECT", arguments: 1)
    commands.add(server.database)
    return .send(commands, isPing: false)
  }

  private mutating func ping() -> Step {
    phase = .ping
    var commands = CommandBatch()
    commands.begin("PING", arguments: 0)
    return .send(commands, isPing: true)
  }

  private mutating func subscribe() -> Step {
    guard !channels.isEmpty else {
      phase = .over
      return .opened
    }
    phase = .subscription(channels.count)
    var commands = CommandBatch()
    commands.begin("SUBSCRIBE", arguments: channels.count)
    for channel in channels { commands.add(channel) }
    return .send(commands, isPing: false)
  }

  // MARK: Answers

  mutating func received(_ reply: Reply) -> Step {
    switch phase {
    case .hello: receivedHello(reply)
    case .authentication: reply.kind == .error ? refused(reply) : setName()
    // Servers before Redis 2.6.9 and some proxies have no names.
    case .name: selectDatabase()
    case .database: reply.kind == .error ? refusedDatabase(reply) : ping()
    case .ping: receivedPong(reply)
    case .subscription(let missing): receivedConfirmation(reply, missing)
    case .over: .failed(violation)
    }
  }

  private mutating func receivedHello(_ reply: Reply) -> Step {
    switch reply.kind {
    case .map:
      isRESP3 = true
      return selectDatabase()
    // A server that knows the command and answers in RESP2 all the same.
    case .array: return selectDatabase()
    case .error:
      let isUnknown = reply.errorText?.lowercased().hasPrefix("err unknown command") == true
      return isUnknown || reply.errorCode == "NOPROTO" ? authenticate() : refused(reply)
    case .push: return .wait
    default: return .failed(violation)
    }
  }

  private mutating func receivedPong(_ reply: Reply) -> Step {
    switch reply.kind {
    case .status, .text: subscribe()
    case .error: refused(reply)
    case .push: .wait
    default: .failed(violation)
    }
  }

  private mutating func receivedConfirmation(_ reply: Reply, _ missing: Int) -> Step {
    guard reply.kind != .error else {
      return .failed(
        RedisError(
          .loginRefused,
          "\(server) refused to subscribe (\(Self.code(of: reply))); give the user the commands and channels of the documented ACL"
        ))
    }
    guard reply.kind == (isRESP3 ? .push : .array), reply.values.first(where: { _ in true })?.string == "subscribe" else {
      // A message of a channel that is confirmed already.
      return reply.kind == .push || reply.kind == .array ? .wait : .failed(violation)
    }
    guard missing == 1 else {
      phase = .subscription(missing - 1)
      return .wait
    }
    phase = .over
    return .opened
  }

  // MARK: Failures

  private func refused(_ reply: Reply) -> Step {
    let code = Self.code(of: reply)
    switch code {
    case "LOADING", "BUSY", "MASTERDOWN", "DENIED", "CLUSTERDOWN", "OOM":
      return .failed(RedisError(.serverRefused, "\(server) refused the connection (\(code)); check its log"))
    case "NOAUTH":
      return .failed(
        RedisError(
          .loginRefused,
          settings.password == nil
            ? "\(server) needs a login (NOAUTH); set user and password"
            : "\(server) did not accept the login (NOAUTH); check user and password"))
    case "NOPERM":
      return .failed(
        RedisError(
          .loginRefused, "\(server) refused a command of the login (NOPERM); give the user the commands of the documented ACL"))
    default:
      if reply.errorText?.hasPrefix("ERR max number of clients") == true {
        return .failed(RedisError(.serverRefused, "\(server) has too many clients; raise its maxclients"))
      }
      return .failed(RedisError(.loginRefused, "\(server) refused the login (\(code)); check user and password"))
    }
  }

  private func refusedDatabase(_ reply: Reply) -> Step {
    .failed(
      RedisError(
        .serverRefused, "\(server) refused its database (\(Self.code(of: reply))); check the number, and that the user may SELECT"
      ))
  }

  /// The code of an error. Its text is left out, because Redis repeats arguments in it, and so the password.
  private static func code(of reply: Reply) -> String {
    let code = reply.errorCode ?? ""
    return !code.isEmpty && code.count <= 20 && code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) ? code : "an unknown error"
  }

  private var violation: RedisError {
    RedisError(.protocolViolation, "\(server) answered the login in another way than Redis; check the URL")
  }
}
