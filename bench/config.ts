import { fileURLToPath } from 'node:url'

/** Path of the nats-server to measure with: NATS_SERVER_BIN, else the one that `./venue up` fetched. */
export function natsServerBinary(env: NodeJS.ProcessEnv = process.env): string {
  const { NATS_SERVER_BIN: chosen } = env
  return chosen ?? fileURLToPath(new URL('../../.tools/nats-server', import.meta.url))
}
