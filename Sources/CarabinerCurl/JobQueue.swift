/// First in, first out, without moving what remains.
struct JobQueue {
  private var jobs: [UnownedJob] = []
  private var head = 0

  var isEmpty: Bool { head == jobs.count }

  mutating func append(_ job: UnownedJob) { jobs.append(job) }

  mutating func append(contentsOf more: [UnownedJob]) { jobs.append(contentsOf: more) }

  mutating func popFirst() -> UnownedJob? {
    guard head < jobs.count else { return nil }
    let job = jobs[head]
    head += 1
    if head == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      head = 0
    }
    return job
  }
}
