import { findNatsServer } from '../../devnet/binaries.js'

/** Path of the nats-server that tests run: NATS_SERVER_BIN, else one on PATH, else `.tools/nats-server`. */
export function natsServerBinary(env: NodeJS.ProcessEnv = process.env): string {
  return findNatsServer({ natsServerBin: env.NATS_SERVER_BIN, path: env.PATH })
}
