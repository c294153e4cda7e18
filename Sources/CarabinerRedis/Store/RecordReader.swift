internal import Carabiner
internal import CarabinerRESP

/// Reads fields of records in one round.
struct RecordReader {
  /// The fields that are asked for.
  struct Question {
    let key: String
    let fields: [String]
  }

  /// The fields of a record that exist, and the names of those that do not. A malformed field is neither.
  struct Answer {
    var table: FieldTable
    var absent: [String] = []
  }

  let client: RedisClient
  let layout: StoreLayout
  let counters: StoreCounters
  /// The time of Redis minus the local time, in milliseconds.
  let offset: Int64
  let localTime: Int64

  /// The answers, in the order of the questions. All are of one moment, unless the store is spread over a cluster.
  ///
  /// - Throws: ``RedisError``.
  func answers(to questions: [Question], within budget: Duration) async throws(RedisError) -> [Answer] {
    if let cluster = client.cluster, layout.isSpread { return try await answers(to: questions, of: cluster, within: budget) }
    let commands = commands(for: questions)
    guard commands.count > 0 else { return questions.map { _ in Answer(table: FieldTable()) } }
    let replies =
      try await commands.count == 1 ? client.send(commands, within: budget) : client.transaction(commands, within: budget)
    return answers(replies[...], to: questions)
  }

  /// The answers of the nodes of a cluster. If one of them cannot answer, only its records are unknown.
  private func answers(
    to questions: [Question], of cluster: RedisCluster, within budget: Duration
  ) async throws(RedisError) -> [Answer] {
    let parts = zip(questions.flatMap(keys), commands(for: questions).commands)
      .map { SlotCommands(slot: HashSlot(key: $0), commands: $1) }
    guard !parts.isEmpty else { return questions.map { _ in Answer(table: FieldTable()) } }
    let results = await cluster.send(parts, within: budget)
    var (replies, failures): ([Reply], [RedisError]) = ([], [])
    for result in results {
      do throws(RedisError) {
        replies += try result.get()
      } catch {
        replies.append(Reply(error: "CLUSTERDOWN \(error.message)"))
        failures.append(error)
      }
    }
    if let failure = failures.first(where: { $0.code == .cancelled }) { throw failure }
    if let failure = failures.first, failures.count == results.count { throw failure }
    if failures.contains(where: { $0.code == .budgetExhausted }) { counters.countExhausted() }
    return answers(replies[...], to: questions)
  }

  /// The keys of Redis of what is asked for, one for each command.
  func keys(_ question: Question) -> [String] {
    guard !StoreLayout.isRoot(question.key) else { return question.fields.map { layout.rootFieldKey(question.key, $0) } }
    return question.fields.isEmpty ? [] : [layout.recordKey(question.key)]
  }

  /// The commands that read what is asked for.
  func commands(for questions: [Question]) -> CommandBatch {
    var commands = CommandBatch(capacity: questions.count * 128)
    for question in questions { add(question, to: &commands) }
    return commands
  }

  /// The answers from those of the commands.
  func answers(_ replies: ArraySlice<Reply>, to questions: [Question]) -> [Answer] {
    var next = replies.startIndex
    return questions.map { question in
      guard StoreLayout.isRoot(question.key) else {
        guard !question.fields.isEmpty else { return Answer(table: FieldTable()) }
        next += 1
        return answer(question.fields, replies[next - 1].values)
      }
      next += question.fields.count
      return answer(question.fields, replies[next - question.fields.count..<next])
    }
  }

  private func add(_ question: Question, to commands: inout CommandBatch) {
    if StoreLayout.isRoot(question.key) {
      for field in question.fields {
        commands.begin("GET", arguments: 1)
        commands.add(layout.rootFieldKey(question.key, field))
      }
    } else if !question.fields.isEmpty {
      commands.begin("HMGET", arguments: 1 + question.fields.count)
      commands.add(layout.recordKey(question.key))
      for field in question.fields { commands.add(StoreLayout.short(field)) }
    }
  }

  /// The answer from the values of the fields, in their order.
  func answer(_ fields: [String], _ values: some Sequence<Reply>) -> Answer {
    var (names, places, buffer, absent): ([String], [FieldTable.Place], [UInt8], [String]) = ([], [], [], [])
    names.reserveCapacity(fields.count)
    places.reserveCapacity(fields.count)
    var number = 0
    for value in values where number < fields.count {
      let field = fields[number]
      number += 1
      if value.isNull { absent.append(field) }
      guard let stored = parse(value) else { continue }
      let start = buffer.count
      buffer.append(contentsOf: stored.value)
      names.append(field)
      places.append((start..<buffer.count, stored.received - offset))
    }
    return Answer(table: FieldTable(names: names, places: places, buffer: buffer), absent: absent)
  }

  private func parse(_ value: Reply) -> (value: ArraySlice<UInt8>, received: Int64)? {
    guard !value.isNull else { return nil }
    guard value.kind == .text, let content = value.content, let stored = StoredValue.parse(content, now: localTime + offset)
    else {
      if !value.isUnavailable { counters.countMalformed() }
      return nil
    }
    return stored
  }
}
