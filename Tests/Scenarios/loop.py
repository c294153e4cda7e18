"""Threads that act beside a scenario."""

import http.client
import threading


class Loop(threading.Thread):
    """Does something until it is ended, and keeps what went wrong."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over, self.problems = threading.Event(), []

    def run(self):
        try:
            while not self.over.is_set() and len(self.problems) < 10:
                self.turn()
        except Exception as error:
            self.problems.append(f"{type(self).__name__} ended: {error!r}")

    def turn(self):
        raise NotImplementedError

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


class Client(Loop):
    """Sends requests one after another over a connection that stays open."""

    def __init__(self, port, timeout=30):
        super().__init__()
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def ask(self, body=None, method="POST", target="/graphql", **headers):
        """The status, the headers and the text of a response. If there is none, that is a problem, and the result is None."""
        if body:
            headers["Content-Type"] = "application/json"
        try:
            self.connection.request(method, target, body, headers)
            response = self.connection.getresponse()
            return response.status, response.headers, response.read().decode()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.connection.close()
            if not self.over.is_set():
                self.problems.append(f"a request has no response: {error!r}")
            return None
