# One image for every process of the venue: docker build -t venue:0.3.0 .
# A container runs one process (docs/operating/compose.yaml).

# Debian by digest, and its packages as they were on the same day. Another archive: --build-arg DEBIAN_ARCHIVE=http://deb.debian.org/debian
FROM debian:trixie-20261005-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f AS base
ARG DEBIAN_ARCHIVE=http://snapshot.debian.org/archive/debian/20261005T000000Z
RUN rm -f /etc/apt/sources.list.d/* && echo "deb [check-valid-until=no] $DEBIAN_ARCHIVE trixie main" >/etc/apt/sources.list
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates nats-server nodejs && rm -rf /var/lib/apt/lists/*

FROM base AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ libnode-dev make npm python3 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/venue
COPY . .
# The same steps as of ./venue up on a machine: packages by package-lock.json, better-sqlite3 compiled, everything built.
RUN root=$PWD command=image && . devnet/setup.sh
# Of packages that may use a compiler of TypeScript, npm keeps it.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf .cache dist/test test node_modules/typescript node_modules/@typescript && mkdir .tools && ln -s "$(command -v nats-server)" .tools/nats-server

FROM base AS venue
LABEL org.opencontainers.image.title="venue" org.opencontainers.image.version="0.3.0" org.opencontainers.image.licenses="Apache-2.0"
COPY docs/operating/sysusers.conf /usr/lib/sysusers.d/venue.conf
# What systemd-sysusers does with that list on a machine with systemd.
RUN awk '$1 == "g" { print $2 ":x:" $3 ":" }' /usr/lib/sysusers.d/venue.conf >>/etc/group && awk '$1 == "u" { print $2 ":x:" $3 ":" $3 "::/nonexistent:/usr/sbin/nologin" }' /usr/lib/sysusers.d/venue.conf >>/etc/passwd
# npm leaves some files to the users of those who packed them.
COPY --from=build --chown=0:0 /opt/venue /opt/venue
WORKDIR /opt/venue
ENV NODE_ENV=production
# The gateway's; each container names its own.
USER 951:951
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["docs/operating/container/healthy.sh"]
ENTRYPOINT ["docs/operating/container/run.sh"]
CMD ["gateway"]
