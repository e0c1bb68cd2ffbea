import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LauncherError } from './wait-for.js'

/** Oldest server that supports `sync_interval: always` and is still maintained. */
const OLDEST_NATS_SERVER = [2, 10, 27] as const

export interface BinaryPlaces {
  /** NATS_SERVER_BIN: a program chosen by the operator, used without a check. */
  readonly natsServerBin?: string | undefined
  /** PATH. */
  readonly path?: string | undefined
}

/** Path of the nats-server to use: the operator's, else a recent one on PATH, else the one fetched by the set-up. */
export function findNatsServer({ natsServerBin, path = '' }: BinaryPlaces): string {
  if (natsServerBin !== undefined && natsServerBin !== '') return natsServerBin
  const onPath = path
    .split(delimiter)
    .map((folder) => join(folder, 'nats-server'))
    .find((file) => isExecutable(file) && isRecent(file))
  const fetched = inProject('.tools/nats-server')
  const found = onPath ?? (isExecutable(fetched) ? fetched : undefined)
  if (found === undefined)
    throw new LauncherError(
      'no nats-server 2.10.27 or newer found: run ./venue up, or set NATS_SERVER_BIN or NATS_URL',
    )
  return found
}

/** Path of the local chain's program, from the package that npm installed. */
export function findAnvil(): string {
  try {
    return createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil')
  } catch (error) {
    throw new LauncherError('anvil is not installed: run ./venue up on Linux x64', { cause: error })
  }
}

/** Whether `nats-server --version` printed a supported version. */
export function isRecentVersion(printed: string): boolean {
  const version = /v?(\d+)\.(\d+)\.(\d+)/.exec(printed)?.slice(1).map(BigInt)
  if (version === undefined) return false
  for (const [index, oldest] of OLDEST_NATS_SERVER.entries()) {
    const part = version[index] ?? 0n
    if (part !== BigInt(oldest)) return part > BigInt(oldest)
  }
  return true
}

function isRecent(file: string): boolean {
  try {
    return isRecentVersion(execFileSync(file, ['--version'], { encoding: 'utf8' }))
  } catch {
    return false
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Absolute path of a file of the source tree, given relative to the project's root; call from compiled code only. */
export function inProject(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url))
}
