import { findNatsServer } from '../../devnet/launcher/binaries.js'

/** Path of the nats-server that tests run: NATS_SERVER_BIN, else one on PATH, else `.tools/nats-server`. */
export function natsServerBinary(env: NodeJS.ProcessEnv = process.env): string {
  return findNatsServer({ natsServerBin: env.NATS_SERVER_BIN, path: env.PATH })
}

/** What `test/devnet/fake-worker.ts` reads. */
export function fakeWorkerConfig(env: NodeJS.ProcessEnv = process.env) {
  const { DATA_DIR: dataDir = '.', GATEWAY_PORT: port = '0' } = env
  return { dataDir, gatewayPort: parseInt(port, 10), environment: env }
}

/** Our environment for a program under test, without the settings of a venue that may be set around us. */
export function inheritedEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { PATH, HOME, NATS_SERVER_BIN } = env
  return { PATH, HOME, NATS_SERVER_BIN }
}
