internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let bufferReferences = Check(
    "ME05", level: 3, "releases every buffer once",
    page: Page(
      rule: """
        The plugin gives up each reference once: with buf_release(), or by passing it to emit() or field_set(), which take it even
        if they fail. When the instance is destroyed, no buffer of its calls is left, nor of the entries of a cache that newer ones
        have replaced.
        """,
      reason: """
        A buffer that is never released counts against the plugin's quota until buf_alloc() answers 0. A second release takes a
        reference that belongs to other code.
        """,
      example: """
        if (host->emit(call, CRB_EMIT_RESULT, buffer, 0) != CRB_OK) { host->buf_release(buffer); return CRB_FAIL; }     /* twice */
        """,
      remedy: "if (host->emit(call, CRB_EMIT_RESULT, buffer, 0) != CRB_OK) return CRB_FAIL;"),
    .interceptor { trial in
      func left() -> Int { trial.testHost.state.withLock { $0.buffers.count } }
      func round() throws -> Int {
        try trial.exercise(Exchange.usual + probes)
        // A thread of the plugin may release its buffers a little later.
        _ = trial.testHost.resumed.wait(.milliseconds(200)) { left() == 0 }
        return left()
      }
      // The first round may make buffers that the library keeps for all instances.
      let first = try round()
      let more = try (0..<3).map { _ in try round() }.last ?? first
      trial.notes.expect(
        more <= first,
        "\(more - first) buffers are left after three instances with \(Exchange.usual.count + probes.count) calls each",
        at: trial.interceptor.id)
      let before = left()
      try replaceEntries(trial)
      _ = trial.testHost.resumed.wait(.milliseconds(200)) { left() <= before }
      trial.notes.expect(
        left() <= before, "\(left() - before) buffers are left after an instance whose entries were replaced by newer ones",
        at: trial.interceptor.id)
      let used = trial.testHost.state.withLock { $0.buffers.made }
      if used == 0 { throw TrialNotes.Skip("it uses no buffers") }
    })
}

extension Check {
  /// Operations that plugins answer themselves: of load balancers, of tools, and of clients with persisted documents.
  private static let probes = [
    "{ __typename }", "{__typename}", "query Health { __typename }", "query { _service { sdl } }",
    "query IntrospectionQuery { __schema { queryType { name } } }",
  ].map { document in
    Exchange("the operation \(document.debugDescription)") {
      $0.operation.name = nil
      $0.operation.document = document
      $0.operation.variables = nil
    }
  }

  /// Sends two equal calls, the second one inside of the first. Both miss the cache, so the entry is written twice.
  private static func replaceEntries(_ trial: InterceptorTrial) throws {
    guard let stage = trial.stages.first(where: { $0.kind == .cache }) else { return }
    let instance = try trial.instance()
    defer { instance.destroy() }
    for exchange in Exchange.usual {
      let isInside = Atomic(false)
      var settings = ExchangeRunner.Settings()
      settings.aroundHooks = { isBefore, hook in
        guard !isBefore, hook == .onRead, !isInside.exchange(true, ordering: .relaxed) else { return }
        // The inner call may wait for the outer one. It is cancelled then, because it would never end.
        var inner = ExchangeRunner.Settings()
        inner.schedule = Schedule(beforeReturn: [], afterReturn: [.cancel])
        _ = trial.travel([exchange], stage, instance, inner)
      }
      _ = trial.travel([exchange], stage, instance, settings)
    }
  }

  static let adoptedBytes = Check(
    "ME06", level: 5, "does not change adopted bytes before their drop callback",
    page: Page(
      rule: """
        Bytes given to buf_adopt() stay unchanged until drop(user) runs. The host may call drop(user) on any thread, and after the
        call and the instance are gone.
        """,
      reason: """
        The host sends the bytes when the network accepts them, and keeps them while a reader of the result needs them. At that
        time the call's state and the instance may already be freed.
        """,
      example: "host->buf_adopt(self, state->text, state->length, nothing, NULL);       /* release() frees the state */",
      remedy:
        "host->buf_adopt(self, text, length, free, text);                        /* the bytes live until they are dropped */"),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.buffers.keepsAdopted = true }
      // Freed memory is overwritten at once.
      CTestHost_overwriteFreed(0x5A)
      try trial.exercise(Exchange.usual + Exchange.varied(trial.words))
      try answerFromCache(trial)
      let kept = trial.testHost.state.withLock { state in
        defer { state.buffers.kept = [] }
        return state.buffers.kept
      }
      guard !kept.isEmpty else { throw TrialNotes.Skip("it passes no bytes of its own to the host") }
      let changed = kept.count { !$0.isUnchanged }
      trial.notes.expect(
        changed == 0, "\(changed) of \(kept.count) adopted pieces were changed or freed before their drop callback",
        at: trial.interceptor.id)
      FlightRecord.note("dropping adopted bytes late, on another thread", inHook: false)
      trial.testHost.enter("\(trial.interceptor.id) the drop function of buf_adopt")
      TestHostThread { for release in kept { release.perform() } }.join()
      trial.testHost.leave()
    })
}

extension Check {
  /// Reads each entry back just after it was stored, for so many entries that a cache evicts the first ones.
  private static func answerFromCache(_ trial: InterceptorTrial) throws {
    guard let stage = trial.stages.first(where: { $0.kind == .cache }) else { return }
    let instance = try trial.instance()
    defer { instance.destroy() }
    for number in 0..<trial.options.times(300, atLeast: 100) {
      let exchange = Exchange("the entry \(number)") {
        $0.operation.variables = #"{"first":\#(number)}"#
        $0.results = [ResultSample(data: #"{"books":[{"id":"\#(number)"}]}"#)]
      }
      _ = trial.writeAndRead(exchange, stage, instance)
    }
  }
}

extension Check {
  static let ownFrees = Check(
    "ME10", level: 3, "frees only its own memory",
    page: Page(
      rule: """
        The plugin never passes memory of the host, such as the bytes of buf_alloc() and scratch(), to free() or operator delete.
        """,
      reason: """
        The host has its own allocator and frees the memory itself. A free() of the plugin makes that a double free.
        """,
      example: "char *copy = host->scratch(call, n, 1); … free(copy);",
      remedy: "Do nothing for scratch memory: it ends with the call. Release a buffer with buf_release()."),
    .interceptor { trial in
      let code = unsafe trial.stages.first?.code
      guard let code = unsafe code, unsafe CTestHost_watchFrees(code, LoadingTrial.isForeign) > 0 else {
        throw TrialNotes.Skip("it imports neither free() nor operator delete")
      }
      try trial.exercise()
    })
}
