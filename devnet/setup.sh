# Installs what this machine lacks; sourced by ./venue with the project's root as directory.
# Every step prints its name and duration; a step with nothing to do is silent or quick.

setup_log=.cache/setup.log
setup_lock=.cache/setup.lock

fail() {
  printf 'venue: %s\n' "$1" >&2
  exit 1
}

# Not by ":": a failed redirection of a special builtin ends the shell without a message.
{ mkdir -p .cache && true >>"$setup_log" && true >>"$setup_lock"; } 2>/dev/null ||
  fail "$PWD/$setup_log cannot be written; it may belong to another user: make it writable, or remove $PWD/.cache"

. devnet/step.sh

check_machine() {
  [ "$(uname -s) $(uname -m)" = 'Linux x86_64' ] ||
    fail "this runs on Linux x64 only (here: $(uname -s) $(uname -m)): the local chain is a Linux x64 program"
  command -v node >/dev/null 2>&1 || fail 'node is not installed; Node 20.19 or newer is needed'
  command -v npm >/dev/null 2>&1 || fail 'npm is not installed; it comes with Node 20.19 or newer'
  node_version=$(node -v)
  printf '%s\n' "$node_version" | awk -F'[v.]' '{ exit !($2 > 20 || ($2 == 20 && $3 >= 19)) }' ||
    fail "Node $node_version is too old; 20.19 or newer is needed"
  printf '%s\n' "$node_version" | awk -F'[v.]' '{ exit !($2 != 21 && ($2 != 22 || $3 >= 2)) }' ||
    fail "Node $node_version lacks zlib.crc32; take Node 20.19 or 22.2"
  printf '%s\n' "$node_version" | awk -F'[v.]' '{ exit !($2 < 24) }' ||
    fail "Node $node_version aborts while better-sqlite3 12 collects its statements; take Node 20.19 or 22"
}

sqlite_loads() {
  node -e "new (require('better-sqlite3'))(':memory:').close()" >/dev/null 2>&1
}

# apt_install SUDO PACKAGE...
apt_install() {
  as_root=$1
  shift
  export DEBIAN_FRONTEND=noninteractive
  $as_root apt-get update && $as_root apt-get install -y --no-install-recommends "$@"
}

# need_packages WHY PACKAGE...: installs packages of Debian as root, or by a sudo that asks for no password.
need_packages() {
  why=$1
  shift
  command -v apt-get >/dev/null 2>&1 || fail "$why; please install: $*"
  if [ "$(id -u)" -eq 0 ]; then
    step "install $* with apt" apt_install '' "$@"
  elif sudo -n true 2>/dev/null; then
    step "install $* with apt (sudo)" apt_install 'sudo -n' "$@"
  else
    fail "$why (missing: $*). As root, run:
  apt-get update && apt-get install -y --no-install-recommends $*"
  fi || fail "apt did not install $*; its last lines are above"
}

# better-sqlite3 is compiled on the machine; only this package needs a compiler.
ensure_build_tools() {
  missing=''
  for tool in python3 make g++; do
    command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
  done
  # Each is named as its package.
  # shellcheck disable=SC2086
  [ -z "$missing" ] || need_packages 'a compiler is needed' $missing
}

# The tests of the terminal run in a browser.
ensure_browser() {
  has_browser && return 0
  lock_setup
  has_browser || need_packages 'the tests need a browser' chromium
  unlock_setup
}

# One of the examples is written in Python. Packages of Debian are those of its own python3, whichever comes first in PATH.
ensure_python() {
  has_python && return 0
  lock_setup
  has_python || need_packages 'the tests run an example in Python' \
    python3 python3-pycryptodome python3-ecdsa python3-websockets
  unlock_setup
}

# The disk of the bus is made slow by a tracer.
ensure_strace() {
  has_strace && return 0
  lock_setup
  has_strace || need_packages 'the tests delay the syncs of nats-server' strace
  unlock_setup
}

has_strace() { command -v strace >/dev/null 2>&1; }

has_python() { /usr/bin/python3 -c 'import Cryptodome, ecdsa, websockets' >/dev/null 2>&1; }

has_browser() { [ -x /usr/bin/chromium ] || [ -x /usr/bin/chromium-browser ]; }

# The tests evaluate and fire the alert rules with Prometheus. Its package is unpacked, not installed: no service is started.
prometheus_dir=.tools/prometheus

ensure_prometheus() {
  has_prometheus && return 0
  lock_setup
  has_prometheus || step 'fetch prometheus with apt' unpack_prometheus ||
    fail "the tests need prometheus and promtool, and apt did not fetch them; as root, run:
  apt-get update && apt-get install -y --no-install-recommends prometheus"
  unlock_setup
}

has_prometheus() {
  [ -x "$prometheus_dir/usr/bin/promtool" ] ||
    { command -v prometheus >/dev/null 2>&1 && command -v promtool >/dev/null 2>&1; }
}

