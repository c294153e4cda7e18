internal import CarabinerRESP
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// A connection, which is opened and closed once. All commands are sent at once, and answers come in their order.
final class RedisConnection: @unchecked Sendable {
  // Only the event loop uses the properties.

  /// The events of a connection.
  enum Event {
    /// Login, PING and subscription succeeded.
    case opened
    /// A message that answers no command.
    case push(Reply)
    /// The connection could not be opened, or has ended. It is the last event.
    case over(RedisError)
  }

  /// Commands whose answers have not all come.
  ///
  /// A class, because a change of an element in a buffer copies all answers that it has.
  private final class Pending {
    let call: Call
    let commands: Int
    let bytes: Int
    let deadline: NIODeadline
    var replies: [Reply] = []
    var received = 0

    init(_ call: Call, _ commands: CommandBatch, until deadline: NIODeadline) {
      (self.call, self.commands, self.bytes, self.deadline) = (call, commands.count, commands.bytes.count, deadline)
      replies.reserveCapacity(commands.count)
    }
  }

  let server: RedisURL
  private let opening: RedisOpening
  private let loop: any EventLoop
  private let admission: Admission
  private let isSubscriber: Bool
  private let observer: (RedisConnection, Event) -> Void
  private var login: Login
  private var channel: (any Channel)?
  private var timeout: Scheduled<Void>?
  private var heartbeat: RepeatedTask?
  private var awaitsPong = false
  private var isOpen = false
  private var pending = CircularBuffer<Pending>()
  /// The last code for ``wasUnfit`` among the answers of the first call.
  private var unfitCode: String?
  private var isFlushing = false
  private let closing: EventLoopPromise<Void>
  /// Whether the connection has ended, and further input is ignored.
  private(set) var isOver = false

  init(
    _ opening: RedisOpening, _ server: RedisURL, channels: [String], _ loop: any EventLoop, _ admission: Admission,
    _ observer: @escaping (RedisConnection, Event) -> Void
  ) {
    (self.opening, self.server, self.loop, self.admission, self.observer) = (opening, server, loop, admission, observer)
    isSubscriber = !channels.isEmpty
    login = Login(opening.settings, server, channels: channels)
    closing = loop.makePromise()
  }

  /// Fulfilled when the channel is closed.
  var closed: EventLoopFuture<Void> { closing.futureResult }

  // MARK: Opening

