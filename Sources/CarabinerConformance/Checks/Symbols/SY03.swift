extension Check {
  static let sy03 = Check(
    "SY03", level: 3, "needs no thread memory that was laid out before it came",
    page: Page(
      rule: "The flag DF_STATIC_TLS is not set: thread-local variables are reached by the general model.",
      reason: """
        A process keeps a few hundred bytes of static thread memory for libraries that come later. Whoever needs them takes them from
        all others, and when they are used up, the next dlopen fails: after some reloads, or on another machine.
        """,
      example: "cc -ftls-model=initial-exec -shared -fPIC -o plugin.so plugin.c",
      remedy: """
        Compile with -fPIC and leave the model to the compiler. If a static library brings it in, build that library with -fPIC too;
        where speed was the reason, keep what is needed in the instance or in the state of the call.
        """),
    .file { trial in
      if try trial.object().needsStaticThreadMemory {
        trial.notes.fail(
          "it needs static thread memory (DF_STATIC_TLS); compile everything in it with -fPIC and the default TLS model")
      }
    })
}
