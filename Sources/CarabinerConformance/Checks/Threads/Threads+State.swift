internal import CLaboratory
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let ownThreads = Check(
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

extension Check {
  static let changedProcess = Check(
    "TH09", level: 5, "leaves the process and the host's threads as they were",
    page: Page(
      rule: #"""
        After create(), every hook, every call and destroy() the process and the thread are as they were before: locale, floating-point mode
        (rounding, denormal numbers), signal mask, actions of signals and the alternate signal stack; working directory, umask, resource
        limits, environment, timers; user, capabilities and seccomp filters; name, priority and processors of the thread; and the rights of
        pages: no code becomes writable, no data executable.

        srand() and its like, setitimer(), alarm(), and functions that set the priority or the processors of the host's thread are not called
        on a thread of the host at all. Environment and signals are let pass if the note declares the function: "capabilities":["setenv"].
        """#,
      reason: #"""
        They belong to the whole process: a comma for a decimal point, a relative path that leads elsewhere, a signal that no longer comes.
        setenv() moves the environment while other threads read it, and they crash. A hook that lowers the priority of its thread, or gives it
        its own alternate stack, does that to all requests the thread serves. No code can undo a seccomp filter.
        """#,
      example: #"""
        setlocale(LC_ALL, "");  setenv("TZ", "UTC", 1);  nice(10);
        cc -ffast-math …        /* flushes denormal numbers to zero for all of the thread that loads it */
        """#,
      remedy: #"""
        Use functions that take what they need (strtod_l, openat, uselocale for this thread and back). Give a thread of your own the priority
        it should have. Read settings from the configuration, and random numbers from getrandom() or random_r().
        """#),
    timeLimit: .seconds(120),
    .interceptor { trial in
      // With its first thread libc takes a signal.
      LaboratoryThread {}.join()
      let declared = trial.options.capabilities
      if let code = unsafe trial.stages.first?.code { _ = unsafe CLaboratory_watchChanges(code) }
      let before = ProcessSnapshot.now
      // What has changed once stays so: it is reported where it was seen first.
      let known = Mutex<Set<String>>([])
      @Sendable func look(_ place: String) {
        var found = ProcessSnapshot.now.differences(from: before, declared: declared)
        while let name = unsafe CLaboratory_takeChange() {
          let name = unsafe String(cString: name)
          if !declared.contains(name) { found.append("it calls \(name)() on a thread of the host") }
        }
        for change in found where known.withLock({ $0.insert(change).inserted }) { trial.notes.fail(change, at: place) }
      }
      let instance = try trial.instance()
      look("\(trial.interceptor.id) create")
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        var manner = Traveller.Manner()
        manner.aroundHooks = { isBefore, hook in if !isBefore { look("\(place).\(hook.name)") } }
        for exchange in Exchange.usual {
          _ = trial.travel([exchange], stage, instance, manner)
          look("\(place), after \(exchange.name)")
        }
      }
      instance.destroy()
      look("\(trial.interceptor.id) destroy")
    })
}