  func open() {
    let limits = opening.settings.limits
    limit(limits.openingTime, "\(server) did not accept the login within \(limits.openingTime); check that it is running")
    ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(limits.openingTime))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls = try self.opening.tlsHandler(self.server) { try pipeline.addHandler(tls) }
          try pipeline.addHandler(ReplyHandler(self, limits.reply))
        }
      }
      .connect(host: server.host, port: server.port)
      .whenComplete { self.connected($0) }
  }

  private func connected(_ result: Result<any Channel, any Error>) {
    switch result {
    case .success(let channel):
      self.channel = channel
      channel.closeFuture.whenComplete { _ in self.closing.succeed() }
      if isOver { return channel.close(promise: nil) }
      // Over TLS, nothing is written before the certificate was verified.
      if !server.usesTLS { write(login.greeting) }
    case .failure(let error):
      fail(error, certificate: nil)
      closing.succeed()
    }
  }

  /// The TLS handshake is complete.
  func secured() {
    guard !isOver, !isOpen else { return }
    guard channel != nil else { return loop.execute { self.secured() } }
    write(login.greeting)
  }

  private func limit(_ time: Duration, _ message: String) {
    timeout?.cancel()
    timeout = loop.scheduleTask(in: TimeAmount(time)) { self.fail(RedisError(.cannotConnect, message)) }
  }

  private func perform(_ step: Login.Step) {
    switch step {
    case .wait: break
    case .failed(let error): fail(error)
    case .send(let commands, let isPing):
      let time = opening.settings.limits.pingTime
      if isPing { limit(time, "\(server) did not answer a PING within \(time); check its load") }
      write(commands)
    case .opened:
      timeout?.cancel()
      isOpen = true
      if isSubscriber { beginHeartbeat() }
      observer(self, .opened)
    }
  }

  // MARK: Commands

  /// Sends commands. Their place in the admission is released when all answers came, or when the connection ends.
  func send(_ commands: CommandBatch, for call: Call, until deadline: NIODeadline) {
    guard isOpen, !isOver else {
      admission.release(commands: commands.count, bytes: commands.bytes.count)
      call.finish(.failure(RedisError(.unavailable, "there is no connection to Redis; the log says why")))
      return
    }
    pending.append(Pending(call, commands, until: deadline))
    write(commands)
  }

  /// The calls that wait and whose deadline has passed, and the next deadline of the others.
  func deadlines(at now: NIODeadline) -> (passed: [Call], next: NIODeadline?) {
    var (passed, next): ([Call], NIODeadline?) = ([], nil)
    for waiting in pending where !waiting.call.isOver {
      if waiting.deadline <= now { passed.append(waiting.call) } else { next = min(next ?? waiting.deadline, waiting.deadline) }
    }
    return (passed, next)
  }

  private func write(_ commands: CommandBatch) {
    guard let channel else { return }
    channel.write(channel.allocator.buffer(bytes: commands.bytes), promise: nil)
    guard !isFlushing else { return }
    isFlushing = true
    // Once for all calls of this round of the loop.
    loop.execute {
      self.isFlushing = false
      self.channel?.flush()
    }
  }

  private func beginHeartbeat() {
    let interval = TimeAmount(opening.settings.limits.heartbeat)
    heartbeat = loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
      guard !self.awaitsPong else {
        return self.fail(RedisError(.connectionLost, "\(self.server) answers no PING; check that it is running"))
      }
      self.awaitsPong = true
      var ping = CommandBatch()
      ping.begin("PING", arguments: 0)
      self.write(ping)
    }
  }

  // MARK: Answers

  func received(_ reply: Reply) {
    guard !isOver else { return }
    guard isOpen else { return perform(login.received(reply)) }
    if isSubscriber { return receivedBySubscriber(reply) }
    if reply.kind == .push { return observer(self, .push(reply)) }
    guard let first = pending.first else {
      return fail(
        RedisError(.protocolViolation, "\(server) sent more answers than it got commands; check what is between both sides"))
    }
    first.received += 1
    if let code = reply.unfitCode { unfitCode = code }
    // The answers of a call that has ended are dropped.
    if !first.call.isOver { first.replies.append(reply) } else { first.replies = [] }
    guard first.received == first.commands else { return }
    let done = pending.removeFirst()
    admission.release(commands: done.commands, bytes: done.bytes)
    if done.replies.count == done.commands, done.call.finish(.success(done.replies)) { answeredInTime() }
    if let code = unfitCode {
      unfitCode = nil
      wasUnfit(code)
    }
  }

  private func receivedBySubscriber(_ reply: Reply) {
    let isPong =
      reply.kind == .status || !login.isRESP3 && reply.kind == .array && reply.values.first { _ in true }?.string == "pong"
    if isPong {
      awaitsPong = false
    } else if reply.kind == .push || !login.isRESP3 && reply.kind == .array {
      observer(self, .push(reply))
    } else {
      fail(
        RedisError(.protocolViolation, "\(server) sent something else than messages of channels; let the user PING"))
    }
  }

  /// Called when a call got its answers before its budget was used up.
  var answeredInTime: () -> Void = {}

  /// Called with the code of an error that shows that the server may have been replaced, after the call has its answers.
  var wasUnfit: (String) -> Void = { _ in }

  // MARK: Ending

  func fail(_ error: any Error, certificate: NIOSSLCertificate?) {
    fail(opening.failure(of: error, server, certificate: certificate))
  }

  /// Ends the connection and all calls that wait for it.
  func fail(_ error: RedisError) {
    guard !isOver else { return }
    isOver = true
    timeout?.cancel()
    heartbeat?.cancel()
    // No further call is taken before the waiting ones end.
    if isOpen { admission.setOpen(false) }
    observer(self, .over(error))
    // They were sent, so the server may run them yet.
    let lost = RedisError(.connectionLost, error.message)
    while let call = pending.popFirst() {
      admission.release(commands: call.commands, bytes: call.bytes)
      call.call.finish(.failure(lost))
    }
    if let channel { channel.close(mode: .all, promise: nil) }
  }
}
