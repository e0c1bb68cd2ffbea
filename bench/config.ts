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
