extension Check {
  static let lc08 = Check(
    "LC08", level: 3, "leaves a call alone once it is released",
    page: Page(
      rule: """
        A stage that ever set its state to anything but NULL has a release(), which frees that state; after it nothing of the call is
        used: no handle, no token, no view.
        """,
      reason: """
        After release() the host gives the memory of the call to the next one. A handle is then stale, which the host notices; a view is
        somebody else's bytes, which nobody notices.
        """,
      example: """
        static void release(void *inst, void *state) {
          entry *e = state;
          host->log(self, CRB_LOG_INFO, e->call, text("done"));   /* fine: log takes 0 or a live call; e->call is neither */
          host->header_get(e->call, text("X-Id"), &e->id);        /* the call is over */
          free(e);
        }
        """,
      remedy: "Do in on_end, on_error and on_cancel what needs the call; in release() free, and nothing else."),
    .interceptor { trial in
      try trial.exercise()
    })
}
