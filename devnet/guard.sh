#!/bin/sh
# Ends the launcher's processes when the launcher itself has ended, for any reason.
#
# The launcher writes "add PID" and "drop PID" lines to standard input; each PID leads a process group.
# The input ends with the launcher: then every group still listed gets SIGTERM, and after a few seconds
# SIGKILL. An orderly shutdown drops every group first.
grace_tenths=40

trap '' HUP INT TERM PIPE
pids=''
while read -r word pid; do
  case $word in
    add) pids="$pids $pid" ;;
    drop)
      kept=''
      for other in $pids; do
        [ "$other" = "$pid" ] || kept="$kept $other"
      done
      pids=$kept
      ;;
  esac
done

alive() {
  for pid in $pids; do
    kill -0 "-$pid" 2>/dev/null && return 0
  done
  return 1
}

for pid in $pids; do kill -TERM "-$pid" 2>/dev/null; done
tenths=0
while [ "$tenths" -lt "$grace_tenths" ] && alive; do
  sleep 0.1
  tenths=$((tenths + 1))
done
for pid in $pids; do kill -KILL "-$pid" 2>/dev/null; done
exit 0
