# step WHAT COMMAND...: runs a command quietly, with its name and duration; sourced. A long one says that it goes on. On
# failure the end of what the command printed is shown. `setup_log` is a file that can be written.

step_tick_s=${step_tick_s:-10}

now_ms() { date +%s%3N; }

# say_that_it_goes_on WHAT: until it is killed, or this shell has ended. The pause, which may outlive both, holds neither an
# output of ours open nor the lock of the setup.
say_that_it_goes_on() {
  while sleep "$step_tick_s" >/dev/null 2>&1 9>&- && kill -0 $$ 2>/dev/null; do
    printf '  %s: %s s so far\n' "$1" "$((($(now_ms) - step_begun) / 1000))"
  done
}

step() {
  step_what=$1
  shift
  step_begun=$(now_ms)
  [ -t 1 ] && printf '  %s ...\r' "$step_what"
  say_that_it_goes_on "$step_what" &
  step_ticker=$!
  step_status=0
  "$@" >"$setup_log" 2>&1 || step_status=$?
  kill "$step_ticker" 2>/dev/null || :
  wait "$step_ticker" 2>/dev/null || :
  if [ "$step_status" -ne 0 ]; then
    printf '  %s: failed\n' "$step_what"
    tail -n 40 "$setup_log" >&2
    return 1
  fi
  printf '  %s: %s ms\n' "$step_what" "$(($(now_ms) - step_begun))"
}
