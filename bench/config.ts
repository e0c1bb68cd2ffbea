import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Path of the nats-server to measure with: NATS_SERVER_BIN, else the one that `./venue up` fetched. */
export function natsServerBinary(env: NodeJS.ProcessEnv = process.env): string {
  const { NATS_SERVER_BIN: chosen } = env
  return chosen ?? fileURLToPath(new URL('../../.tools/nats-server', import.meta.url))
}

/** Path of the anvil to measure with: ANVIL_BIN, else the one that is installed. */
export function anvilBinary(env: NodeJS.ProcessEnv = process.env): string {
  const { ANVIL_BIN: chosen } = env
  return chosen ?? createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil')
}

/** The environment of a bench's venue: the process's own without the settings of a venue that the caller runs. */
export function inheritedEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = env
  return { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }) }
}

/** Folder of the profiles of a profiled venue; undefined in any other. */
export function profileDirectory(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { PROFILE_DIR: dir } = env
  return dir
}

/** Folder of the coverage of a venue whose orders are followed; undefined in any other. */
export function coverageDirectory(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { COVERAGE_DIR: dir } = env
  return dir
}
