internal import CLaboratory
internal import CarabinerHost

extension Check {
  static let th07 = Check(
    "TH07", level: 6, "keeps its own threads in order",
    page: Page(
      rule: #"""
        Threads a plugin starts have a name, block the signals of the process, are at most 16, and are gone when destroy() has returned. Anything else is a warning.

        The threads on which Swift runs tasks do not count: they are one pool for the process, the host's as much as the plugin's, and the
        check tells them by who starts them, which is libdispatch. A plugin with a copy of it linked in has a pool of its own, and that
        counts.
        """#,
      reason: #"""
        A signal goes to any thread that does not block it; a thread that outlives its instance works on freed memory.
        """#,
      example: "pthread_create(&thread, NULL, work, instance);  pthread_detach(thread);",
      remedy: #"""
        Block all signals around pthread_create(), name the thread, tell it to end in destroy(), and join it there.
        """#),
    .interceptor { trial in
      CLaboratory_watchPool()
      let before = ThreadList.now
      let instance = try trial.instance()
      for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
      let own = ThreadList.now.filter { thread in
        !before.contains { $0.number == thread.number } && !thread.isOfTheLaboratory && !thread.isOfThePool
      }
      if own.count > 16 { trial.notes.warn("it starts \(own.count) threads", at: trial.interceptor.id) }
      let program = before.first?.name ?? ""
      for thread in own {
        if thread.name == program { trial.notes.warn("a thread of it has no name of its own", at: trial.interceptor.id) }
        if !thread.blocksSignals {
          trial.notes.warn("its thread \(thread.name) does not block signals", at: trial.interceptor.id)
        }
      }
      instance.destroy()
      let left = ThreadList.now.filter { thread in own.contains { $0.number == thread.number } }
      for thread in left { trial.notes.warn("its thread \(thread.name) goes on after destroy()", at: trial.interceptor.id) }
    })
}
