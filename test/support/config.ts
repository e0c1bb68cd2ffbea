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

/** The day of the calendar test: TEST_DAY in ISO 8601, else a leap day. Throws RangeError for what is not a time. */
export function testDay({ TEST_DAY }: NodeJS.ProcessEnv = process.env): Date {
  const day = new Date(TEST_DAY ?? '2028-02-29T10:00:00Z')
  if (Number.isNaN(day.getTime())) throw new RangeError(`TEST_DAY is not a time: ${TEST_DAY}`)
  return day
}
