import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { natsServerBinary } from '../../support/config.js'

/** A nats-server on a disk on which each sync takes longer. */
export interface SlowServer {
  /** NATS_SERVER_BIN. */
  readonly binary: string
  /** How many syncs were delayed so far, of all that ran. */
  delayed(): number
}

/** Writes a program into the directory that runs the server under strace, which delays its syncs and lists them. */
export function slowServer(dir: string, delayMs: number): SlowServer {
  const binary = join(dir, 'slow-nats-server')
  const delayed = `inject=fsync,fdatasync:delay_exit=${delayMs * 1_000}`
  // The tracer is in a session of its own: the process id, and the signals that are sent to it, are the server's.
  writeFileSync(
    binary,
    `#!/bin/sh
exec strace -DDD -f --seccomp-bpf -qq -e trace=fsync,fdatasync -e ${delayed} -o ${dir}/syncs.$$ ${natsServerBinary()} "$@"
`,
    { mode: 0o755 },
  )
  return {
    binary,
    delayed: () =>
      readdirSync(dir)
        .filter((name) => name.startsWith('syncs.'))
        .flatMap((name) => readFileSync(join(dir, name), 'utf8').match(/\(DELAYED\)$/gm) ?? [])
        .length,
  }
}