unpack_prometheus() {
  fetched=$(mktemp -d)
  unpacked=$(mktemp -d .tools/prometheus.XXXXXX)
  # Without the rights to update them, the lists that are there must do.
  if [ "$(id -u)" -eq 0 ]; then apt-get update; elif sudo -n true 2>/dev/null; then sudo -n apt-get update; fi
  (cd "$fetched" && apt-get download prometheus) && dpkg-deb -x "$fetched"/prometheus_*.deb "$unpacked" &&
    rm -rf "$prometheus_dir" && mv "$unpacked" "$prometheus_dir"
  status=$?
  rm -rf "$fetched" "$unpacked"
  return "$status"
}

# The settings that the build relies on are spelt out: a user's own npm configuration may differ. No package runs a
# script of its own but the one that has to be compiled.
run_npm_ci() {
  npm ci --include=dev --include=optional --ignore-scripts=true --global=false \
    --no-audit --no-fund --no-update-notifier &&
    npm rebuild better-sqlite3 --ignore-scripts=false --foreground-scripts --no-update-notifier
}

ensure_packages() {
  stamp=$(printf '%s %s' "$(sha256sum <package-lock.json)" "$node_version")
  if [ -L node_modules ]; then
    # A node_modules that belongs to another checkout is used as it is and never changed.
    sqlite_loads || fail 'node_modules is a link to a tree in which better-sqlite3 does not load'
    return 0
  fi
  if [ "$(cat node_modules/.venue-stamp 2>/dev/null)" = "$stamp" ] && sqlite_loads; then return 0; fi
  ensure_build_tools
  node_prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  if [ -e "$node_prefix/include/node/node.h" ]; then
    # Headers that came with node spare node-gyp a download.
    export npm_config_nodedir="$node_prefix"
  fi
  # Prevents its installer from looking for a prebuilt binary on the network first.
  export npm_config_build_from_source=better-sqlite3
  step 'install packages (npm ci; better-sqlite3 is compiled, about a minute)' run_npm_ci ||
    fail 'npm ci failed; its last lines are above'
  sqlite_loads || fail 'better-sqlite3 was installed but does not load'
  printf '%s' "$stamp" >node_modules/.venue-stamp
}

# Deletes compiled files whose source was deleted: mocha would still run them.
remove_stale_output() {
  [ -d dist ] || return 0
  find dist -name '*.js' | while IFS= read -r compiled; do
    source=${compiled#dist/}
    [ -e "${source%.js}.ts" ] || rm -f "$compiled" "$compiled.map"
  done
}

# What a build reads. A deleted file shows by the time of its folder.
sources='interface runtime core bus-schemas chain data actors api-gateway executor client devnet bench examples test web
  package-lock.json tsconfig.json'

is_built() {
  # shellcheck disable=SC2086
  [ -e dist/.built ] && [ -e bundle/.made ] && [ -z "$(find $sources -newer dist/.built -print -quit)" ]
}

# Leaves the time at which it began, so that what changes meanwhile is built by the next one.
build() {
  mkdir -p dist
  : >dist/.build-begun
  compile && mv dist/.build-begun dist/.built
}

compile() {
  remove_stale_output
  node node_modules/typescript-7/bin/tsc -b && node node_modules/typescript-7/bin/tsc -p web || return 1
  node dist/devnet/build-page.js || return 1
  node dist/devnet/build-programs.js || return 1
  node dist/devnet/build-contracts.js
}

recent_nats_server() {
  version=$("$1" --version 2>/dev/null) || return 1
  printf '%s\n' "$version" | awk -F'[v.]' '{
    for (first = 1; first <= NF && $first !~ /^[0-9]+$/; first++) ;
    major = $first; minor = $(first + 1); patch = $(first + 2) + 0
    exit !(major > 2 || (major == 2 && (minor > 10 || (minor == 10 && patch >= 27))))
  }'
}

ensure_nats_server() {
  if [ -n "${NATS_SERVER_BIN:-}" ]; then
    recent_nats_server "$NATS_SERVER_BIN" ||
      fail "NATS_SERVER_BIN=$NATS_SERVER_BIN is not a nats-server 2.10.27 or newer"
    return 0
  fi
  for found in "$(command -v nats-server || :)" .tools/nats-server; do
    if [ -n "$found" ] && recent_nats_server "$found"; then return 0; fi
  done
  [ "$command" = up ] && [ -n "${NATS_URL:-}" ] && return 0
  step 'fetch nats-server from Debian' devnet/fetch-nats-server.sh || fail 'no nats-server, see above'
}

# One setup of a tree at a time. A command of a step holds the lock with this shell, so that one that outlives the shell
# still keeps the next setup away.
lock_setup() {
  exec 9>>"$setup_lock"
  flock --nonblock 9 && return
  printf 'venue: another setup runs in %s: waiting for its end\n' "$PWD" >&2
  flock 9 || fail "$PWD/$setup_lock cannot be locked"
}

# What runs after the setup has nothing of the lock.
unlock_setup() {
  flock --unlock 9
  exec 9>&-
}

check_programs() {
  anvil=node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil
  "$anvil" --version >/dev/null 2>&1 || fail "the local chain does not run: $anvil --version fails"
}

check_machine
lock_setup
setup_begun=$(now_ms)
printf 'set up (Node %s)\n' "$node_version"
ensure_packages
is_built || step 'compile' build || fail 'the build failed; its last lines are above'
ensure_nats_server
check_programs
unlock_setup
printf '  all set up: %s ms\n' "$(($(now_ms) - setup_begun))"
