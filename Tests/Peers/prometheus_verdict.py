"""Reads metrics from standard input with Prometheus' own parser, and prints their content as JSON.

Beside what the parser refuses, what it lets pass and a server would not: samples outside of their family, a series that comes
twice, histograms whose buckets fall or do not end with their count, and names against the conventions.
"""

import collections
import json
import re
import sys

from prometheus_client.parser import text_string_to_metric_families

text = sys.stdin.read()
problems = []
if not text.endswith("\n"):
    problems.append("the last line has no end")

seen = set()
family = None
for line in text.splitlines():
    if line.startswith("# TYPE "):
        family, kind = line.split()[2:4]
        if family in seen:
            problems.append(f"{family} comes twice")
        seen.add(family)
        suffixes = ["_bucket", "_sum", "_count"] if kind == "histogram" else [""]
        names = {family + suffix for suffix in suffixes}
    elif not line.startswith("#"):
        name = re.match(r"[a-zA-Z_:][a-zA-Z0-9_:]*", line)
        if not name or family is None or name[0] not in names:
            problems.append(f"a sample outside of its family: {line}")

figures = {}
series = collections.Counter()
for metric in text_string_to_metric_families(text):
    name = metric.name + "_total" if metric.type == "counter" else metric.name
    if not metric.documentation:
        problems.append(f"{name} has no help")
    if metric.type == "counter" and metric.samples and not metric.samples[0].name.endswith("_total"):
        problems.append(f"the counter {metric.samples[0].name} does not end with _total")
    if re.search(r"_(milliseconds|ms|nanoseconds|kilobytes|mb)(_|$)", name):
        problems.append(f"{name} is in no base unit")
    if metric.type == "histogram" and not name.endswith("_seconds"):
        problems.append(f"the histogram {name} has no unit")
    buckets = collections.defaultdict(list)
    counts = {}
    for sample in metric.samples:
        labels = tuple(sorted(sample.labels.items()))
        series[(sample.name, labels)] += 1
        if sample.value < 0:
            problems.append(f"{sample.name} is below zero")
        if sample.name.endswith("_bucket") and metric.type == "histogram":
            rest = tuple(pair for pair in labels if pair[0] != "le")
            buckets[rest].append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_count") and metric.type == "histogram":
            counts[labels] = sample.value
        key = sample.name + "{" + ",".join(f"{label}={value}" for label, value in labels) + "}"
        figures[key] = sample.value
    for labels, found in buckets.items():
        if found != sorted(found) or [value for _, value in found] != sorted(value for _, value in found):
            problems.append(f"the buckets of {name}{labels} do not rise")
        if found[-1][0] != float("inf") or found[-1][1] != counts.get(labels):
            problems.append(f"the last bucket of {name}{labels} is not its count")
problems += [f"{name}{labels} comes {count} times" for (name, labels), count in series.items() if count > 1]
print(json.dumps({"problems": problems, "figures": figures}))
