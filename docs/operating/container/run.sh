#!/bin/sh
# The first program of a container: runs one process of the venue, by its name in the Procfile. SIGTERM stops it in order.
#
# Exit code 78 says that only an operator can change the cause, which the last line of the log names. Docker would start the
# container again, whatever its restart policy but "no": so the container stays, unhealthy and without a process, until it is
# stopped or restarted. With any other code it ends, and is started again.
set -u
: "${1:?names a process of the Procfile}"

# A signal that reaches a forked shell before it has begun is lost: it looks for this file when it begins.
told=${TMPDIR:-/tmp}/venue-stopping
child=
stopping=
interrupted=
stop() {
  stopping=1
  interrupted=1
  # Not by ":", after which a shell ends where it cannot write.
  printf '' 2>/dev/null >"$told"
  [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap stop TERM INT
rm -f "$told"
[ -z "$stopping" ] || exit 143

# For the health check.
printf '%s' "$1" >"${TMPDIR:-/tmp}/venue-process"

{
  [ ! -e "$told" ] || exit 143
  exec ./venue run "$1"
} &
child=$!
# The signal may have come before the number of the process was known.
[ -z "$stopping" ] || stop
code=0
wait "$child" || code=$?
# A wait that a signal ends says nothing of the process, whose end the next one finds; 127 says that the last one has found it.
while [ -n "$interrupted" ]; do
  interrupted=
  again=0
  wait "$child" || again=$?
  [ "$again" = 127 ] || code=$again
done
[ "$code" = 78 ] && [ -z "$stopping" ] || exit "$code"

printf 'venue: %s does not start again by itself: see the last line of its log, and restart the container\n' "$1" >&2
while [ -z "$stopping" ]; do
  sleep 1 &
  child=$!
  wait "$child"
done
exit 78
