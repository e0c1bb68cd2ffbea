#!/bin/sh
# Runs a program with the root of an image, as the first process of namespaces of mounts and of processes, which end with it:
#   unshare --mount --pid --fork --kill-child enter.sh ROOT PROGRAM ARGUMENT...
# The program's own changes go into ROOT; with LAYER, an empty directory, into memory over it, as those of a container.
#   READ_ONLY=1   nothing may be written but where TMPFS and BINDS say
#   TMPFS         directories in memory, one a line
#   BINDS         files and directories of the machine, one a line: FROM:TO or FROM:TO:ro
#   CERTIFICATES  a file of the machine that the program finds as /dev/certificates.pem
set -eu

root=$1
shift

if [ -n "${LAYER:-}" ]; then
  mount -t tmpfs tmpfs "$LAYER"
  mkdir "$LAYER/upper" "$LAYER/work" "$LAYER/root"
  mount -t overlay -o "lowerdir=$root,upperdir=$LAYER/upper,workdir=$LAYER/work" overlay "$LAYER/root"
  root=$LAYER/root
else
  mount --bind "$root" "$root"
fi

# point FROM TO: what a bind mount of FROM can be mounted on.
point() {
  if [ -d "$1" ]; then mkdir -p "$2"; else
    mkdir -p "$(dirname "$2")"
    [ -e "$2" ] || : >"$2"
  fi
}

# What each container has of the machine: processes of its own, some devices, the way to names.
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for each in null zero full random urandom tty; do
  : >"$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
mkdir -m 1777 "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
for each in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${each%:*}" "$root/dev/${each#*:}"; done
[ -z "${CERTIFICATES:-}" ] || cp "$CERTIFICATES" "$root/dev/certificates.pem"
for each in /etc/resolv.conf /etc/hosts; do
  point "$each" "$root$each"
  mount --bind -o ro "$each" "$root$each"
done

printf '%s' "${TMPFS:-}" | while IFS= read -r each || [ -n "$each" ]; do
  mkdir -p "$root$each"
  mount -t tmpfs -o mode=1777,nosuid,nodev,noexec tmpfs "$root$each"
done
printf '%s' "${BINDS:-}" | while IFS=: read -r from to mode || [ -n "$from" ]; do
  point "$from" "$root$to"
  mount --bind "$from" "$root$to"
  [ "$mode" != ro ] || mount -o remount,bind,ro "$root$to"
done
[ -z "${READ_ONLY:-}" ] || mount -o remount,bind,ro "$root"

# As the init of a container does: passes signals on, and ends as the program does.
chroot "$root" "$@" &
child=$!
interrupted=
for signal in TERM USR2; do
  # shellcheck disable=SC2064
  trap "interrupted=1; kill -$signal $child 2>/dev/null" "$signal"
done
code=0
wait "$child" || code=$?
# A wait that a signal ends says nothing of the program, whose end the next one finds; 127 says that the last one has found it.
while [ -n "$interrupted" ]; do
  interrupted=
  again=0
  wait "$child" || again=$?
  [ "$again" = 127 ] || code=$again
done
exit "$code"
