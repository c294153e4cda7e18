-- Posts the query of the environment, and writes what came of it as a last line of JSON. A file of further requests, each followed by a
-- zero byte, is sent in turns instead.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = os.getenv("QUERY")

if os.getenv("REQUESTS") then
  local requests, next = {}, 0
  for text in io.open(os.getenv("REQUESTS"), "rb"):read("*a"):gmatch("(%Z+)%z") do requests[#requests + 1] = text end

  function request()
    next = next % #requests + 1
    return requests[next]
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"seconds":%.3f,"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,'
      .. '"p50":%.3f,"p99":%.3f,"most":%.3f}\n',
    summary.requests, summary.bytes, summary.duration / 1e6, errors.status, errors.connect, errors.read, errors.write,
    errors.timeout, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
