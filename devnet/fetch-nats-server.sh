#!/bin/sh
# Fetches Debian's own nats-server package into .tools/ (nothing is installed into the system).
#
# apt verifies the package as usual: a signed Release file with hashes. The archive's address is the
# one that this machine's apt already uses; only the suite differs, because Debian 12's nats-server
# (2.9) has no sync_interval and therefore no durable writes. apt's lists for that suite are kept in a
# directory of their own, so that the system's lists do not change.
#
# usage: devnet/fetch-nats-server.sh [target-file]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$root/.tools/nats-server}
suites='sid trixie'

fail() {
  printf 'fetch-nats-server: %s\n' "$1" >&2
  exit 1
}

for tool in apt-get dpkg dpkg-deb; do
  command -v "$tool" >/dev/null 2>&1 ||
    fail "$tool not found: install nats-server (2.10.27 or newer) yourself and set NATS_SERVER_BIN"
done

mkdir -p "$(dirname "$target")"
work=$(mktemp -d "$(dirname "$target")/nats-fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The archives of the running release, leaving out its security, updates and backports suites.
archives=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 2>/dev/null |
  awk '$3 == "main" && $4 == "Debian" && $2 !~ /(security|updates|backports)/ && !seen[$1]++ { print $1 }')
if [ -z "$archives" ]; then
  # Before the first "apt-get update" apt has the addresses but not yet the origin of each archive.
  archives=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null |
    awk '$3 == "main" && $2 !~ /(security|updates|backports)/ && !seen[$1]++ { print $1 }')
fi
[ -n "$archives" ] ||
  fail 'apt knows no Debian archive here: install nats-server (2.10.27 or newer) and set NATS_SERVER_BIN'

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
options="arch=$(dpkg --print-architecture) target=Packages"
if [ -r "$keyring" ]; then options="$options signed-by=$keyring"; fi

apt_own() {
  apt-get -q \
    -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o APT::Sandbox::User="$(id -un)" -o APT::Update::Post-Invoke::= \
    -o Acquire::Languages=none -o Acquire::PDiffs=false -o Acquire::Retries=2 "$@"
}

# Runs a candidate with the setting that the venue requires; -t checks the file and exits.
accepts_durable_settings() {
  cat >"$work/check.conf" <<CONF
listen: "127.0.0.1:-1"
jetstream { store_dir: "$work/store", sync_interval: always }
CONF
  "$1" -t -c "$work/check.conf" >"$work/check.log" 2>&1
}

fetch_from() { # archive suite
  rm -rf "$work/lists" "$work/cache" "$work/unpacked" "$work"/*.deb
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/unpacked"
  printf 'deb [%s] %s %s main\n' "$options" "$1" "$2" >"$work/sources.list"
  apt_own update >"$work/apt.log" 2>&1 || return 1
  (cd "$work" && apt_own download nats-server >>"$work/apt.log" 2>&1) || return 1
  dpkg-deb -x "$work"/nats-server_*.deb "$work/unpacked" || return 1
  binary=$(find "$work/unpacked" -type f -name nats-server -path '*bin*' | head -n 1)
  [ -n "$binary" ] || return 1
  chmod 755 "$binary"
  accepts_durable_settings "$binary"
}

for suite in $suites; do
  for archive in $archives; do
    if fetch_from "$archive" "$suite"; then
      mv -f "$binary" "$target"
      printf 'fetched %s from Debian %s\n' "$("$target" --version)" "$suite"
      exit 0
    fi
    printf 'fetch-nats-server: nothing usable in %s\n' "$suite" >&2
    tail -n 3 "$work/apt.log" "$work/check.log" >&2 2>/dev/null || :
  done
done
fail 'found no nats-server that accepts sync_interval: always; install 2.10.27 or newer and set NATS_SERVER_BIN'
