#!/bin/sh
# Whether the process of this container answers at its own metrics, whose address it has written into METRICS_DIR.
set -eu
exec node -e '
const [named, dir] = process.argv.slice(1)
const [{ targets }] = JSON.parse(require("node:fs").readFileSync(`${dir}/${named}.json`, "utf8"))
fetch(`http://${targets[0]}/metrics`, { signal: AbortSignal.timeout(4000) }).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
)' "$(cat "${TMPDIR:-/tmp}/venue-process")" "${METRICS_DIR:?}"
